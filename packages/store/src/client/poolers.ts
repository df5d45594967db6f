import pg from 'pg';
import { closeClient, type SettingsClient } from './connection.js';

/** The database answers, and must not be used as it is configured. The message is one line for operators, and holds no secret. */
export class UnusableDatabase extends Error {}

/** What stands before PostgreSQL, as PgBouncer's `pool_mode`: nothing, or what gives a session to each connection or transaction. */
export type Pooler = 'none' | 'session' | 'transaction';

/** A named statement whose name no other session has, unless a pooler passes names on. */
const PROBE: pg.QueryConfig = {
  name: 'onecode_probe',
  text: `select exists (select from pg_prepared_statements where name = 'onecode_probe') as "isNamed"`,
};
/** How often two connections are compared: other clients of a pooler take sessions in between. */
const COMPARISONS = 10;

/**
 * Looks what a connection leads through.
 *
 * @param connect opens two more, which set nothing that would stay in sessions of others
 * @throws UnusableDatabase where one client's prepared statements would meet another's
 */
export async function findPooler(client: SettingsClient, connect: () => Promise<pg.Client>): Promise<Pooler> {
  // A pooler names another process of PostgreSQL at the start of a connection than the one that serves it.
  if ((await sessionOf(client)) === client.processID) return 'none';
  if (!(await sharesSessions(connect))) return 'session';
  if (await passesNamesOn(client))
    throw new UnusableDatabase(
      'the pooler shares sessions and does not keep prepared statements: in transaction mode PgBouncer does from 1.21 on, with max_prepared_statements above 0',
    );
  return 'transaction';
}

/** Whether a pooler gives one session to several connections. Two are made and closed. */
async function sharesSessions(connect: () => Promise<pg.Client>): Promise<boolean> {
  const [one, two] = [await connect(), await connect()];
  try {
    const own = await sessionOf(one);
    for (let n = 0; n < COMPARISONS; n += 1) {
      // While this transaction keeps a session, the other connection gets a different one, unless it has its own.
      await two.query('begin');
      const isSame = (await sessionOf(two)) === own || (await sessionOf(one)) !== own;
      await two.query('rollback');
      if (isSame) return true;
    }
    return false;
  } finally {
    closeClient(one);
    closeClient(two);
  }
}

async function sessionOf(client: pg.Client): Promise<number | undefined> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  return rows[0]?.pid;
}

async function passesNamesOn(client: pg.Client): Promise<boolean> {
  try {
    const { rows } = await client.query<{ isNamed: boolean }>(PROBE);
    return rows[0]?.isNamed === true;
  } catch (error) {
    // Another client has left the name in the session.
    if ((error as pg.DatabaseError).code === '42P05') return true;
    throw error;
  }
}
