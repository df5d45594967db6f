import type { MessageStatus, Outcome } from '@onecode/domain';
import { classifyError, providerErrorOf } from './errors.js';
import { retry, unknown } from './errorTable.js';
import { type AnswerHeaders, type CloudApiOptions, type ExchangeEnd, openExchanges } from './exchange.js';
import { elements, members, parseJson } from './json.js';
import { messageIdOf } from './messageId.js';
import { type AuthenticationMessage, messageBody } from './message.js';

export { type CloudApiOptions, mayUseProxy } from './exchange.js';

/** A WhatsApp number to send from, with its decrypted access token. */
export interface CloudApiSender {
  phoneNumberId: string;
  token: string;
}

export interface CloudApi {
  /** Sends a code once. Never throws: every result is an `Outcome`, which contains no token, code or phone number. */
  sendCode(sender: CloudApiSender, message: AuthenticationMessage): Promise<Outcome>;
}

/** Creates a client for Meta's Cloud API. */
export function createCloudApi(options: CloudApiOptions): CloudApi {
  const exchange = openExchanges(options);
  return {
    sendCode: async ({ phoneNumberId, token }, message) =>
      outcomeOf(await exchange(token, `${phoneNumberId}/messages`, { body: messageBody(message) })),
  };
}

function outcomeOf(end: ExchangeEnd): Outcome {
  switch (end.end) {
    case 'unsent':
      return retry(end.reason)(null);
    case 'lost':
      return unknown(end.reason)(null);
    case 'answered':
      return outcomeOfAnswer(end);
  }
}

function outcomeOfAnswer({ status, headers, text }: ExchangeEnd & { end: 'answered' }): Outcome {
  const answer = members(parseJson(text));
  const messageId = messageIdOf(members(elements(answer['messages'])[0])['id']);
  if (status >= 200 && status < 300 && messageId !== null) {
    const messageStatus = members(elements(answer['messages'])[0])['message_status'];
    // Meta accepted the message although it holds it, and receipts report its result.
    return isHeld(messageStatus)
      ? { kind: 'accepted', messageId, messageStatus }
      : { kind: 'accepted', messageId };
  }

  const failure = classifyError(providerErrorOf(status, answer['error']));
  return failure.kind === 'retry' ? { ...failure, retryAfterSeconds: retryAfterSeconds(headers) } : failure;
}

const isHeld = (status: unknown): status is MessageStatus =>
  status === 'held_for_quality_assessment' || status === 'paused';

/**
 * Returns the wait in seconds that Meta requests, or null without one. The source is `Retry-After` or, if that is missing, Meta's
 * `X-Business-Use-Case-Usage`, which has minutes.
 */
export function retryAfterSeconds(headers: AnswerHeaders): number | null {
  const { 'retry-after': seconds, 'x-business-use-case-usage': usage } = headers;
  if (typeof seconds === 'string' && /^\d+$/.test(seconds)) return Number(seconds);
  const minutes = Object.values(members(parseJson(typeof usage === 'string' ? usage : '')))
    .flatMap(elements)
    .map((limit) => members(limit)['estimated_time_to_regain_access'])
    .filter((wait) => typeof wait === 'number' && wait > 0) as number[];
  return minutes.length === 0 ? null : Math.max(...minutes) * 60;
}
