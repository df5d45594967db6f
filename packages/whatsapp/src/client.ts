import type { MessageStatus, Outcome } from '@onecode/domain';
import { classifyError, providerErrorOf } from './errors.js';
import { knownError, retry, unknown } from './errorTable.js';
import {
  openExchanges,
  type AnswerHeaders,
  type CloudApiOptions,
  type ExchangeEnd,
  type Exchanger,
} from './exchange.js';
import { elements, members, parseJson, storableText } from './json.js';
import { messageBody, messageIdOf, type AuthenticationMessage } from './message.js';

export { type CloudApiOptions, mayUseProxy } from './exchange.js';

/** A WhatsApp number to send from, with its decrypted access token. */
export interface CloudApiSender {
  phoneNumberId: string;
  token: string;
}

/** Why a call to Meta's Graph API failed. It never contains the token. */
export interface GraphFailure {
  /** A sentence with the error's code and the HTTP status, or the reason without a response. */
  failure: string;
  /** Meta's message for users; null without a response. */
  message: string | null;
  code: number | null;
  subcode: number | null;
  /** Whether the same call may succeed later without a change. */
  isTemporary: boolean;
}

export type GraphResult = { value: Record<string, unknown> } | GraphFailure;

/** Calls a node of the Graph API. With a body it is a POST, otherwise a GET. Never throws. */
export type GraphCall = (...request: Parameters<Exchanger>) => Promise<GraphResult>;

export interface CloudApi {
  /** Sends a code once. Never throws: every result is an `Outcome`, which contains no token, code or phone number. */
  sendCode(sender: CloudApiSender, message: AuthenticationMessage): Promise<Outcome>;
  call: GraphCall;
}

/** Creates a client for Meta's Cloud API and the rest of its Graph API. */
export function createCloudApi(options: CloudApiOptions): CloudApi {
  const exchange = openExchanges(options);
  return {
    sendCode: async ({ phoneNumberId, token }, message) =>
      outcomeOf(await exchange(token, `${phoneNumberId}/messages`, { body: messageBody(message) })),
    call: async (token, ...request) => resultOf(await exchange(token, ...request), token),
  };
}

function outcomeOf(end: ExchangeEnd): Outcome {
  if (end.end !== 'answered') {
    const fault = end.end === 'unsent' ? retry(end.reason) : unknown(end.reason);
    return { ...fault, errorCode: null };
  }
  const { status, headers, text } = end;
  const answer = members(parseJson(text));
  const { id, message_status: messageStatus } = members(elements(answer['messages'])[0]);
  const messageId = messageIdOf(id);
  if (status >= 200 && status < 300 && messageId !== null)
    return { kind: 'accepted', messageId, ...(isHeld(messageStatus) && { messageStatus }) };

  const failure = classifyError(providerErrorOf(status, answer['error']));
  return failure.kind === 'retry' ? { ...failure, retryAfterSeconds: retryAfterSeconds(headers) } : failure;
}

/** Meta accepts a message that it holds, and its receipts report the result. */
const isHeld = (status: unknown): status is MessageStatus =>
  status === 'held_for_quality_assessment' || status === 'paused';

/** Returns the wait in seconds that Meta requests; null without one, or if the header has a date. */
export function retryAfterSeconds({ 'retry-after': seconds }: AnswerHeaders): number | null {
  return typeof seconds === 'string' && /^\d+$/.test(seconds) ? Number(seconds) : null;
}

const temporaryFailure = (failure: string): GraphFailure => ({
  failure,
  message: null,
  code: null,
  subcode: null,
  isTemporary: true,
});

function resultOf(end: ExchangeEnd, token: string): GraphResult {
  if (end.end !== 'answered') return temporaryFailure(end.reason);
  const value = parseJson(end.text);
  if (end.status >= 200 && end.status < 300 && value === undefined)
    return temporaryFailure(
      `The answer (HTTP ${end.status}) is not JSON, so it is not from Meta: check the address and the proxy.`,
    );
  const answer = members(value);
  if (end.status >= 200 && end.status < 300 && answer['error'] === undefined) return { value: answer };
  const error = members(answer['error']);
  const { code, subcode, isTransient } = providerErrorOf(end.status, error);
  const numbers = [
    ...(code === null ? [] : [`error ${code}`]),
    ...(subcode === null ? [] : [`subcode ${subcode}`]),
    `HTTP ${end.status}`,
  ];
  return {
    failure: `Meta refused the call (${numbers.join(', ')}).`,
    message: messageOf(error, token),
    code,
    subcode,
    isTemporary:
      isTransient ||
      end.status === 429 ||
      (code === null ? end.status >= 500 : knownError(code)?.fault.kind === 'retry'),
  };
}

/** Returns Meta's message for users, or else its message for developers, on one line and without the token. */
function messageOf(error: Record<string, unknown>, token: string): string | null {
  const { error_user_title: title, error_user_msg: text, message, error_data: data } = error;
  const words = title || text ? [title, text] : [message, members(data)['details']];
  const known = words.filter((one) => typeof one === 'string' && one !== '');
  const line = storableText(known.join(': ').replaceAll(token, '…')).replaceAll(/\s+/g, ' ').trim();
  return line === '' ? null : line;
}

const PAGE_ITEMS = 100;
const PAGES_MAX = 50;

/** Reads the items of a list, page by page, up to 5,000. */
export async function readList(
  call: GraphCall,
  token: string,
  node: string,
  query: Record<string, string>,
): Promise<{ value: Record<string, unknown>[] } | GraphFailure> {
  const items: Record<string, unknown>[] = [];
  let after: string | null = null;
  for (let page = 0; page < PAGES_MAX; page++) {
    const result: GraphResult = await call(token, node, {
      query: { ...query, limit: String(PAGE_ITEMS), ...(after !== null && { after }) },
    });
    if ('failure' in result) return result;
    items.push(...elements(result.value['data']).map(members));
    const { cursors, next } = members(result.value['paging']);
    const cursor = members(cursors)['after'];
    if (typeof next !== 'string' || typeof cursor !== 'string') break;
    after = cursor;
  }
  return { value: items };
}
