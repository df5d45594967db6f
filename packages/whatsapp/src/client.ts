import type { MessageStatus, Outcome } from '@onecode/domain';
import { classifyError, providerErrorOf } from './errors.js';
import { type ExchangeEnd, openExchanges, type Proxy } from './exchange.js';
import { elements, members, parseJson } from './json.js';
import { messageIdOf } from './messageId.js';
import { type AuthenticationMessage, messageBody } from './message.js';
import { retryAfterSeconds } from './retryAfter.js';

export { mayUseProxy } from './exchange.js';

/** A WhatsApp number to send from, with its decrypted access token. */
export interface CloudApiSender {
  phoneNumberId: string;
  token: string;
}

export interface CloudApiOptions {
  /** The address including the version: `https://graph.facebook.com/v25.0`. */
  baseUrl: string;
  /** The time limit of a whole call, including the reading of the response. */
  timeoutMs: number;
  /** Used only for addresses that `mayUseProxy` accepts. */
  proxy?: Proxy;
}

export interface CloudApi {
  /** Sends a code once. Never throws: every result is an `Outcome`, which contains no token, code or phone number. */
  sendCode(sender: CloudApiSender, message: AuthenticationMessage): Promise<Outcome>;
}

/**
 * Creates a client for Meta's Cloud API. It keeps idle connections for a few seconds. They do not keep the process running and need not be
 * closed.
 *
 * @throws {TypeError} if `baseUrl` is not a plain http or https address.
 */
export function createCloudApi({ baseUrl, timeoutMs, proxy }: CloudApiOptions): CloudApi {
  const { origin, path } = checkedBase(baseUrl);
  const post = openExchanges(origin, timeoutMs, proxy);
  return {
    async sendCode({ phoneNumberId, token }, message) {
      if (!/^[\w-]+$/.test(phoneNumberId)) {
        return { kind: 'sender', errorCode: null, reason: "The sender's phone number id is malformed." };
      }
      if (!/^[\x21-\x7e]+$/.test(token)) {
        const reason = 'The access token cannot be put in a header.';
        return { kind: 'config', errorCode: null, reason, scope: 'token' };
      }
      const end = await post({
        path: `${path}/${phoneNumberId}/messages`,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify(messageBody(message)),
      });
      return outcomeOf(end);
    },
  };
}

/**
 * Returns the origin and the path of `baseUrl`, without trailing slashes. @throws {TypeError} if it is not a plain http or https address.
 */
export function checkedBase(baseUrl: string): { origin: string; path: string } {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : null;
  const isPlain = url !== null && /^https?:$/.test(url.protocol) && !/[?#@]/.test(baseUrl);
  if (!isPlain) throw new TypeError('The address of the Cloud API is not a plain http or https URL.');
  return { origin: url.origin, path: url.pathname.replace(/(?<!\/)\/+$/, '') };
}

function outcomeOf(end: ExchangeEnd): Outcome {
  switch (end.end) {
    case 'unsent':
      return {
        kind: 'retry',
        errorCode: null,
        reason: end.reason,
        throttled: 'none',
        retryAfterSeconds: null,
      };
    case 'lost':
      return { kind: 'unknown', errorCode: null, reason: end.reason };
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
  return failure.kind === 'retry'
    ? { ...failure, retryAfterSeconds: retryAfterSeconds(headers, Date.now()) }
    : failure;
}

const isHeld = (status: unknown): status is MessageStatus =>
  status === 'held_for_quality_assessment' || status === 'paused';
