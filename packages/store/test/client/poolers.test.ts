import { readFileSync } from 'node:fs';
import {
  changeSend,
  closeDatabase,
  createSend,
  findSend,
  openDatabase,
  refuseUnusableDatabase,
  UnusableDatabase,
  type Database,
  type Pooler,
} from '@onecode/store';
import { migrate } from '@onecode/store/migrations';
import { buildCaller, buildSend, concurrently, describeIf, newSend, useTestDatabase } from '@onecode/testing';
import { Processes } from '../../../../scripts/processes/processes.mjs';
import { findPgBouncer, startPgBouncer } from '../../../../scripts/services/pgbouncer.mjs';

const IGNORING = 'options,statement_timeout,idle_in_transaction_session_timeout';
const WITHOUT_STATEMENTS = findPgBouncer({ keepsStatements: false });
const WITH_STATEMENTS = findPgBouncer({ keepsStatements: true });

const store = useTestDatabase();
let processes: Processes;
const open: Database[] = [];
beforeAll(() => {
  processes = Processes.throwaway();
});
afterEach(async () => {
  await Promise.all(open.splice(0).map(closeDatabase));
});
afterAll(() => processes.stop());

const databaseName = (): string => new URL(store.url).pathname.slice(1);

/** What deploy/pgbouncer/pgbouncer.ini runs on each session of an entry. */
function connectQuery(entry: string): string {
  const file = readFileSync(new URL('../../../../deploy/pgbouncer/pgbouncer.ini', import.meta.url), 'utf8');
  return new RegExp(`^${entry} = .* connect_query='(.*)'$`, 'm').exec(file)![1]!;
}

/** The address of a PgBouncer with these settings. */
async function poolerUrl(
  program: typeof WITH_STATEMENTS,
  settings: Record<string, string | number>,
  connectQuery?: string,
): Promise<string> {
  const given = { processes, url: store.url, settings, ...(connectQuery !== undefined && { connectQuery }) };
  return (await startPgBouncer(program!, given)).url;
}

function openAt(
  url: string,
  pooler: Pooler,
  more: Partial<Parameters<typeof openDatabase>[1]> = {},
): Database {
  const database = openDatabase(url, { connectionsMax: 4, pooler, ...more });
  open.push(database);
  return database;
}

const refusalOf = (database: Database): Promise<unknown> =>
  refuseUnusableDatabase(database).catch((error: unknown) => error);

/** Seconds between a send's creation as the database has it and as it is read, and the other way round. */
async function shifts(database: Database): Promise<{ read: number; written: number }> {
  const caller = await buildCaller(database, 'test');
  const id = await buildSend(database, caller);
  const { send, now } = (await findSend(database, caller.accountId, id))!;
  await database.prisma.send.update({ where: { id }, data: { verifiedAt: now, verification: 'verified' } });
  const [row] = await store.sql<{ created: number; verified: number }>(
    `select extract(epoch from created_at)::float8 as created, extract(epoch from verified_at)::float8 as verified
     from sends where id = $1`,
    [id],
  );
  return {
    read: send.createdAt.getTime() / 1000 - row!.created,
    written: now.getTime() / 1000 - row!.verified,
  };
}

/** The ways in which processes use a database, from many connections at once. */
async function useOf(database: Database): Promise<void> {
  const caller = await buildCaller(database, 'test', { ratePerMinute: 10_000 });
  // Ten at a time: all forty would wait for few connections, longer than a transaction may on a busy machine.
  await concurrently(Array.from({ length: 40 }).keys(), 10, async (n) => {
    const id = await buildSend(database, caller);
    expect(await findSend(database, caller.accountId, id)).toMatchObject({ send: { id } });
    expect(await changeSend(database, { id }, () => ({ result: 'seen' }))).toBe('seen');
    const wanted = newSend(caller, { idempotencyKey: `key ${n}`, body: 'same' });
    expect(await createSend(database, wanted)).toHaveProperty('send');
    await database.transaction(async ({ prisma, sql }) => {
      const [row] = await sql.query<[{ id: string }]>`select id from sends where id = ${id}::uuid for update`;
      expect(row.id).toBe(id);
      await prisma.send.update({ where: { id }, data: { verification: 'pending' } });
    });
  });
}

describe('times', () => {
  it.each(['Asia/Kathmandu', 'America/Sao_Paulo', 'UTC'])(
    'are the same in a session whose zone became %s after it was checked',
    async (zone) => {
      const database = openAt(store.url, 'none', { connectionsMax: 1 });
      await database.sql.query`select set_config('TimeZone', ${zone}, false)`;
      const { read, written } = await shifts(database);
      expect(read).toBeCloseTo(0, 2);
      expect(written).toBeCloseTo(0, 2);
      const time = new Date('2026-02-28T23:59:59.123Z');
      const statement = (connection: Pick<Database, 'sql'>) =>
        connection.sql.query<[object]>`select ${time}::timestamptz as one, ${[time]}::timestamptz[] as list`;
      expect(await statement(database)).toEqual([{ one: time, list: [time] }]);
      expect(await database.transaction(statement)).toEqual([{ one: time, list: [time] }]);
    },
  );

  it('in another form than ISO are refused instead of guessed', async () => {
    const database = openAt(store.url, 'none', { connectionsMax: 1 });
    await database.sql.query`select set_config('DateStyle', 'SQL, DMY', false)`;
    await expect(database.sql.query`select clock_timestamp() as now`).rejects.toThrow(
      'another form than ISO',
    );
  });
});

const NO_OLD = WITHOUT_STATEMENTS === null ? ' (skipped: its package cannot be had on this machine)' : '';
describeIf(WITHOUT_STATEMENTS !== null)(`PgBouncer before 1.21${NO_OLD}`, () => {
  beforeAll(() => store.sql(`alter database ${databaseName()} set timezone = 'America/Sao_Paulo'`));
  afterAll(() => store.sql(`alter database ${databaseName()} reset all`));

  it('is named as a pooler where it refuses our parameters', async () => {
    const url = await poolerUrl(WITHOUT_STATEMENTS, { pool_mode: 'session' });
    const error = await refusalOf(openAt(url, 'none'));
    expect(error).toBeInstanceOf(UnusableDatabase);
    expect((error as Error).message).toMatch(/refuses our start-up parameters: set DATABASE_POOLER to/);
  });

  it('that was told to ignore our parameters is not used before DATABASE_POOLER says what it is', async () => {
    const url = await poolerUrl(WITHOUT_STATEMENTS, {
      pool_mode: 'session',
      ignore_startup_parameters: IGNORING,
    });
    const database = openAt(url, 'none');
    const error = await refusalOf(database);
    expect(error).toBeInstanceOf(UnusableDatabase);
    expect((error as Error).message).toMatch(/drops our start-up parameters: set DATABASE_POOLER to/);
    await expect(database.sql.query`select 1`).rejects.toThrow(UnusableDatabase);
  });

  it('is noticed where it ignores our parameters and its sessions have all of our settings', async () => {
    const settings = { pool_mode: 'transaction', ignore_startup_parameters: IGNORING };
    const url = await poolerUrl(WITHOUT_STATEMENTS, settings, connectQuery('onecode'));
    const error = await refusalOf(openAt(url, 'none', { byIndexOnly: true }));
    expect(error).toBeInstanceOf(UnusableDatabase);
    expect((error as Error).message).toMatch(/^a pooler is in the way: set DATABASE_POOLER to/);
  });

  it('works in session mode, on a server outside UTC, with all settings', async () => {
    const database = openAt(await poolerUrl(WITHOUT_STATEMENTS, { pool_mode: 'session' }), 'session', {
      byIndexOnly: true,
    });
    expect(await refusalOf(database)).toBeUndefined();
    const { read, written } = await shifts(database);
    expect(read).toBeCloseTo(0, 2);
    expect(written).toBeCloseTo(0, 2);
    const [row] = await database.sql.query<[object]>`
      select current_setting('TimeZone') as zone, current_setting('enable_seqscan') as scan,
        current_setting('statement_timeout') as bound`;
    expect(row).toEqual({ zone: 'UTC', scan: 'off', bound: '5s' });
    await useOf(database);
  });

  it('is refused in transaction mode, and told as such when it is said to be in session mode', async () => {
    const url = await poolerUrl(WITHOUT_STATEMENTS, { pool_mode: 'transaction' });
    const refusal = await refusalOf(openAt(url, 'transaction'));
    expect(refusal).toBeInstanceOf(UnusableDatabase);
    expect((refusal as Error).message).toMatch(/needs PgBouncer 1\.21 or newer .* max_prepared_statements/);
    const other = await refusalOf(openAt(url, 'session'));
    expect(other).toBeInstanceOf(UnusableDatabase);
    expect((other as Error).message).toMatch(/its pool_mode is transaction$/);
  });
});

const NO_NEW = WITH_STATEMENTS === null ? ' (skipped: its package cannot be had on this machine)' : '';
describeIf(WITH_STATEMENTS !== null)(`PgBouncer from 1.21 on${NO_NEW}`, () => {
  const TRANSACTION = { pool_mode: 'transaction', default_pool_size: 3, max_prepared_statements: 100 };

  beforeAll(() => store.sql(`alter database ${databaseName()} set timezone = 'America/Sao_Paulo'`));
  afterAll(() => store.sql(`alter database ${databaseName()} reset all`));

  it('works in transaction mode, with fewer sessions than connections, on a server outside UTC', async () => {
    const missing: string[][] = [];
    const database = openAt(
      await poolerUrl(WITH_STATEMENTS, TRANSACTION, connectQuery('onecode')),
      'transaction',
      {
        connectionsMax: 12,
        byIndexOnly: true,
        onMissingSettings: (names) => missing.push(names),
      },
    );
    expect(await refusalOf(database)).toBeUndefined();
    const { read, written } = await shifts(database);
    expect(read).toBeCloseTo(0, 2);
    expect(written).toBeCloseTo(0, 2);
    await useOf(database);
    const zones = await Promise.all(
      Array.from({ length: 12 }, async () => {
        const [row] = await database.sql.query<[{ zone: string; pid: number }]>`
          select current_setting('TimeZone') as zone, pg_backend_pid() as pid, pg_sleep(0.05) is null as slept`;
        return row;
      }),
    );
    expect(new Set(zones.map(({ zone }) => zone))).toEqual(new Set(['UTC']));
    expect(new Set(zones.map(({ pid }) => pid)).size).toBeLessThanOrEqual(3);
    expect(missing).toEqual([]);
  });

  it('has what console and command line need by the other entry of deploy/pgbouncer', async () => {
    const missing: string[][] = [];
    const url = await poolerUrl(WITH_STATEMENTS, TRANSACTION, connectQuery('onecode_console'));
    const database = openAt(url, 'transaction', { onMissingSettings: (names) => missing.push(names) });
    await useOf(database);
    expect(missing).toEqual([]);
  });

  it('tells once which settings its sessions lack', async () => {
    const missing: string[][] = [];
    const database = openAt(await poolerUrl(WITH_STATEMENTS, TRANSACTION), 'transaction', {
      byIndexOnly: true,
      onMissingSettings: (names) => missing.push(names),
    });
    await Promise.all(Array.from({ length: 4 }, () => database.sql.query`select pg_sleep(0.1)::text`));
    expect(missing).toHaveLength(1);
    expect(missing[0]).toEqual(
      expect.arrayContaining(['statement_timeout', 'enable_seqscan', 'plan_cache_mode']),
    );
  });

  it('is refused in transaction mode where it keeps no prepared statements', async () => {
    const url = await poolerUrl(WITH_STATEMENTS, { ...TRANSACTION, max_prepared_statements: 0 });
    expect(await refusalOf(openAt(url, 'transaction'))).toBeInstanceOf(UnusableDatabase);
  });

  it('works in session mode', async () => {
    const database = openAt(await poolerUrl(WITH_STATEMENTS, { pool_mode: 'session' }), 'session');
    expect(await refusalOf(database)).toBeUndefined();
    await useOf(database);
  });

  it('is no way to migrate in transaction mode, and is one in session mode', async () => {
    const shared = await poolerUrl(WITH_STATEMENTS, TRANSACTION);
    await expect(migrate(shared)).rejects.toThrow(/MIGRATE_DATABASE_URL must lead to PostgreSQL itself/);
    expect(await migrate(await poolerUrl(WITH_STATEMENTS, { pool_mode: 'session' }))).toEqual([]);
  });

  it('keeps its settings when a migration through it is refused', async () => {
    const missing: string[][] = [];
    const url = await poolerUrl(
      WITH_STATEMENTS,
      { ...TRANSACTION, default_pool_size: 1 },
      connectQuery('onecode'),
    );
    await expect(migrate(url)).rejects.toThrow(UnusableDatabase);
    const database = openAt(url, 'transaction', {
      byIndexOnly: true,
      onMissingSettings: (names) => missing.push(names),
    });
    expect(await refusalOf(database)).toBeUndefined();
    expect(missing).toEqual([]);
  });

  it('is seen to share sessions while other clients take them in turn', async () => {
    const url = await poolerUrl(WITH_STATEMENTS, TRANSACTION);
    const others = openAt(url, 'transaction', { connectionsMax: 12 });
    let isOver = false;
    const load = Array.from({ length: 12 }, async () => {
      while (!isOver) await others.sql.query`select pg_sleep(0.001)::text`;
    });
    try {
      for (let n = 0; n < 5; n += 1)
        await expect(refusalOf(openAt(url, 'session'))).resolves.toBeInstanceOf(UnusableDatabase);
    } finally {
      isOver = true;
      await Promise.all(load);
    }
  });
});
