import type { IncomingMessage } from 'node:http';
import type { CreateSend } from '../contract.js';
import { Problem, type KnownCode } from './problem.js';
import { trimOuter } from './trimOuter.js';

const BODY_BYTES_MAX = 65_536;
const KEY_BYTES_MAX = 255;
const PHONE = /^\+[0-9 ()-]{1,39}$/;
const E164 = /^\+[1-9][0-9]{6,14}$/;
const EMAIL = /^[^\s@]+@[^\s@.]+(?:\.[^\s@.]+)+$/;

export interface CreateInput {
  /** E.164. */
  to: string;
  code: string | null;
  locale: NonNullable<CreateSend['locale']> | null;
}

/** Returns the key of the Bearer credential. @throws Problem `missing_credentials` */
export function readApiKey({ headers: { authorization = '' } }: IncomingMessage): string {
  const hasKey = /^bearer[ \t]/i.test(authorization);
  const key = hasKey ? trimOuter(authorization.slice('bearer'.length), ' \t') : '';
  if (key === '')
    throw new Problem('missing_credentials', { headers: { 'WWW-Authenticate': 'Bearer realm="onecode"' } });
  return key;
}

/** Returns the key without outer spaces and tabs, one character a byte, or null. @throws Problem `invalid_idempotency_key` */
export function readIdempotencyKey({ headers }: IncomingMessage): string | null {
  const key = trimOuter(String(headers['idempotency-key'] ?? ''), ' \t');
  if (key.length > KEY_BYTES_MAX)
    throw new Problem('invalid_idempotency_key', {
      detail: `The key is longer than ${KEY_BYTES_MAX} bytes.`,
    });
  return key === '' ? null : key;
}

/** @throws Problem `invalid_json` for a body that is too large */
export async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>)
    if ((bytes += chunk.length) <= BODY_BYTES_MAX) chunks.push(chunk);
  if (bytes > BODY_BYTES_MAX) throw unreadable(`The body is larger than ${BODY_BYTES_MAX} bytes.`);
  return Buffer.concat(chunks);
}

/** @throws Problem for the first fault: in structure, then in to, code, locale */
export function parseCreate(body: Buffer): CreateInput {
  const { to = '', code = '', locale } = parseObject(body, ['to', 'code', 'locale']);
  const number = parseNumber(to);
  const faults: [field: string, code: KnownCode, message: string][] = [];
  if (number === null)
    faults.push(
      EMAIL.test(to.trim())
        ? ['to', 'channel_unavailable', 'E-mail addresses cannot receive codes.']
        : ['to', 'invalid_recipient', 'Must be a phone number with + and country code.'],
    );
  if (!/^(?:[0-9]{4,10})?$/.test(code)) faults.push(['code', 'invalid_code', 'Must be 4 to 10 digits.']);
  if (locale !== undefined && locale !== 'pt-BR' && locale !== 'en')
    faults.push(['locale', 'invalid_locale', 'Must be pt-BR or en.']);
  const [first] = faults;
  if (first !== undefined)
    throw new Problem(first[1], {
      errors: Object.fromEntries(faults.map(([field, , message]) => [field, message])),
    });
  return { to: number as string, code: code || null, locale: (locale as CreateSend['locale']) ?? null };
}

/** @throws Problem `invalid_json` */
export function parseVerify(body: Buffer): string {
  const { code } = parseObject(body, ['code']);
  if (code === undefined) throw unreadable('The field "code" is missing.');
  return code;
}

/** Returns the E.164 form of a number, which may have spaces, hyphens and parentheses; null unless it has 7 to 15 digits. */
export function parseNumber(to: string): string | null {
  const text = trimOuter(to, ' ');
  const number = text.replace(/[ ()-]/g, '');
  return PHONE.test(text) && E164.test(number) ? number : null;
}

// With ignoreBOM, a byte order mark stays in the text, and JSON.parse refuses it.
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Reads an object with known members only, each a string and given once. @throws Problem `invalid_json` */
function parseObject(body: Buffer, names: readonly string[]): Record<string, string | undefined> {
  let text: string;
  let value: unknown;
  try {
    text = utf8.decode(body);
    value = JSON.parse(text);
  } catch {
    throw unreadable('The body is not valid JSON in UTF-8.');
  }
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  if (!isObject) throw unreadable('The body must be a JSON object.');
  const members = Object.entries(value as object);
  if (members.some(([name]) => !names.includes(name)))
    throw unreadable(
      `The only documented ${names.length === 1 ? 'field is' : 'fields are'} ${names.join(', ')}.`,
    );
  const notStrings = members.filter(([, member]) => typeof member !== 'string');
  if (notStrings.length > 0)
    throw new Problem('invalid_json', {
      detail: 'Each field must be a string.',
      errors: Object.fromEntries(notStrings.map(([name]) => [name, 'Must be a string.'])),
    });
  // JSON.parse keeps the last of repeated members. Each dropped member left at least one more string in the text.
  if (text.match(/"(?:[^"\\]|\\.)*"?/g)?.length !== (2 * members.length || undefined))
    throw unreadable('A field is given more than once.');
  return Object.fromEntries(members);
}

function unreadable(detail: string): Problem {
  return new Problem('invalid_json', { detail });
}
