import { refusedBy } from './sql.js';

/** By the kind that the driver adapter gives. The driver's own messages may quote values. */
const FAULTS: Readonly<Record<string, string>> = {
  DatabaseNotReachable: 'the database cannot be reached',
  SocketTimeout: 'the database does not answer',
  ConnectionClosed: 'the database closed the connection',
  TlsConnectionError: 'the database and this process agree on no TLS, or on no certificate',
  TooManyConnections: 'the database has no connection left',
  AuthenticationFailed: 'the database refused the user or the password in DATABASE_URL',
  DatabaseAccessDenied: 'the user in DATABASE_URL may not use the database from here, or only with TLS',
  DatabaseDoesNotExist: 'the database that DATABASE_URL names does not exist',
};

/** The adapter's kinds by SQLSTATE, for the driver's own errors: a wrong password or role, or a line of pg_hba.conf. */
const REFUSALS: Readonly<Record<string, string>> = {
  '28P01': 'AuthenticationFailed',
  '28000': 'DatabaseAccessDenied',
};

const refusalOf = (error: unknown): string | undefined => REFUSALS[(error as { code?: string }).code ?? ''];

/** Returns whether the server rejected the user or password. Retrying does not help. */
export const isRefusal = (error: unknown): boolean => refusalOf(error) !== undefined;

/** The prepared statement is missing or exists already: the session belonged to another client. */
const LOST_STATEMENT = /^(?:26000|42P05)$/;

/** Why there was no usable connection to the database, in words without a secret; null for any other error. */
export function connectionFault(error: unknown): string | null {
  if (LOST_STATEMENT.test(refusedBy(error)?.code ?? ''))
    return 'the pooler keeps no prepared statements: PgBouncer does from 1.21 on, with max_prepared_statements above 0';
  return FAULTS[refusedBy(error)?.kind ?? refusalOf(error) ?? ''] ?? null;
}
