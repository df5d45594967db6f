import {
  parseRecipient,
  Problem,
  type Locale,
  type PhoneRecipient,
  type ProblemCode,
  type RecipientFault,
} from '@onecode/domain';
import type { ErrorObject } from 'ajv';
import { validateCreateSend, validateVerifyCode } from './generated/contract.js';

/** The input of `POST /v1/send`. Null lets the service choose. */
export interface CreateSendInput {
  recipient: PhoneRecipient;
  code: string | null;
  locale: Locale | null;
}

/** Returns whether a body is valid against its schema. `errors` holds the violations until the next call. */
interface BodyValidator {
  (body: unknown): boolean;
  errors?: ErrorObject[] | null;
}

const NUMBER_FAULTS: Readonly<Record<RecipientFault, string>> = {
  form: 'Must be a phone number with + and country code.',
  country_code: 'Must start with + and an existing country code.',
  length: 'Is too short or too long for its country.',
};

/** Parses the body of `POST /v1/send`. @throws Problem for the first invalid field, in the order `to`, `code`, `locale` */
export function parseCreateSend(body: Buffer): CreateSendInput {
  const { members, faulty } = readMembers(body, validateCreateSend, ['to', 'code', 'locale']);
  const recipient = parseRecipient(members.to ?? '');
  if (recipient.kind === 'phone' && faulty.size === 0)
    return {
      recipient,
      code: members.code || null,
      locale: (members.locale as Locale | undefined) ?? null,
    };

  const faults: [code: ProblemCode, field: string, message: string][] = [];
  if (recipient.kind === 'email')
    faults.push(['channel_unavailable', 'to', 'E-mail addresses cannot receive codes.']);
  if (recipient.kind === 'invalid') faults.push(['invalid_recipient', 'to', NUMBER_FAULTS[recipient.fault]]);
  if (faulty.has('code')) faults.push(['invalid_code', 'code', 'Must be 4 to 10 digits.']);
  if (faulty.has('locale')) faults.push(['invalid_locale', 'locale', 'Must be pt-BR or en.']);
  throw new Problem(faults[0]?.[0] ?? 'invalid_json', {
    errors: Object.fromEntries(faults.map(([, field, message]) => [field, message])),
  });
}

/** Returns the code in the body of `POST /v1/send/{id}/verify`. @throws Problem `invalid_json` */
export function parseVerify(body: Buffer): string {
  const { code } = readMembers(body, validateVerifyCode, ['code']).members;
  if (code === undefined) throw unreadable('The field "code" is missing.');
  return code;
}

/**
 * Parses a JSON object of string members without duplicates. `faulty` contains the names of invalid members.
 *
 * @param names the documented members
 * @throws Problem `invalid_json`
 */
function readMembers(
  body: Buffer,
  validate: BodyValidator,
  names: readonly string[],
): { members: Partial<Record<string, string>>; faulty: Set<string> } {
  const text = readOr('The body is not valid UTF-8. Compressed bodies are not supported.', () =>
    utf8.decode(body),
  );
  const value = readOr('The body is not valid JSON.', (): unknown => JSON.parse(text));
  const errors = validate(value) ? [] : (validate.errors ?? []);
  const notStrings = errors.filter(({ keyword }) => keyword === 'type').map(nameOf);
  if (notStrings.includes('')) throw unreadable('The body must be a JSON object.');
  if (errors.some(({ keyword }) => keyword === 'additionalProperties'))
    throw unreadable(
      `The only documented ${names.length === 1 ? 'field is' : 'fields are'} ${names.join(', ')}.`,
    );
  if (notStrings.length > 0)
    throw new Problem('invalid_json', {
      detail: 'Each field must be a string.',
      errors: Object.fromEntries(notStrings.map((name) => [name, 'Must be a string.'])),
    });
  const members = value as Record<string, string>;
  // JSON.parse keeps the last of repeated members. The object is flat and all its values are strings, so each dropped member leaves at
  // least one more string in the text.
  const strings = text.match(/"(?:[^"\\]|\\.)*"?/g) ?? [];
  if (strings.length !== 2 * Object.keys(members).length)
    throw unreadable('A field is given more than once.');
  return { members, faulty: new Set(errors.map(nameOf)) };
}

/** Returns the name of the member that an error is about; empty for the body itself. */
const nameOf = ({ instancePath }: ErrorObject): string => instancePath.slice(1);

// With `ignoreBOM`, a byte order mark stays in the text and JSON.parse rejects it.
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function readOr<T>(detail: string, read: () => T): T {
  try {
    return read();
  } catch {
    throw unreadable(detail);
  }
}

function unreadable(detail: string): Problem {
  return new Problem('invalid_json', { detail });
}
