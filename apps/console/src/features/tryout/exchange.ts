import { STATUS_CODES } from 'node:http';
import { apiKeyHint, maskRecipient, parseRecipient } from '@onecode/domain';
import type { ApiAnswer, ApiFault, ApiRequest } from './apiCall.js';
import type { ExchangeView } from './view.js';

/** Shorter texts are no numbers, and stand in answers for other reasons. */
const NUMBER_LENGTH_MIN = 6;
const DOTS = '•••••';

/** What is shown of a text that somebody gave as a recipient: a number is masked as everywhere, anything else down to its ends. */
export function hiddenRecipient(typed: string): string {
  const recipient = parseRecipient(typed);
  if (recipient.kind === 'phone') return maskRecipient(recipient.e164);
  return typed.length < NUMBER_LENGTH_MIN ? typed : `${typed.slice(0, 3)}${DOTS}${typed.slice(-2)}`;
}

/** What is shown in place of a code that only its recipient may know. */
export const HIDDEN_CODE = DOTS;

/** Makes the function that takes a key and a recipient out of any text. */
export function hider(key: string, typedRecipient = ''): (text: string) => string {
  const recipient = parseRecipient(typedRecipient);
  const numbers =
    recipient.kind === 'phone'
      ? [typedRecipient, recipient.e164, recipient.canonical, recipient.e164.slice(1)]
      : [typedRecipient];
  const hidden = hiddenRecipient(typedRecipient);
  const written = numbers.filter(({ length }) => length >= NUMBER_LENGTH_MIN);
  return (text) =>
    written.reduce((rest, number) => rest.replaceAll(number, hidden), text.replaceAll(key, apiKeyHint(key)));
}

/** An exchange as the page shows it. @param bodyShown stands in place of the request's body, which holds what must be hidden */
export function exchangeView(
  { method, path, headers, body }: ApiRequest,
  answer: ApiAnswer | ApiFault,
  { bodyShown, tookMs, hide }: { bodyShown: string | null; tookMs: number; hide: (text: string) => string },
): ExchangeView {
  const shown = (all: ApiRequest['headers']) =>
    all.map(([name, value]) => ({ name: hide(name), value: hide(value) }));
  return {
    request: {
      line: `${method} ${path} HTTP/1.1`,
      headers: shown(headers),
      body: body === null ? null : bodyShown,
    },
    answer:
      typeof answer === 'string'
        ? null
        : {
            line: hide(
              `HTTP/${answer.httpVersion} ${answer.status} ${answer.statusText || (STATUS_CODES[answer.status] ?? '')}`,
            ),
            headers: shown(answer.headers),
            body: answer.body === '' ? null : hide(answer.body),
          },
    fault: typeof answer === 'string' ? answer : null,
    tookMs,
  };
}
