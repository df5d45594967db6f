import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import {
  cleanEnv,
  EnvMissingError,
  makeValidator,
  type CleanedEnv,
  type RequiredValidatorSpec,
} from 'envalid';

/** The environment is not valid. Each fault is one line, and none repeats a value. */
export class ConfigError extends Error {
  constructor(readonly faults: readonly string[]) {
    super(faults.join('\n'));
  }
}

/**
 * Reads a process's configuration. A variable that is malformed, or missing without a default, is a fault; an empty one counts as
 * missing. For a secret, `NAME_FILE` may be set instead of `NAME`: the file's content, without a line break at its end, is the value.
 *
 * @throws ConfigError with all faults, so that they can be fixed at once
 */
export function readConfig<S extends Record<string, RequiredValidatorSpec<unknown>>>(
  environment: NodeJS.ProcessEnv,
  specs: S,
): CleanedEnv<S> {
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
  const names = Object.keys(specs).filter((name) => isSecret(specs[name]));
  const files = readSecretFiles(given, names);
  const faults = Object.values(files.faults);
  const config = cleanEnv({ ...given, ...files.values }, specs, {
    reporter: ({ errors }) => {
      const ofValues = Object.entries(errors).filter(([name]) => !(name in files.faults));
      for (const [name, error] of ofValues)
        faults.push(
          error instanceof EnvMissingError
            ? `${name} is missing`
            : `${name} ${error?.message ?? 'is malformed'}`,
        );
    },
  });
  if (faults.length > 0) throw new ConfigError(faults);
  return config;
}

/** The values of the secrets that are in files, and what is wrong with the other files, both by the secret's name. */
function readSecretFiles(
  given: NodeJS.ProcessEnv,
  names: readonly string[],
): Record<'values' | 'faults', Record<string, string>> {
  const values: Record<string, string> = {};
  const faults: Record<string, string> = {};
  for (const name of names) {
    const path = given[`${name}_FILE`];
    if (path === undefined) continue;
    if (given[name] !== undefined) {
      faults[name] = `${name} and ${name}_FILE are both set: only one of them may be`;
      continue;
    }
    try {
      const value = readFileSync(path, 'utf8').replace(/\r?\n$/, '');
      if (value === '') faults[name] = `${name}_FILE must be a file that is not empty`;
      else values[name] = value;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      faults[name] = `${name}_FILE must be a file that can be read (${code})`;
    }
  }
  return { values, faults };
}

/** A variable whose value may be in a file. */
export type SecretSpec<T> = RequiredValidatorSpec<T> & { isSecret: true };

/** Makes a variable a secret: `NAME_FILE` may name a file with its value. */
export function secret<T>(spec: RequiredValidatorSpec<T>): SecretSpec<T> {
  return { ...spec, isSecret: true };
}

const isSecret = (spec: object | undefined): boolean => spec !== undefined && 'isSecret' in spec;

/**
 * A variable that `parse` reads. The messages of its errors complete the sentence "NAME …" and must not repeat the value.
 *
 * @param fallback makes the variable optional
 */
export function variable<T>(parse: (text: string) => T, fallback?: T): RequiredValidatorSpec<T> {
  const validator = makeValidator<unknown>(parse) as (spec?: object) => unknown;
  return validator(fallback === undefined ? {} : { default: fallback }) as RequiredValidatorSpec<T>;
}

/** Any text. */
export function text(fallback?: string): RequiredValidatorSpec<string> {
  return variable((value) => value, fallback);
}

/** An absolute URL with one of these schemes, read without slashes at its end. */
export function address(schemes: readonly string[], fallback?: string): RequiredValidatorSpec<string> {
  return variable((value) => {
    const scheme = /^([a-z]+):\/\/\S*$/.exec(value)?.[1];
    if (scheme === undefined || !schemes.includes(scheme) || !URL.canParse(value))
      throw new Error(`must be an address that begins with ${schemes.map((s) => `${s}://`).join(' or ')}`);
    return value.replace(/(?<!\/)\/+$/, '');
  }, fallback);
}

const DATABASE_ADDRESS = /^(postgres(?:ql)?:\/\/(?:[^@/?#\s]*@)?)([^@/?#\s]+)([/?#]\S*)?$/;

/** PostgreSQL's address, which may name several servers with commas between them, read without slashes at its end. */
export function databaseAddress(fallback?: string): SecretSpec<string> {
  const parse = (value: string): string => {
    const [, before = '', hosts = '', after = ''] = DATABASE_ADDRESS.exec(value) ?? [];
    const isAddress = hosts.split(',').every((host) => host !== '' && URL.canParse(before + host + after));
    if (!isAddress) throw new Error('must be an address that begins with postgres:// or postgresql://');
    const attributes = /[?&]target_session_attrs=([^&]*)/.exec(after)?.[1] ?? 'any';
    if (!['any', 'read-write', 'primary'].includes(attributes))
      throw new Error('must have read-write, primary or any as its target_session_attrs');
    refuseUnreadableFiles(after);
    const schemas = new URLSearchParams(after.split('?')[1]).getAll('schema');
    if (schemas.some((schema) => schema !== 'public'))
      throw new Error('must name no schema other than public, which holds all tables');
    return value.replace(/(?<!\/)\/+$/, '');
  };
  return secret(variable(parse, fallback));
}

const ADDRESS_FILES = ['sslrootcert', 'sslcert', 'sslkey'];

/** The driver opens these files for each connection, and its error does not say which one it could not read. */
function refuseUnreadableFiles(after: string): void {
  const parameters = new URLSearchParams(after.split('?')[1]);
  for (const name of ADDRESS_FILES) {
    const path = parameters.get(name);
    if (path === null) continue;
    try {
      readFileSync(path);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      throw new Error(`names ${path} as its ${name}, which this user cannot read (${code})`, {
        cause: error,
      });
    }
  }
}

/** A whole number within bounds. */
export function wholeNumber(min: number, max: number, fallback?: number): RequiredValidatorSpec<number> {
  return variable((value) => {
    const number = Number(value);
    if (!/^\d{1,9}$/.test(value) || number < min || number > max)
      throw new Error(`must be a whole number from ${min} to ${max}`);
    return number;
  }, fallback);
}

/** A TCP port; 0 takes a free one. */
export function port(fallback?: number): RequiredValidatorSpec<number> {
  return wholeNumber(0, 65_535, fallback);
}

const HOST_NAME = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/i;
const HOST_NAME_LENGTH_MAX = 253;

/** An address to listen at: an IP address or a host name. */
export function host(fallback?: string): RequiredValidatorSpec<string> {
  return variable((value) => {
    const isName = value.length <= HOST_NAME_LENGTH_MAX && HOST_NAME.test(value);
    if (isIP(value) === 0 && !isName) throw new Error('must be an IP address or a host name');
    return value;
  }, fallback);
}

/** Where accounts' events may be posted: to public addresses by https, or, for development, to any address, by http too. */
export const EVENT_ADDRESSES = ['public', 'any'] as const;

/** One of some words. */
export function oneOf<const W extends string>(words: readonly W[], fallback?: W): RequiredValidatorSpec<W> {
  return variable((value) => {
    if (!(words as readonly string[]).includes(value)) throw new Error(`must be one of ${words.join(', ')}`);
    return value as W;
  }, fallback);
}
