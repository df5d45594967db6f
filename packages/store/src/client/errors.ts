import pg from 'pg';

/** The database or its address is misconfigured. The message is one line for operators, without secrets. */
export class UnusableDatabase extends Error {}

/**
 * PostgreSQL rejected a statement. `code` is its SQLSTATE with a prefix, because the queue board does not show it without one. PostgreSQL's
 * detail is omitted, because it quotes rows.
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

/** Sentences about connection errors, by SQLSTATE, Node's code, Prisma's code, or the message of an error without a code of its own. */
const FAULTS: readonly [RegExp, string][] = [
  [
    // The prepared statement is missing or exists already: the session belonged to another client.
    /^(?:26000|42P05)$/,
    'the pooler does not support prepared statements: PgBouncer 1.21 and later do, with max_prepared_statements above 0',
  ],
  [
    /unsupported startup parameter/,
    'the pooler rejects session settings: set DATABASE_POOLER=transaction (docs/operations.md#poolers)',
  ],
  [/^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|P1001)$/, 'the database cannot be reached'],
  [/^(?:ETIMEDOUT|P1008)$|^Connection terminated/, 'the database does not respond'],
  [/^(?:ECONNRESET|P1017)$|^Client has encountered a connection error/, 'the database closed the connection'],
  [
    /CERT|CRL|ISSUER|LEAF|INVALID_CA|INVALID_PURPOSE|HOSTNAME_MISMATCH|^ERR_(?:TLS|SSL)|SSL connection|^P1011$/,
    'TLS with the database failed: check sslmode and the certificate',
  ],
  [/^(?:53300|P2037)$/, 'the database has no free connection'],
  [/^(?:28P01|P1000)$/, 'the database refused the user or the password in DATABASE_URL'],
  [/^(?:28000|P1010)$/, 'the user in DATABASE_URL may not use the database from here, or only with TLS'],
  [/^(?:3D000|P1003)$/, 'the database in DATABASE_URL does not exist'],
];

/** Returns why the process could not connect to the database, as text without secrets; null for any other error. */
export function connectionFault(error: unknown): string | null {
  const { code, message = '', cause } = error as { code?: string; message?: string; cause?: unknown };
  const ownCode = readSqlState(error) ?? code;
  // PgBouncer reports most of its errors as 08P01, such as `query_wait_timeout`.
  const key = ownCode === undefined || ownCode === '08P01' ? message : ownCode;
  const fault = FAULTS.find(([pattern]) => pattern.test(key))?.[1];
  return fault ?? (cause === undefined ? null : connectionFault(cause));
}
