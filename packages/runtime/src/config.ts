import { readFileSync } from 'node:fs';
import {
  checkDatabaseAddress,
  parsePlainAddress,
  parseRedisAddress,
  parseServerAddress,
} from './addresses.js';

export { parsePlainAddress } from './addresses.js';

/** Thrown if the environment is invalid. Each fault is one line and does not contain the value. */
export class ConfigError extends Error {
  constructor(readonly faults: readonly string[]) {
    super(faults.join('\n'));
  }
}

/** An environment variable: how its text is read. */
export interface Variable<T> {
  /** The messages of its errors complete the sentence "NAME …" and must not contain the value. */
  parse: (text: string) => T;
  /** The value if the variable is missing. Without a fallback, the variable is required. */
  fallback?: T | undefined;
  /** Whether the value can also be in the file named by `NAME_FILE`. */
  isSecret?: boolean;
}

type Variables = Record<string, Variable<unknown>>;
type Config<V extends Variables> = { [N in keyof V]: V[N] extends Variable<infer T> ? T : never };

/**
 * Reads a process's configuration from its environment. A malformed variable is a fault, and so is a missing variable without a fallback.
 * White space around a value is removed, and an empty value counts as missing. For a secret, `NAME_FILE` can be set instead of `NAME` to
 * read the value from a file.
 *
 * @throws ConfigError with all faults, so that they can be fixed together
 */
export function readConfig<V extends Variables>(environment: NodeJS.ProcessEnv, variables: V): Config<V> {
  const config: Record<string, unknown> = {};
  const faults: string[] = [];
  for (const [name, variable] of Object.entries(variables)) {
    try {
      config[name] = readVariable(environment, name, variable);
    } catch (error) {
      faults.push(`${name} ${(error as Error).message}`);
    }
  }
  if (faults.length > 0) throw new ConfigError(faults);
  return config as Config<V>;
}

/** Reads a variable. @throws Error with a message that completes the sentence "NAME …" */
function readVariable(
  environment: NodeJS.ProcessEnv,
  name: string,
  { parse, fallback, isSecret = false }: Variable<unknown>,
): unknown {
  const text = readText(environment, name, isSecret);
  if (text === '' && fallback === undefined) throw new Error('is missing');
  if (text === '') return fallback;
  // A shell removes quotation marks, but docker's --env-file, for example, keeps them in the value.
  if (/^(["'`]).*\1$/s.test(text)) throw new Error('has quotation marks around the value: remove them');
  return parse(text);
}

/** Returns a variable's text, or the content of its file. */
function readText(environment: NodeJS.ProcessEnv, name: string, mayBeFile: boolean): string {
  const value = environment[name]?.trim() ?? '';
  const path = (mayBeFile && environment[`${name}_FILE`]?.trim()) || '';
  if (path === '') return value;
  if (value !== '') throw new Error(`and ${name}_FILE are both set: set only one of them`);
  let content: string;
  try {
    content = new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path)).trim();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Error(`cannot be read: ${name}_FILE must name a readable file in UTF-8 (${code})`, {
      cause: error,
    });
  }
  if (content === '') throw new Error(`cannot be read: ${name}_FILE must not name an empty file`);
  return content;
}

/** Returns the variable as a secret, which can also be read from a file. */
export function secret<T>(variable: Variable<T>): Variable<T> {
  return { ...variable, isSecret: true };
}

/** Returns a variable that `parse` reads. */
export function variable<T>(parse: (text: string) => T, fallback?: T): Variable<T> {
  return { parse, fallback };
}

/** Returns a variable for any text on one line. */
export function text(fallback?: string): Variable<string> {
  return variable((value) => {
    if (/\p{Cc}/u.test(value)) throw new Error('must be one line without control characters');
    return value;
  }, fallback);
}

/** Returns a variable for an absolute HTTP URL. Trailing slashes are removed. */
export function address(fallback?: string): Variable<string> {
  return variable(parsePlainAddress, fallback);
}

/** Returns a variable for the address of a server, with one of these schemes. */
export function serverAddress(schemes: readonly string[], fallback?: string): Variable<string> {
  return variable((value) => parseServerAddress(value, schemes) && value, fallback);
}

/** Returns a variable for the address of PostgreSQL: one or several servers, or the folder of a socket. */
export function databaseAddress(fallback?: string): Variable<string> {
  return secret(variable(checkDatabaseAddress, fallback));
}

/** Returns a variable for the address of Redis: one server, or the servers of a cluster or of its sentinels. */
export function redisAddress(): Variable<string> {
  return secret(variable((value) => parseRedisAddress(value) && value));
}

/** Returns a variable for a whole number from `min` to `max`. */
export function wholeNumber(min: number, max: number, fallback?: number): Variable<number> {
  return variable((value) => {
    const number = Number(value);
    if (!/^\d{1,9}$/.test(value) || number < min || number > max)
      throw new Error(`must be a whole number from ${min} to ${max}`);
    return number;
  }, fallback);
}

/** Returns a variable for a TCP port; 0 selects a free one. */
export function port(fallback?: number): Variable<number> {
  return wholeNumber(0, 65_535, fallback);
}

/** Returns a variable for one of the given words. */
export function oneOf<const W extends string>(words: readonly W[], fallback?: W): Variable<W> {
  return variable((value) => {
    if (!(words as readonly string[]).includes(value)) throw new Error(`must be one of ${words.join(', ')}`);
    return value as W;
  }, fallback);
}

/** Whether `DATABASE_URL` is the address of a pooler in transaction mode. */
export const DATABASE_POOLER = oneOf(['none', 'transaction'], 'none');

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** The environment variables of the API, the worker and the console. */
export const COMMON_VARIABLES = {
  DATABASE_URL: databaseAddress(),
  DATABASE_POOLER,
  REDIS_URL: redisAddress(),
  QUEUE_PREFIX: text('onecode'),
  // Metrics reveal business figures, so by default they are reachable from this machine only.
  METRICS_HOST: text('127.0.0.1'),
  METRICS_PORT: port(0),
  LOG_LEVEL: oneOf(LOG_LEVELS, 'info'),
  // The address turns tracing on. OpenTelemetry's SDK reads its other variables itself.
  OTEL_EXPORTER_OTLP_ENDPOINT: address(''),
  OTEL_EXPORTER_OTLP_PROTOCOL: oneOf(['http/protobuf', 'http/json'], 'http/protobuf'),
};

export type CommonConfig = Config<typeof COMMON_VARIABLES>;

/** The proxy of calls to Meta. */
export const PROXY = {
  HTTPS_PROXY: serverAddress(['http', 'https'], ''),
  NO_PROXY: text(''),
};

/** The addresses to which account events may be posted: public ones over https or, for development, any address over http or https. */
export const EVENT_ADDRESSES = oneOf(['public', 'any'], 'public');

/**
 * How long a process keeps listening after SIGTERM, so that load balancers notice that it is stopping. Supervisors must wait this much
 * longer before they kill it.
 */
export const SHUTDOWN_DELAY_MS = wholeNumber(0, 300_000, 0);
