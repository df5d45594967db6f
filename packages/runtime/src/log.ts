import { pino, type Logger, type LoggerOptions } from 'pino';
import type { LogLevel } from './config.js';

export type { Logger } from 'pino';

/**
 * Patterns that are removed from log lines: keys, credentials, message ids, phone numbers. Clients choose parts of lines (a path, a
 * header), so a pattern must not begin with an unbounded repetition: its search would take quadratic time.
 */
const SECRETS: readonly [RegExp, string][] = [
  [/ak_(test|live)_[0-9A-Za-z]+/g, 'ak_$1_[removed]'],
  [/Bearer\s+[^\s"\\]+/gi, 'Bearer [removed]'],
  // The provider's access tokens.
  [/EAA[0-9A-Za-z]{16,}/g, 'EAA[removed]'],
  [/wamid\.[0-9A-Za-z+/=_-]+/g, 'wamid.[removed]'],
  [/(?:\+|%2B)[1-9](?:[ ().-]{0,2}[0-9]){6,14}(?![0-9])/gi, '+[removed]'],
  [/:\/\/[^\s"@/]+@/g, '://[removed]@'],
];

/** Returns the text with its secrets replaced. */
function redact(line: string): string {
  return SECRETS.reduce((rest, [pattern, replacement]) => rest.replace(pattern, replacement), line);
}

const FAULT_LENGTH_MAX = 500;

/** Returns an error in one line without secrets. Errors of connections to several addresses have a code, but no message. */
export function faultLine(error: unknown): string {
  const { message, code, name } = error as NodeJS.ErrnoException;
  return redact(message.trim() || code || name)
    .replaceAll(/\s+/g, ' ')
    .slice(0, FAULT_LENGTH_MAX);
}

/** A frame of a stack trace. Unlike a line of the message, it ends with a position. */
const FRAME = /^\s+at .+:\d+:\d+\)?$/;
/** Bounded, because an error can be its own cause. */
const CAUSES_MAX = 4;

/**
 * Returns the logged form of an error. Sequences of four or more digits are removed from its message, because drivers quote rows and
 * parameters.
 */
export function describeError(error: unknown, causes = 0): object {
  if (!(error instanceof Error)) return { type: typeof error };
  const withCode = error as Error & { code?: unknown };
  const message = redact(error.message).replace(/\d{4,}/g, '[digits]');
  return {
    type: error.name,
    ...(typeof withCode.code === 'string' || typeof withCode.code === 'number'
      ? { code: withCode.code }
      : {}),
    message: message.length > 500 ? `${message.slice(0, 500)}…` : message,
    at: error.stack
      ?.split('\n')
      .filter((line) => FRAME.test(line))
      .slice(0, 8)
      .map((line) => line.trim()),
    ...(error.cause === undefined || causes >= CAUSES_MAX
      ? {}
      : { cause: describeError(error.cause, causes + 1) }),
  };
}

/** Lines that cannot be written now are kept up to this size, and further ones are dropped. */
const UNWRITTEN_BYTES_MAX = 256 * 1024;

/** Creates a log of JSON lines on standard output, with secrets removed from every field. */
export function createLog(processName: string, level: LogLevel): Logger {
  const options: LoggerOptions = {
    level,
    base: { process: processName, pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    serializers: { err: (error) => describeError(error), error: (error) => describeError(error) },
    hooks: {
      streamWrite: redact,
      logMethod(args, method) {
        // Without a message, pino would log the error's own message, which `describeError` has not redacted.
        const hasMessage = typeof args[0] === 'string' || args[1] !== undefined;
        method.apply(this, hasMessage ? args : [args[0], 'error']);
      },
    },
  };
  // Synchronous, because an asynchronous write at the exit of the process could be dropped or reordered.
  const output = pino.destination({ dest: 1, sync: true, maxLength: UNWRITTEN_BYTES_MAX });
  // By default, each line would throw while standard output is a file on a full disk.
  output.on('error', () => {});
  return pino(options, output);
}

const REPEATED_PAUSE_MS = 60_000;
/** Bounds the memory for faults with ever-different messages. */
const REPEATED_FAULTS_MAX = 100;

/** Returns a function that logs errors without repetition: the first one immediately, and an equal one at most once a minute. */
export function repeatedFaults(
  log: Logger,
  level: 'warn' | 'error',
  message: string,
): (error: unknown) => void {
  /** When each fault was last logged. */
  const loggedAt = new Map<string, number>();
  return (error) => {
    const fault = JSON.stringify(describeError(error), (key, value: unknown) =>
      key === 'at' ? undefined : value,
    );
    if (performance.now() - (loggedAt.get(fault) ?? -Infinity) < REPEATED_PAUSE_MS) return;
    log[level]({ err: error }, message);
    if (loggedAt.size >= REPEATED_FAULTS_MAX) loggedAt.clear();
    loggedAt.set(fault, performance.now());
  };
}
