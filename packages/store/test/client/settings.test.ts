import { settle } from '@onecode/domain';
import { findDatabaseFault, pingDatabase, UnusableDatabase, type Database } from '@onecode/store/client';
import { listSends, overview, searchAccounts } from '@onecode/store/reports';
import { changeSend, createSend, findSend, openDeliveries, applyRetention } from '@onecode/store/sends';
import { migrate, readMigrations } from '@onecode/store/migrations';
import {
  applyTestReports,
  buildCaller,
  buildHostileRole,
  buildRole,
  buildSender,
  createEmptyDatabase,
  dropRoles,
  guessCode,
  HOSTILE_DEFAULTS,
  newSend,
  type TestDatabase,
} from '@onecode/testing';
import { TERMS } from '../sends/sendActions.js';
import { withDatabase } from './withDatabase.js';

const TOGETHER = 8;
const DAY_MS = 86_400_000;

let store: TestDatabase;
beforeEach(async () => {
  store = await createEmptyDatabase();
});
afterEach(async () => {
  await dropRoles(store);
  await store.drop();
});

const owner = (): string => new URL(store.url).username;
const databaseName = (): string => new URL(store.url).pathname.slice(1);
const schemasOfTables = async (): Promise<string[]> =>
  (
    await store.sql<{ schema: string }>(
      `select distinct schemaname as schema from pg_tables where tablename in ('sends', '_prisma_migrations') order by 1`,
    )
  ).map(({ schema }) => schema);

/** Uses a database like a deployment does, concurrently where that makes a difference. */
async function useDatabase(database: Database): Promise<void> {
  const name = `Padaria ${databaseName()}`;
  const caller = await buildCaller(database, 'live', { name, credits: 100, ratePerMinute: 10_000 });
  await buildSender(database);
  const wanted = Array.from({ length: TOGETHER }, (_, n) =>
    newSend(caller, {
      idempotencyKey: `${n}\\`,
      traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`,
    }),
  );
  const created = await Promise.all(
    // Each creation is in a separate batch, because all of them change one account.
    wanted.map(async (send, n) => {
      for (let turn = 0; turn < n; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      return createSend(database, send);
    }),
  );
  expect(created.map(({ outcome }) => outcome)).toEqual(wanted.map(() => 'created'));

  const deliveries = openDeliveries(database, TERMS.leaseMs);
  await Promise.all(
    wanted.map(async ({ id }, n) => {
      expect(await deliveries.take(id)).toMatchObject({ phase: 'calling' });
      const messageId = `wamid.${id}`;
      await changeSend(database, { id }, (send, now) =>
        settle(send, now, 1, { kind: 'accepted', messageId }, TERMS.policy),
      );
      const receipt = {
        messageId,
        attempt: { sendId: id, number: 1 },
        occurredAt: new Date(),
        failure: null,
      };
      await applyTestReports(database, { receipts: [{ ...receipt, status: 'delivered' }] });
      expect(await guessCode(database, id, n % 2 === 0)).toMatchObject({ valid: n % 2 === 0 });
    }),
  );
  await applyTestReports(database, {});
  for (const [n, { id }] of wanted.entries()) {
    const send = (await findSend(database, { id, accountId: caller.accountId }))!;
    expect(send).toMatchObject({
      status: 'delivered',
      verification: n % 2 === 0 ? 'verified' : 'pending',
    });
    expect(Math.abs(send.now.getTime() - send.createdAt.getTime())).toBeLessThan(60_000);
  }

  expect(await applyRetention(database, new AbortController().signal)).toEqual({
    numbersReplaced: 0,
    sendsDeleted: 0,
  });
  const { totals } = await overview(database, caller.accountId, {
    from: new Date(Date.now() - DAY_MS),
    to: new Date(Date.now() + DAY_MS),
    bucket: 'day',
    timeZone: 'America/Sao_Paulo',
  });
  expect(totals).toMatchObject({ sends: TOGETHER, delivered: TOGETHER, verified: TOGETHER / 2 });
  const { sends } = await listSends(database, caller.accountId, {}, { limit: 100 });
  expect(sends).toHaveLength(TOGETHER);
  const found = await searchAccounts(database, { text: 'padaria', limit: 10 });
  expect(found.map(({ id }) => id)).toContain(caller.accountId);
}

/** A schema of other programs with tables and functions that have the same names as ours. */
const buildDecoy = (schema: string) =>
  store.sql(
    `create schema ${schema};
     create table ${schema}.sends (id text);
     create table ${schema}.accounts (id text);
     create table ${schema}._prisma_migrations (id text);
     create function ${schema}.is_held(text[], uuid, text) returns integer language sql return 1;
     grant all on schema ${schema} to public;
     grant all on all tables in schema ${schema} to public`,
  );

const isLong = process.env['ALL_TESTS'] === '1';
/** Defaults that break a session unless it requests its own settings. */
const HARMFUL_DEFAULTS = HOSTILE_DEFAULTS.filter(([name]) =>
  ['default_transaction_isolation', 'standard_conforming_strings', 'search_path'].includes(name),
);

describe('session defaults', () => {
  it('have no effect if a role has them, starting with the first migration', async () => {
    await buildDecoy('decoy');
    const url = await buildHostileRole(store, '1ms');
    expect(await migrate(url)).toEqual((await readMigrations()).map(({ name }) => name));
    await withDatabase(url, useDatabase, 6);
  });

  it('have no effect if the database has them, each on its own', async () => {
    await migrate(store.url);
    await buildDecoy('decoy');
    for (const [name, value] of isLong ? HOSTILE_DEFAULTS : HARMFUL_DEFAULTS) {
      await store.sql(`alter database ${databaseName()} set ${name} = '${value}'`);
      try {
        await withDatabase(store.url, useDatabase, 6);
        expect(await migrate(store.url)).toEqual([]);
      } catch (error) {
        throw new Error(`${name} = '${value}' changes something`, { cause: error });
      }
      await store.sql(`alter database ${databaseName()} reset all`);
    }
  });

  it('end no statement, idle session or migration if they are time-outs', async () => {
    const setDefault = (name: string, value: string) =>
      store.sql(`alter database ${databaseName()} set ${name} = '${value}'`);
    const [server] = await store.sql<{ version: number }>(
      `select current_setting('server_version_num')::integer as version`,
    );
    if (server!.version >= 170_000) await setDefault('transaction_timeout', '100ms');
    await migrate(store.url);
    const names = ['lock_timeout', 'idle_session_timeout'];
    for (const name of names) await setDefault(name, '1min');
    const values = await withDatabase(
      store.url,
      ({ sql }) => sql.query`select name, setting from pg_settings where name = any(${names}::text[])`,
    );
    expect(values).toEqual(expect.arrayContaining(names.map((name) => ({ name, setting: '0' }))));
  });

  it('do not include the encoding of the database, which is reported', async () => {
    const ascii = `${databaseName()}_ascii`;
    await store.sql(`create database ${ascii} template template0 encoding 'SQL_ASCII' locale 'C'`);
    const url = Object.assign(new URL(store.url), { pathname: `/${ascii}` }).href;
    const reason = "server_encoding is 'SQL_ASCII' instead of 'UTF8'";
    expect(await withDatabase(url, findDatabaseFault)).toContain(reason);
    await expect(migrate(url)).rejects.toThrow(reason);
    await store.sql(`drop database ${ascii}`);
  });

  it('make every connection fail if they make a role read-only', async () => {
    await migrate(store.url);
    const { url, role } = await buildRole(store);
    await store.sql(`alter role ${role} set default_transaction_read_only = on`);
    await withDatabase(url, async (database) => {
      await expect(pingDatabase(database)).rejects.toThrow(
        'no server in DATABASE_URL accepts writes: they are standbys, or default_transaction_read_only is on',
      );
    });
  });
});

describe('the schema of all tables', () => {
  it('is public, even for a role with a schema of its own name', async () => {
    const { url, role } = await buildRole(store);
    await buildDecoy(role);
    await migrate(url);
    expect(await schemasOfTables()).toEqual([role, 'public']);
    await withDatabase(url, useDatabase, 6);
    await store.sql(`drop schema ${role} cascade`);
    await withDatabase(url, useDatabase, 6);
  });

  it('is reported with the remedy if it is missing or if the role may not create tables in it', async () => {
    const { url, role } = await buildRole(store);
    await store.sql(`alter schema public owner to current_user`);
    await store.sql(`revoke all on schema public from public`);
    await store.sql(`revoke ${owner()} from ${role}`);
    const refused = async (message: string): Promise<void> => {
      await expect(migrate(url)).rejects.toThrow(UnusableDatabase);
      await expect(migrate(url)).rejects.toThrow(message);
    };
    await refused(
      `the role ${role} may not create tables in the schema public: grant create on schema public to ${role}`,
    );
    await store.sql(`drop schema public`);
    await refused(`the database has no schema public: create schema public authorization ${role}`);
  });
});
