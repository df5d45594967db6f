import { inspect } from 'node:util';
import {
  closeDatabase,
  findDatabaseFault,
  openDatabase,
  pingDatabase,
  readSqlState,
  type Connection,
  type Database,
} from '@onecode/store/client';
import { changeSend, createSend, findSend } from '@onecode/store/sends';
import {
  buildCaller,
  buildSend,
  newSend,
  startTcpProxy,
  until,
  useTestDatabase,
  type TcpProxy,
} from '@onecode/testing';
import { createBatcher } from '../../src/client/batcher.js';
import { prismaSql } from '../../src/client/sql.js';
import { withDatabase } from './withDatabase.js';

const store = useTestDatabase();

describe('connections', () => {
  describe('a connection', () => {
    afterEach(() => store.sql(`alter database ${new URL(store.url).pathname.slice(1)} reset all`));

    it.each([
      ['timezone', 'America/Sao_Paulo'],
      ['timezone', 'Asia/Kathmandu'],
      ['datestyle', 'SQL, DMY'],
      ['bytea_output', 'escape'],
    ])('reads and writes the same values on a server with %s set to %s', async (name, value) => {
      await store.sql(`alter database ${new URL(store.url).pathname.slice(1)} set ${name} = '${value}'`);
      await withDatabase(store.url, async (database) => {
        const caller = await buildCaller(database, 'live');
        const id = await buildSend(database, caller);
        const send = (await findSend(database, { id, accountId: caller.accountId }))!;
        const [row] = await store.sql<{ created: number; now: number; code: string }>(
          `select extract(epoch from created_at)::float8 as created, extract(epoch from clock_timestamp())::float8 as now,
             encode(encrypted_code, 'hex') as code from sends where id = $1`,
          [id],
        );
        expect(send.createdAt.getTime() / 1000).toBe(row!.created);
        expect(Math.abs(send.now.getTime() / 1000 - row!.now)).toBeLessThan(60);
        expect(Buffer.from(send.encryptedCode!).toString('hex')).toBe(row!.code);
        await database.prisma.send.update({
          where: { id },
          data: { verifiedAt: send.now, verification: 'verified' },
        });
        expect((await findSend(database, { id, accountId: caller.accountId }))!.verifiedAt).toEqual(send.now);
      });
    });

    it('reads and writes correct times in any session time zone', async () => {
      await withDatabase(
        store.url,
        async (database) => {
          const time = new Date('2026-02-28T23:59:59.123Z');
          for (const zone of ['Asia/Kathmandu', 'America/Sao_Paulo']) {
            await database.sql.query`select set_config('TimeZone', ${zone}, false)`;
            const rows = await database.sql
              .query`select ${time}::timestamptz as one, (${[time]}::timestamptz[])[1] as listed`;
            expect(rows).toEqual([{ one: time, listed: time }]);
          }
        },
        1,
      );
    });

    it.each([
      ['TimeZone', 'Asia/Kathmandu', 'UTC'],
      ['DateStyle', 'SQL, DMY', 'ISO'],
    ])(
      'is reported if its %s is changed, because a transaction would shift times',
      async (name, value, wanted) => {
        await withDatabase(
          store.url,
          async (database) => {
            expect(await findDatabaseFault(database)).toBeNull();
            await database.sql.query`select set_config(${name}, ${value}, false)`;
            expect(await findDatabaseFault(database)).toContain(
              `${name} is '${value}' instead of '${wanted}'`,
            );
          },
          1,
        );
      },
    );

    it('is reported and replaced if it breaks while idle', async () => {
      const reported: Error[] = [];
      const database = openDatabase(store.url, {
        connectionsMax: 1,
        onConnectionError: (error) => reported.push(error),
      });
      const [{ pid }] = await database.sql.query<[{ pid: number }]>`select pg_backend_pid() as pid`;
      await store.sql('select pg_terminate_backend($1)', [pid]);
      while (reported.length === 0) await new Promise((resolve) => setImmediate(resolve));
      const [after] = await database.sql.query<[{ pid: number }]>`select pg_backend_pid() as pid`;
      expect(after.pid).not.toBe(pid);
      await closeDatabase(database);
    });

    it('times out if the pool is exhausted or the server is silent', async () => {
      const proxy = await startTcpProxy(store.url);
      const kept = withDatabase(
        store.url,
        async (database) => {
          const long = database.sql.query`select pg_sleep(4.5) is null`.then(() => 'done');
          await expect(pingDatabase(database)).rejects.toThrow();
          expect(await long).toBe('done');
          await expect(pingDatabase(database)).resolves.toBeUndefined();
        },
        1,
      );
      const silent = withDatabase(proxy.url, async (database) => {
        await pingDatabase(database);
        proxy.freeze('replies');
        await expect(pingDatabase(database)).rejects.toThrow();
        await proxy.open();
        await expect(pingDatabase(database)).resolves.toBeUndefined();
      });
      await Promise.all([kept, silent]);
      await proxy.close();
    });

    it('keeps working with its prepared statements after a migration adds a column', async () => {
      const caller = await buildCaller(store.database, 'test');
      await withDatabase(
        store.url,
        async (database) => {
          const id = await buildSend(database, caller);
          const use = async (): Promise<void> => {
            expect(await findSend(database, { id, accountId: caller.accountId })).toMatchObject({ id });
            const wanted = { idempotencyKey: 'repeated', body: 'same' };
            expect(await createSend(database, newSend(caller, wanted))).toHaveProperty('send');
            expect(await changeSend(database, { id }, () => ({ result: 'seen' }))).toBe('seen');
          };
          await use();
          await store.sql('alter table sends add column of_the_next_release integer');
          await use();
        },
        1,
      );
    });
  });

  describe('a silent connection', () => {
    const TIMEOUTS = { connectionMs: 10_000, statementMs: 1_500 };
    let proxy: TcpProxy;
    let database: Database;
    beforeEach(async () => {
      proxy = await startTcpProxy(store.url);
      database = openDatabase(proxy.url, { connectionsMax: 3, timeouts: TIMEOUTS });
    });
    afterEach(async () => {
      await proxy.open();
      proxy.hangUp();
      await closeDatabase(database);
      await proxy.close();
    });

    type Statement = 'query' | 'read';
    const backend = async (
      statement: Statement,
      seconds = 0,
      { sql }: Pick<Connection, 'sql'> = database,
    ): Promise<number> => {
      const [row] = await sql[statement]<[{ pid: number }]>`
        select pg_backend_pid() as pid, pg_sleep(${seconds}) is null as slept`;
      return row.pid;
    };
    /** Runs a statement on each connection of a full pool. @returns the connections' PostgreSQL process ids */
    const useAll = (statement: Statement) => Promise.all([1, 2, 3].map(() => backend(statement, 0.2)));

    it('is replaced together with all idle connections, and its read is repeated on a new connection', async () => {
      const before = await useAll('query');
      expect(new Set(before).size).toBe(3);
      // The connections are idle for longer than a statement may take.
      await store.sql('select pg_sleep(2.5)');
      proxy.abandon();
      expect(before).not.toContain(await backend('read'));
      for (const pid of await useAll('query')) expect(before).not.toContain(pid);
    });

    it('has its read repeated on a new connection, even if the whole pool is silent', async () => {
      const before = await useAll('read');
      proxy.abandon();
      for (const pid of await useAll('read')) expect(before).not.toContain(pid);
    });

    it('does not delay requests on other connections', async () => {
      await useAll('query');
      await backend('query');
      proxy.abandon('latest');
      let isAnswered = false;
      const delayed = backend('read').finally(() => (isAnswered = true));
      await backend('query');
      expect(isAnswered).toBe(false);
      await delayed;
    });

    it('fails its write or transaction, and is not used again', async () => {
      const silent = await backend('query');
      proxy.abandon('latest');
      await expect(backend('query')).rejects.toThrow('the database does not respond');
      expect(await backend('query')).not.toBe(silent);

      const asked = database.transaction(async (connection) => {
        proxy.abandon('latest');
        await backend('query', 0, connection);
      });
      await expect(asked).rejects.toThrow();
      expect(database.pool.totalCount).toBe(0);
    });

    it('has its read repeated if it breaks, but not if PostgreSQL rejects the read', async () => {
      await backend('read');
      const asked = backend('read', 0.3);
      await until('the statement', async () => {
        const [row] = await store.sql<{ active: boolean }>(
          `select count(*) > 0 as active from pg_stat_activity where query like '%pg_sleep%' and wait_event = 'PgSleep'`,
        );
        return row!.active;
      });
      proxy.hangUp();
      expect(await asked).toEqual(expect.any(Number));
      await expect(database.sql.read`select 1 / ${0}::integer`).rejects.toMatchObject({
        code: 'SQLSTATE_22012',
      });
    });

    it('fails its read while new connections are silent too, until PostgreSQL responds again', async () => {
      await backend('read');
      proxy.freeze('replies');
      await expect(backend('read')).rejects.toThrow();
      await proxy.open();
      expect(await backend('read')).toEqual(expect.any(Number));
    });
  });
});

describe('raw statements', () => {
  const BYTES = new Uint8Array([0, 1, 254, 255]);
  const TIME = new Date('2026-02-28T23:59:59.123Z');

  /** Every type of value that our statements use. */
  const selectEverything = (database: Pick<Connection, 'sql'>) =>
    database.sql.query<[Record<string, unknown>]>`
      select ${7}::integer as whole, 1.5::float8 as part, ${true}::boolean as truth, ${'text — ü'}::text as words,
        9007199254740993::bigint as large, ${12n}::bigint as given_large, gen_random_uuid() is not null as is_id,
        '019a0000-0000-7000-8000-000000000000'::uuid as id, ${BYTES}::bytea as bytes, ${[BYTES, null]}::bytea[] = array[${BYTES}::bytea, null] as is_bytes, ${TIME}::timestamptz as time,
        ${null}::text as nothing, ${JSON.stringify({ a: [1, null] })}::jsonb as document, array[1, 2] as wholes,
        ${['a', null, 'b,"c']}::text[] as texts, ${['019a0000-0000-7000-8000-000000000000']}::uuid[] as ids, '2026-02-28 23:59:59.123456-03'::timestamptz as elsewhere`;

  describe('a raw statement outside of a transaction', () => {
    it('accepts and returns the same values as Prisma’s engine', async () => {
      const [alone] = await selectEverything(store.database);
      const [within] = await store.database.transaction(selectEverything);
      const [byPrisma] = await selectEverything({ sql: prismaSql(store.database.prisma) });
      for (const other of [within, byPrisma]) {
        expect(Object.keys(alone)).toEqual(Object.keys(other));
        expect({ ...alone, bytes: [...(alone['bytes'] as Uint8Array)] }).toEqual({
          ...other,
          bytes: [...(other['bytes'] as Uint8Array)],
        });
      }
      expect(alone).toMatchObject({
        whole: 7,
        is_bytes: true,
        large: 9007199254740993n,
        given_large: 12n,
        time: TIME,
        elsewhere: new Date('2026-03-01T02:59:59.123Z'),
        document: { a: [1, null] },
        texts: ['a', null, 'b,"c'],
        nothing: null,
      });
      expect([...(alone['bytes'] as Uint8Array)]).toEqual([...BYTES]);
    });
  });

  describe('a rejected statement', () => {
    it.each([
      ['a value out of range', 'select (2147483647 + 1)::integer', '22003'],
      ['a missing table', 'select 1 from nowhere', '42P01'],
      ['a duplicate', 'insert into settings default values', '23505'],
      ['a raised error', `do $$ begin raise exception 'no' using detail = 'a secret'; end $$`, 'P0001'],
    ])(
      'throws its SQLSTATE without PostgreSQL’s detail, inside and outside a transaction: %s',
      async (_, text, sqlState) => {
        const statement = Object.assign([text], { raw: [text] });
        const errorOf = (run: Promise<unknown>): Promise<Error> =>
          run.then(
            () => {
              throw new Error('it was not refused');
            },
            (error: Error) => error,
          );
        const alone = await errorOf(store.database.sql.execute(statement));
        const within = await errorOf(store.database.transaction(({ sql }) => sql.execute(statement)));
        expect(within).toEqual(alone);
        for (const error of [alone, within]) {
          expect(error).toMatchObject({ name: 'StatementError', code: `SQLSTATE_${sqlState}` });
          expect(readSqlState(error)).toBe(sqlState);
          expect(inspect(error)).not.toContain('a secret');
        }
        const raw = store.database.prisma.$queryRawUnsafe(text);
        expect(readSqlState(await errorOf(raw))).toBe(sqlState);
      },
    );
  });
});

describe('createBatcher', () => {
  /** Records batches, each of which ends when the test ends it. */
  function heldBatches() {
    const batches: { requests: number[]; answer: () => void; fail: () => void }[] = [];
    const run = (requests: number[]): Promise<number[]> =>
      new Promise((resolve, reject) => {
        batches.push({
          requests,
          answer: () => resolve(requests.map((request) => request * 10)),
          fail: () => reject(new Error('the batch failed')),
        });
      });
    /** Returns the nth batch after it has started. */
    const nth = (count: number) => until(`batch ${count}`, () => batches[count - 1]);
    return { batches, run, nth };
  }

  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  it('runs the requests of one turn together, and requests during a batch in the next batch', async () => {
    const { batches, run, nth } = heldBatches();
    const request = createBatcher(run, { batchSizeMax: 100 });
    const answers = [1, 2].map(request);
    expect((await nth(1)).requests).toEqual([1, 2]);
    answers.push(...[3, 4, 5].map(request));
    await turn();
    expect(batches).toHaveLength(1);
    batches[0]!.answer();
    (await nth(2)).answer();
    expect(await Promise.all(answers)).toEqual([10, 20, 30, 40, 50]);
    expect(batches.map(({ requests }) => requests)).toEqual([
      [1, 2],
      [3, 4, 5],
    ]);
    void request(6);
    expect((await nth(3)).requests).toEqual([6]);
  });

  it('limits the size of a batch', async () => {
    const { batches, run, nth } = heldBatches();
    const request = createBatcher(run, { batchSizeMax: 2 });
    const answers = [1, 2, 3, 4, 5].map(request);
    for (const one of [1, 2, 3]) (await nth(one)).answer();
    expect(await Promise.all(answers)).toEqual([10, 20, 30, 40, 50]);
    expect(batches.map(({ requests }) => requests)).toEqual([[1, 2], [3, 4], [5]]);
  });

  it('fails only the requests of a failed batch', async () => {
    const { run, nth } = heldBatches();
    const request = createBatcher(run, { batchSizeMax: 2 });
    const answers = [1, 2, 3, 4].map((number) =>
      request(number).catch((error: unknown) => (error as Error).message),
    );
    (await nth(1)).answer();
    (await nth(2)).fail();
    const last = request(5);
    (await nth(3)).answer();
    expect(await Promise.all(answers)).toEqual([10, 20, 'the batch failed', 'the batch failed']);
    expect(await last).toBe(50);
  });

  it('starts another batch while one is overdue, up to the limit of concurrent batches', async () => {
    const { batches, run, nth } = heldBatches();
    const request = createBatcher(run, { batchSizeMax: 100, concurrentBatchesMax: 2 });
    const answers = [request(1)];
    await nth(1);
    answers.push(...[2, 3].map(request));
    await nth(2);
    answers.push(request(4));
    batches[1]!.answer();
    (await nth(3)).answer();
    answers.push(request(5));
    (await nth(4)).answer();
    batches[0]!.answer();
    expect(await Promise.all(answers)).toEqual([10, 20, 30, 40, 50]);
    expect(batches.map(({ requests }) => requests)).toEqual([[1], [2, 3], [4], [5]]);
  });
});
