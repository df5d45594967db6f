import { pino, type Logger } from 'pino';

export type { Logger } from 'pino';

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** What must never be written, wherever in a line it stands: keys, credentials, message ids, phone numbers. */
const SECRETS: readonly [RegExp, string][] = [
  [/ak_(test|live)_[0-9A-Za-z]+/g, 'ak_$1_[removed]'],
  [/Bearer\s+[^\s"\\]+/gi, 'Bearer [removed]'],
  [/wamid\.[0-9A-Za-z+/=_-]+/g, 'wamid.[removed]'],
  [/\+[1-9][0-9]{6,14}(?![0-9])/g, '+[removed]'],
  [/([a-z]+:\/\/)[^\s"@/]+@/gi, '$1[removed]@'],
];

/** Removes secrets from a text. */
export function redact(line: string): string {
  return SECRETS.reduce((rest, [pattern, replacement]) => rest.replace(pattern, replacement), line);
}

/**
 * What is logged of an error: its kind, code, where it arose, and its message without any run of digits, because drivers quote
 * rows and parameters in their messages.
 */
export function describeError(error: unknown): object {
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
      .filter((line) => /^\s+at /.test(line))
      .slice(0, 8)
      .map((line) => line.trim()),
    ...(error.cause === undefined ? {} : { cause: describeError(error.cause) }),
  };
}

/** Structured lines on standard output, one JSON object each, with secrets removed whatever field they hide in. */
export function createLog(processName: string, level: LogLevel): Logger {
  return pino({
    level,
    base: { process: processName, pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    serializers: { err: describeError, error: describeError },
    hooks: { streamWrite: redact },
  });
}
