import pg from 'pg';

/** The database or its address is misconfigured. The message is one line for operators, without secrets. */
export class UnusableDatabase extends Error {}

/**
 * PostgreSQL rejected a statement. `code` is its SQLSTATE with a prefix, because the queue board hides codes of an unknown form.
 * PostgreSQL's detail is omitted, because it quotes rows.
 */
class StatementError extends Error {
  override readonly name = 'StatementError';
  readonly code: string;

  constructor(message: string, sqlState: string) {
    super(message);
    this.code = `SQLSTATE_${sqlState}`;
  }
}

/** The fields that Prisma's client adds to its errors. */
interface PrismaError {
  meta?: { driverAdapterError?: { cause?: { originalCode?: string; originalMessage?: string } } };
}

/** Returns PostgreSQL's SQLSTATE for an error of a raw statement, a Prisma query or the driver; undefined for any other error. */
export function readSqlState(error: unknown): string | undefined {
  if (error instanceof StatementError) return error.code.slice('SQLSTATE_'.length);
  if (error instanceof pg.DatabaseError) return error.code;
  return (error as PrismaError).meta?.driverAdapterError?.cause?.originalCode;
}

/** Returns whether a statement gave up waiting for a locked row, after its `lock_timeout`. */
export const isLockTimeout = (error: unknown): boolean =>
  error instanceof Error && readSqlState(error) === '55P03';

/** Rethrows a rejection by PostgreSQL, including one that Prisma reports, as a `StatementError`, and any other error unchanged. */
export function throwStatementError(error: Error): never {
  const sqlState = readSqlState(error);
  if (sqlState === undefined) throw error;
  const { originalMessage } = (error as PrismaError).meta?.driverAdapterError?.cause ?? {};
  throw new StatementError(originalMessage ?? error.message, sqlState);
}

/**
 * Returns whether a statement got no response because its connection broke or was silent. Errors without a code are recognized by the
 * driver's message.
 */
export function isLostConnection(error: Error): boolean {
  return (
    /^(?:08|57P)/.test(readSqlState(error) ?? '') ||
    /^(?:ECONNRESET|EPIPE|ETIMEDOUT)$/.test(String((error as NodeJS.ErrnoException).code)) ||
    /^Connection terminated unexpectedly$|^Client has encountered a connection error/.test(error.message)
  );
}
