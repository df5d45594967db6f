import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import {
  ACCESS_TOKEN,
  countriesOf,
  isCountry,
  parseRecipient,
  SENDER_PATTERNS,
  type PhoneRecipient,
} from '@onecode/domain';
import { isId } from '@onecode/store/client';
import type { Command } from 'commander';
import { UsageError, UserError } from './errors.js';
import { example } from './output.js';

/** Parses a typed value. Error messages name the option or argument and never repeat the value, which may be a secret. */
type Reader<T> = (value: string) => T;

const TEXT_LENGTH_MAX = 200;
/** No control characters, and no line or paragraph separators. */
const ONE_LINE = /^[^\p{Cc}\p{Zl}\p{Zp}]*$/u;

/** Addresses that the console's sign-in accepts. */
const SIGN_IN_EMAIL = /^[A-Za-z0-9_'+.-]+@[A-Za-z0-9.-]+$/;

/** A value that looks like an option almost always means that the value is missing. */
function refuseOption(what: string, value: string): void {
  if (value.startsWith('--')) throw new UsageError(`${what} needs a value`);
}

export const id =
  (what: string): Reader<string> =>
  (value) => {
    if (!isId(value)) throw new UsageError(`${what} must be an id: 36 characters, lower case`);
    return value;
  };

/** Adds a command to a group. */
export type AddCommand = (name: string, description: string) => Command;

/** Adds a group of commands. @param typed the example in its help @returns a function that adds a command to the group */
export function commandGroup(program: Command, name: string, description: string, typed: string): AddCommand {
  const group = program.command(name).description(description).addHelpText('after', example(typed));
  return (name, description) => group.command(name).description(description);
}

/** Returns a function that adds commands with an id as their first argument. @param what names the thing with this id */
export const commandsOn =
  (add: AddCommand, what: string): AddCommand =>
  (name, description) =>
    add(name, description).argument('<id>', `the ${what}`, id(`the ${what}`));

/** Parses the ids of an option that may be repeated. */
export const ids =
  (what: string) =>
  (value: string, before: readonly string[] = []): string[] => [...before, id(what)(value)];

/** Parses a name or a reason: one line of 1 to 200 characters, trimmed. */
export const text =
  (what: string): Reader<string> =>
  (value) => {
    refuseOption(what, value);
    const trimmed = value.trim();
    const { length } = [...trimmed];
    if (length < 1 || length > TEXT_LENGTH_MAX || !ONE_LINE.test(trimmed))
      throw new UsageError(`${what} must be 1 to ${TEXT_LENGTH_MAX} characters without control characters`);
    return trimmed;
  };

export const wholeNumber =
  (what: string, { min, max }: { min: number; max: number }): Reader<number> =>
  (value) => {
    const number = Number(value);
    if (!/^[0-9]{1,15}$/.test(value) || number < min || number > max)
      throw new UsageError(`${what} must be a whole number from ${min} to ${max}`);
    return number;
  };

/** The option that limits the length of a list. */
export const LIST_LIMIT = [
  '--limit <number>',
  'maximum number of entries',
  wholeNumber('--limit', { min: 1, max: 1_000 }),
  50,
] as const;

/** Parses a day that has not ended, such as `2027-01-31`. @returns its end, in UTC */
export const lastDay =
  (what: string): Reader<Date> =>
  (value) => {
    const day = new Date(/^20\d\d-\d\d-\d\d$/.test(value) ? `${value}T00:00:00Z` : Number.NaN);
    if (Number.isNaN(day.getTime()) || !day.toISOString().startsWith(value))
      throw new UsageError(`${what} must be a day, such as 2027-01-31`);
    const end = new Date(day.getTime() + 86_400_000);
    if (end <= new Date()) throw new UsageError(`${what} must be today or later`);
    return end;
  };

/** Parses a limit: a number, `off`, or `on` for the initial value. `off` is not null, which Commander turns into an empty string. */
export const limit =
  (what: string, bounds: { min: number; max: number }, initial: number): Reader<number | 'off'> =>
  (value) => {
    if (value === 'off') return 'off';
    if (value === 'on') return initial;
    if (!/^[0-9]+$/.test(value))
      throw new UsageError(`${what} must be off, on or a whole number from ${bounds.min} to ${bounds.max}`);
    return wholeNumber(what, bounds)(value);
  };

export const oneOf =
  <const W extends string>(what: string, words: readonly W[]): Reader<W> =>
  (value) => {
    const word = words.find((one) => one === value);
    if (word === undefined) throw new UsageError(`${what} must be ${words.join(' or ')}`);
    return word;
  };

export const phoneNumber =
  (what: string): Reader<PhoneRecipient> =>
  (value) => {
    const recipient = parseRecipient(value);
    if (recipient.kind !== 'phone')
      throw new UsageError(`${what} must be a phone number with + and country code`);
    return recipient;
  };

/** Parses `all`, or ISO 3166 and calling codes separated by commas. @returns ISO 3166 codes in capitals */
export const countries =
  (what: string): Reader<string[] | 'all'> =>
  (value) => {
    if (value === 'all') return 'all';
    const codes = value
      .toUpperCase()
      .split(',')
      .map((code) => (isCountry(code) ? [code] : countriesOf(code)));
    if (codes.some(({ length }) => length === 0))
      throw new UsageError(
        `${what} must be all, or country codes separated by commas such as BR,US or BR,+44`,
      );
    return [...new Set(codes.flat())].toSorted();
  };

/** Parses a value that must match a pattern. */
export const matching =
  (pattern: RegExp, wanted: string) =>
  (what: string): Reader<string> =>
  (value) => {
    if (!pattern.test(value)) throw new UsageError(`${what} must be ${wanted}`);
    return value;
  };

export const phoneNumberId = matching(SENDER_PATTERNS.phoneNumberId, '1 to 32 digits');
export const businessAccountId = matching(SENDER_PATTERNS.businessAccountId, '1 to 32 digits');
/** A message template's name, in the form that the provider allows. */
export const templateName = matching(
  SENDER_PATTERNS.template,
  '1 to 512 lower-case letters, digits and underscores',
);

/** Parses the part of an API key that lists show. */
export const keyEnding = matching(/^[0-9A-Za-z]{4}$/, 'the last four characters of a key');

const ACCESS_TOKEN_FORM = '1 to 4096 letters, digits and . _ ~ + / | - without quotes';

/** Parses an access token of the provider, or `-` for standard input. */
export const token =
  (what: string): Reader<string> =>
  (value) => {
    refuseOption(what, value);
    if (!ACCESS_TOKEN.test(value))
      throw new UsageError(`${what} must be ${ACCESS_TOKEN_FORM}, or - for standard input`);
    return value;
  };

/** Returns the typed token or, for `-`, the one from standard input. */
export async function readToken(what: string, typed: string): Promise<string> {
  if (typed !== '-') return typed;
  const line = await readSecret('access token');
  if (line === '-' || !ACCESS_TOKEN.test(line))
    throw new UsageError(`${what} on standard input must be ${ACCESS_TOKEN_FORM} on one line`);
  return line;
}

/** Reads the secret of a Meta app from standard input. */
export async function readAppSecret(what: string): Promise<string> {
  const line = await readSecret('app secret');
  if (!SENDER_PATTERNS.appSecret.test(line))
    throw new UsageError(`${what} on standard input must be 32 digits and letters from a to f on one line`);
  return line;
}

/** Parses an e-mail address that a user can sign in with. @returns it in lower case */
export const emailAddress =
  (what: string): Reader<string> =>
  (value) => {
    if (!SIGN_IN_EMAIL.test(value) || parseRecipient(value).kind !== 'email')
      throw new UsageError(`${what} must be an email address`);
    return value.toLowerCase();
  };

/** Accepts only `-`: every user of the machine can see secrets on the command line in the process list. */
export const secretSource =
  (what: string): Reader<'-'> =>
  (value) => {
    if (value !== '-') throw new UsageError(`${what} must be -: the secret is read from standard input`);
    return '-';
  };

/**
 * Returns a secret: all of standard input without its line end, or the line that is typed at the terminal, where it is asked for and not
 * shown.
 *
 * @param name for the question
 */
export const readSecret = (name: string): Promise<string> =>
  process.stdin.isTTY ? askHidden(name) : readStandardInput();

/** Returns all of standard input without a byte order mark and its line end. */
export async function readStandardInput(): Promise<string> {
  let given = '';
  for await (const chunk of process.stdin.setEncoding('utf8')) given += chunk as string;
  return given.replace(/^\uFEFF|\r?\n$/g, '');
}

const PIN = /^[0-9]{6}$/;
const PIN_FORM = 'six digits';

/** A two-step PIN, or `-` for the one on standard input. */
export const pinSource =
  (what: string): Reader<string> =>
  (value) => {
    if (value !== '-' && !PIN.test(value))
      throw new UsageError(`${what} must be ${PIN_FORM}, or - for standard input`);
    return value;
  };

/** Reads a PIN from standard input. */
export async function readPin(): Promise<string> {
  const line = await readSecret('PIN');
  if (!PIN.test(line)) throw new UsageError(`--pin on standard input must be ${PIN_FORM}`);
  return line;
}

/**
 * Reads the secrets of a command. With `-` for both, the token is the first line of standard input and the PIN the second. At a terminal,
 * they are asked for and not shown, as is a missing token.
 */
export async function readSecrets(given: {
  token?: string;
  pin?: string;
}): Promise<{ token: string; pin: string | null }> {
  const { isTTY } = process.stdin;
  const isPiped = !isTTY && (given.token === '-' || given.pin === '-');
  const lines = isPiped ? (await readStandardInput()).split(/\r?\n/) : [];
  if (given.token === undefined && !isTTY)
    throw new UsageError('--token is missing: --token - reads it from standard input');
  const token = isTTY ? (await askHidden('access token')).trim() : lines.shift();
  const ofPin = given.pin === '-' && isTTY ? await askHidden('PIN') : given.pin;
  const pin = ofPin === '-' ? lines.shift() : (ofPin ?? null);
  if (token === undefined || token === '-' || !ACCESS_TOKEN.test(token))
    throw new UsageError(`--token on standard input must be ${ACCESS_TOKEN_FORM} on one line`);
  if (pin === undefined || (pin !== null && !PIN.test(pin)))
    throw new UsageError(`--pin on standard input must be ${PIN_FORM}, on the line after the token`);
  if (lines.some((line) => line !== '')) throw new UsageError('standard input has more lines than expected');
  return { token, pin };
}

/** Asks for a secret on the terminal and does not show it. @throws UserError after Ctrl-C or Ctrl-D */
async function askHidden(name: string): Promise<string> {
  process.stderr.write(`${name[0]!.toUpperCase()}${name.slice(1)}: `);
  const hidden = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output: hidden, terminal: true });
  let line: string | undefined;
  for await (line of lines) break;
  lines.close();
  process.stderr.write('\n');
  if (line === undefined) throw new UserError(`no ${name} was entered, so nothing was changed`);
  return line;
}
