import {
  parseRecipient,
  Problem,
  type Locale,
  type PhoneRecipient,
  type ProblemCode,
  type Recipient,
  type RecipientFault,
} from '@onecode/domain';

/** The input of `POST /v1/send`. Null lets the service choose. */
export interface CreateSendInput {
  recipient: PhoneRecipient;
  code: string | null;
  locale: Locale | null;
}

/** A field, the code of its problem, and the message for the field. */
type Fault = [field: 'to' | 'code' | 'locale', code: ProblemCode, message: string];

const NUMBER_FAULTS: Readonly<Record<RecipientFault, string>> = {
  form: 'Must be a phone number with + and country code.',
  country_code: 'Must start with + and an existing country code.',
  length: 'Is too short or too long for its country.',
};

const recipientFault = (recipient: Exclude<Recipient, PhoneRecipient>): Fault =>
  recipient.kind === 'email'
    ? ['to', 'channel_unavailable', 'E-mail addresses cannot receive codes.']
    : ['to', 'invalid_recipient', NUMBER_FAULTS[recipient.fault]];

/** Parses the body of `POST /v1/send`. @throws Problem for the first invalid field, in the order `to`, `code`, `locale` */
export function parseCreateSend(body: Buffer): CreateSendInput {
  const { to = '', code = '', locale } = readFields(body, ['to', 'code', 'locale']);
  const recipient = parseRecipient(to);
  const faults = recipient.kind === 'phone' ? [] : [recipientFault(recipient)];
  if (!/^(?:[0-9]{4,10})?$/.test(code)) faults.push(['code', 'invalid_code', 'Must be 4 to 10 digits.']);
  if (locale !== undefined && locale !== 'pt-BR' && locale !== 'en')
    faults.push(['locale', 'invalid_locale', 'Must be pt-BR or en.']);
  const [first] = faults;
  if (first !== undefined)
    throw new Problem(first[1], {
      errors: Object.fromEntries(faults.map(([field, , message]) => [field, message])),
    });
  return {
    recipient: recipient as PhoneRecipient,
    code: code || null,
    locale: (locale as Locale | undefined) ?? null,
  };
}

/** Returns the code in the body of `POST /v1/send/{id}/verify`. @throws Problem `invalid_json` */
export function parseVerify(body: Buffer): string {
  const { code } = readFields(body, ['code']);
  if (code === undefined) throw unreadable('The field "code" is missing.');
  return code;
}

// With `ignoreBOM`, a byte order mark stays in the text and JSON.parse rejects it.
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Parses a JSON object of strings without duplicates.
 *
 * @param names the documented fields, each of which may be missing
 * @throws Problem `invalid_json`
 */
function readFields(body: Buffer, names: readonly string[]): Partial<Record<string, string>> {
  let text: string;
  let value: unknown;
  try {
    text = utf8.decode(body);
    value = JSON.parse(text);
  } catch {
    throw unreadable('The body is not valid JSON in UTF-8. Compressed bodies are not supported.');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw unreadable('The body must be a JSON object.');
  const fields = Object.entries(value);
  if (fields.some(([name]) => !names.includes(name)))
    throw unreadable(
      `The only documented ${names.length === 1 ? 'field is' : 'fields are'} ${names.join(', ')}.`,
    );
  const notStrings = fields.filter(([, field]) => typeof field !== 'string');
  if (notStrings.length > 0)
    throw new Problem('invalid_json', {
      detail: 'Each field must be a string.',
      errors: Object.fromEntries(notStrings.map(([name]) => [name, 'Must be a string.'])),
    });
  // JSON.parse keeps the last of repeated fields. The object is flat and all its values are strings, so each dropped field leaves at least
  // one more string in the text.
  const strings = text.match(/"(?:[^"\\]|\\.)*"?/g) ?? [];
  if (strings.length !== 2 * fields.length) throw unreadable('A field is given more than once.');
  return value;
}

function unreadable(detail: string): Problem {
  return new Problem('invalid_json', { detail });
}
