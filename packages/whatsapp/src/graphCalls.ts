import { providerErrorOf } from './errors.js';
import { knownError } from './errorTable.js';
import { openExchanges, type CloudApiOptions, type ExchangeEnd, type Exchanger } from './exchange.js';
import { elements, members, parseJson, storableText } from './json.js';

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

/** Returns a function that calls Meta's Graph API. */
export function openGraph(options: CloudApiOptions): GraphCall {
  const exchange = openExchanges(options);
  return async (token, ...request) => resultOf(await exchange(token, ...request), token);
}

const PAGE_ITEMS = 100;
const PAGES_MAX = 50;

/** Reads the items of a list, page by page, up to 5,000. */
export async function readList(
  call: GraphCall,
  token: string,
  node: string,
  query: Record<string, string>,
): Promise<{ items: Record<string, unknown>[] } | GraphFailure> {
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
  return { items };
}

function resultOf(end: ExchangeEnd, token: string): GraphResult {
  if (end.end !== 'answered')
    return { failure: end.reason, message: null, code: null, subcode: null, isTemporary: true };
  const answer = members(parseJson(end.text));
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
      (code === null ? end.status >= 500 : knownError(code)?.failureOf(code).kind === 'retry'),
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
