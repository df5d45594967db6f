import { runbookPath } from '@onecode/domain';
import { databaseAddress, DATABASE_POOLER, readConfig } from '@onecode/runtime/config';
import {
  closeDatabase,
  findSettingsFault,
  isLostConnection,
  openDatabase,
  pingDatabase,
  readSqlState,
  UnusableDatabase,
  type Database,
  type DatabaseOptions,
} from '@onecode/store/client';
import type { Actor } from '@onecode/store/operations';
import { actor } from './actor.js';
import { environment } from './environment.js';
import { found, UserError } from './errors.js';

/** The one variable that every command needs. */
export const DATABASE_URL = databaseAddress();

const TOO_LONG = `the database took too long, for example because of a lock or a backup: see ${runbookPath('postgresql_overloaded')}`;

/** Why the command failed, by SQLSTATE or Prisma's code. */
const FAULTS: Readonly<Record<string, string>> = {
  '22003': 'a number would exceed 2147483647',
  '42501': 'the role in DATABASE_URL lacks a privilege: run onecode doctor to see which',
  '42703': 'the database has the schema of another version: run npm run migrate',
  '42P01': 'the database has no tables, or those of an older release: run npm run migrate',
  '57014': TOO_LONG,
  P2028: TOO_LONG,
};

/** Opens the database for one command. @throws ConfigError, or UserError when the database fails */
export async function withDatabase<R>(
  use: (database: Database) => Promise<R>,
  options: Pick<DatabaseOptions, 'timeouts'> = {},
): Promise<R> {
  const config = readConfig(environment(), { DATABASE_URL, DATABASE_POOLER });
  const pooler = config.DATABASE_POOLER;
  const database = openDatabase(config.DATABASE_URL, { connectionsMax: 1, pooler, ...options });
  try {
    await pingDatabase(database).catch((error: NodeJS.ErrnoException) => {
      if (error instanceof UnusableDatabase) throw error;
      // Errors of connections to several addresses have no message, and those of OpenSSL end with a line break.
      throw new UnusableDatabase(`the database cannot be used (${error.message.trim() || error.code})`);
    });
    const fault = await findSettingsFault(database.pool);
    if (fault !== null) throw new UnusableDatabase(fault);
    return await use(database);
  } catch (error) {
    throw toUserError(error) ?? error;
  } finally {
    await closeDatabase(database);
  }
}

/**
 * Runs a change with the command line's actor.
 *
 * @param what names the changed thing in the error when there is none with the id
 * @throws as `withDatabase`, and UserError when the change returns null
 */
export async function changed<Result>(
  what: string,
  change: (...by: [database: Database, actor: Actor]) => Promise<Result | null>,
): Promise<Result> {
  return found(what, await withDatabase((database) => change(database, actor())));
}

function toUserError(error: unknown): UserError | null {
  if (error instanceof UnusableDatabase) return new UserError(error.message);
  const code = readSqlState(error) ?? (error as { code?: string }).code ?? '';
  const reason = FAULTS[code];
  if (reason !== undefined) return new UserError(reason);
  if (isLostConnection(error as Error) || /^(?:P1\d{3}|ECONNREFUSED)$/.test(code))
    return new UserError('the connection to the database was lost');
  return /^[0-9A-Z]{5}$/.test(code) ? new UserError(`the database refused the command (${code})`) : null;
}
