import {
  changeSend,
  checkDatabase,
  closeDatabase,
  createSend,
  findSend,
  openDatabase,
  pingDatabase,
  refuseUnusableDatabase,
  UnusableDatabase,
  type Database,
} from '@onecode/store';
import { migrate } from '@onecode/store/migrations';
import {
  buildCaller,
  buildHostileRole,
  buildSend,
  concurrently,
  describeIf,
  dropRoles,
  makeCertificates,
  newSend,
  startTcpProxy,
  until,
  useTestDatabase,
  type TcpProxy,
} from '@onecode/testing';
import { Processes } from '../../../../scripts/processes/processes.mjs';
import { findPgBouncer, startPgBouncer } from '../../../../scripts/services/pgbouncer.mjs';
import { withDatabase } from './withDatabase.js';

const store = useTestDatabase();

describe('an address with several hosts', () => {
  const NOBODY = '127.0.0.1:1';

  /** The test database's address with other hosts, and these parameters. */
  function addressOf(hosts: readonly string[], parameters = ''): string {
    const { username, password, pathname } = new URL(store.url);
    return `postgresql://${username}:${password}@${hosts.join(',')}${pathname}${parameters}`;
  }

  const answers = (database: Database): Promise<boolean> =>
    pingDatabase(database).then(
      () => true,
      () => false,
    );

  let proxies: [TcpProxy, TcpProxy];
  const hosts = (): string[] => proxies.map(({ url }) => new URL(url).host);
  beforeEach(async () => {
    proxies = await Promise.all([startTcpProxy(store.url), startTcpProxy(store.url)]);
  });
  afterEach(() => Promise.all(proxies.map((proxy) => proxy.close())));

  it('leads to the one that answers', async () => {
    const { host } = new URL(store.url);
    for (const two of [
      [NOBODY, host],
      [host, NOBODY],
    ])
      await withDatabase(addressOf(two), pingDatabase);
  });

  it.each(['gone', 'frozen'] as const)('leads to the other one when the first is %s', async (how) => {
    await withDatabase(addressOf(hosts(), '?target_session_attrs=primary'), async (database) => {
      await pingDatabase(database);
      for (const [one, other] of [proxies, proxies.toReversed()] as [TcpProxy, TcpProxy][]) {
        await other.open();
        if (how === 'gone') await one.refuse();
        else one.freeze();
        one.hangUp();
        await until('an answer', () => answers(database));
      }
    });
  });

  it('leads nowhere when none of them takes writes, unless any will do, and to one that does again', async () => {
    const name = new URL(store.url).pathname.slice(1);
    const setReadOnly = (value: 'on' | 'off') =>
      store.sql(
        `begin; set local transaction read write; alter database ${name} set default_transaction_read_only = ${value}; commit`,
      );
    await setReadOnly('on');
    await withDatabase(addressOf(hosts(), '?target_session_attrs=any'), pingDatabase);
    await withDatabase(addressOf(hosts()), async (database) => {
      await expect(pingDatabase(database)).rejects.toThrow('no server of the address takes writes');
      await setReadOnly('off');
      await pingDatabase(database);
      await setReadOnly('on');
      // Connections to a server that has become a standby break.
      for (const proxy of proxies) proxy.hangUp();
      await until('no connection to it', async () => !(await answers(database)));
      expect(await answers(database)).toBe(false);
      await setReadOnly('off');
      await until('an answer', () => answers(database));
    });
  });

  it('is used however late its servers answer', async () => {
    for (const proxy of proxies) proxy.slow(250);
    await withDatabase(addressOf(hosts()), async (database) => {
      await until('an answer', () => answers(database));
      for (const proxy of proxies) proxy.hangUp();
      await until('an answer', () => answers(database));
    });
  });

  it('is an error when nobody is there, which keeps no process from starting', async () => {
    await withDatabase(addressOf([NOBODY, NOBODY]), async (database) => {
      await expect(refuseUnusableDatabase(database)).resolves.toBeUndefined();
      await expect(pingDatabase(database)).rejects.toMatchObject({ cause: { kind: 'DatabaseNotReachable' } });
    });
  });
});

describe('poolers', () => {
  const TRANSACTION = { pool_mode: 'transaction', default_pool_size: 3, max_prepared_statements: 100 };
  const SESSION = { pool_mode: 'session' };
  const IGNORING = {
    ignore_startup_parameters: 'options,statement_timeout,idle_in_transaction_session_timeout',
  };
  const PGBOUNCER = findPgBouncer();

  let processes: Processes;
  const open: Database[] = [];
  beforeAll(async () => {
    processes = Processes.throwaway();
    await store.sql(`alter database ${databaseName()} set timezone = 'America/Sao_Paulo'`);
  });
  afterEach(async () => {
    await Promise.all(open.splice(0).map(closeDatabase));
  });
  afterAll(async () => {
    await processes.stop();
    await dropRoles(store);
  });

  const databaseName = (): string => new URL(store.url).pathname.slice(1);

  /** The address of a PgBouncer with these settings. */
  async function poolerUrl(
    settings: Record<string, string | number>,
    entry?: string,
    url = store.url,
  ): Promise<string> {
    const deployed = entry === undefined ? {} : { entry };
    return (await startPgBouncer(PGBOUNCER!, { processes, url, settings, ...deployed })).url;
  }

  /** Opens a database as API and worker do, or as the console does. @returns it with the names of the settings that its sessions lack */
  function openAt(url: string, { connectionsMax = 4, byIndexOnly = true } = {}) {
    const missing: string[] = [];
    const database = openDatabase(url, {
      connectionsMax,
      byIndexOnly,
      onMissingSettings: (names) => missing.push(...names),
    });
    open.push(database);
    return { database, missing };
  }

  /** The ways in which processes use a database, from many connections at once. */
  async function expectUse(database: Database): Promise<void> {
    await refuseUnusableDatabase(database);
    const [time] = await database.sql.query<[{ now: Date; difference: number }]>`
      select clock_timestamp() as now, extract(epoch from clock_timestamp() - ${new Date()}::timestamptz)::float8 as difference`;
    expect(Math.abs(time.now.getTime() - Date.now())).toBeLessThan(60_000);
    expect(Math.abs(time.difference)).toBeLessThan(60);
    const caller = await buildCaller(database, 'test', { ratePerMinute: 10_000 });
    // Ten at a time: all forty would wait for few connections, longer than a transaction may on a busy machine.
    await concurrently(Array.from({ length: 40 }).keys(), 10, async (n) => {
      const id = await buildSend(database, caller);
      expect(await findSend(database, caller.accountId, id)).toMatchObject({ send: { id } });
      expect(await changeSend(database, { id }, () => ({ result: 'seen' }))).toBe('seen');
      const wanted = newSend(caller, { idempotencyKey: `key ${n}`, body: 'same' });
      expect(await createSend(database, wanted)).toHaveProperty('send');
      await database.transaction(async ({ prisma, sql }) => {
        const [row] = await sql.query<
          [{ id: string }]
        >`select id from sends where id = ${id}::uuid for update`;
        expect(row.id).toBe(id);
        await prisma.send.update({ where: { id }, data: { verification: 'pending' } });
      });
    });
  }

  async function settingsOf(database: Database): Promise<object> {
    const [row] = await database.sql.query<[object]>`
      select current_setting('TimeZone') as zone, current_setting('enable_seqscan') as scan,
        current_setting('statement_timeout') as bound`;
    return row;
  }
  const SETTINGS = { zone: 'UTC', scan: 'off', bound: '5s' };

  const NONE = PGBOUNCER === null ? ' (skipped: its package cannot be had on this machine)' : '';
  describeIf(PGBOUNCER !== null)(`PgBouncer in transaction mode${NONE}`, () => {
    it('works with fewer sessions than connections, on a server outside UTC, and says which settings it lacks', async () => {
      const { database, missing } = openAt(await poolerUrl(TRANSACTION), { connectionsMax: 12 });
      await expectUse(database);
      expect(await settingsOf(database)).toMatchObject({ zone: 'UTC' });
      expect(missing).toEqual(expect.arrayContaining(['statement_timeout', 'enable_seqscan', 'jit']));
    });

    it('is refused where it keeps no prepared statements', async () => {
      const { database } = openAt(await poolerUrl({ ...TRANSACTION, max_prepared_statements: 0 }));
      const refusal = refuseUnusableDatabase(database);
      await expect(refusal).rejects.toThrow(UnusableDatabase);
      await expect(refusal).rejects.toThrow(
        /^[^\n]*PgBouncer does from 1\.21 on, with max_prepared_statements/,
      );
      await expect(pingDatabase(database)).rejects.toThrow(UnusableDatabase);
    });

    describe('on a database with other defaults', () => {
      afterEach(async () => {
        await store.sql(`alter database ${databaseName()} reset all`);
        await store.sql(`alter role current_user in database ${databaseName()} reset all`);
      });
      const setDefault = (name: string, value: string) =>
        store.sql(`alter database ${databaseName()} set ${name} = '${value}'`);

      it.each([
        ['default_transaction_isolation', 'serializable', 'read committed'],
        ['search_path', 'pg_catalog', 'public'],
        ['array_nulls', 'off', 'on'],
        ['extra_float_digits', '0', '1'],
        ['exit_on_error', 'on', 'off'],
        ['session_replication_role', 'replica', 'origin'],
      ])('is refused where %s is %s, with the remedy', async (name, value, wanted) => {
        await setDefault(name, value);
        const refusal = await refuseUnusableDatabase(openAt(await poolerUrl(TRANSACTION)).database).catch(
          (error: unknown) => error as Error,
        );
        expect(refusal).toBeInstanceOf(UnusableDatabase);
        const { message } = refusal as Error;
        expect(message).toMatch(
          new RegExp(`^[^\\n]* ${name} is '${value}' instead of '${wanted}': alter role [^\\n]+$`),
        );
        const [remedy] = /alter role [^;]+/.exec(message)!;
        await store.sql(remedy);
        await refuseUnusableDatabase(openAt(await poolerUrl(TRANSACTION)).database);
      });

      it('is no longer ready when a default changes, until it changes back', async () => {
        const { database } = openAt(await poolerUrl({ ...TRANSACTION, server_lifetime: 1 }));
        await checkDatabase(database);
        await setDefault('default_transaction_isolation', 'serializable');
        const check = () =>
          checkDatabase(database).then(
            () => 'ready',
            (error: Error) => error.message,
          );
        await until('a fault', async () => (await check()).includes("is 'serializable'"));
        await store.sql(`alter database ${databaseName()} reset all`);
        await until('a ready database', async () => (await check()) === 'ready');
      });

      it('works where the pooler keeps the setting for each client', async () => {
        await setDefault('standard_conforming_strings', 'off');
        await expectUse(openAt(await poolerUrl(TRANSACTION)).database);
      });

      it.each([
        ['onecode', true],
        ['onecode_console', false],
      ])('works with what deploy/pgbouncer sets for %s', async (entry, byIndexOnly) => {
        const url = await buildHostileRole(store, '1s');
        const { database, missing } = openAt(await poolerUrl(TRANSACTION, entry, url), { byIndexOnly });
        await expectUse(database);
        expect(missing).toEqual([]);
      });
    });

    it('is no way to migrate', async () => {
      await expect(migrate(await poolerUrl(TRANSACTION))).rejects.toThrow(
        /MIGRATE_DATABASE_URL must lead to PostgreSQL itself/,
      );
    });
  });

  describeIf(PGBOUNCER !== null && process.env['ALL_TESTS'] === '1')('PgBouncer', () => {
    it.each([
      ['API and worker', 'onecode', true],
      ['console and command line', 'onecode_console', false],
    ])('in transaction mode has what %s need by deploy/pgbouncer', async (_, entry, byIndexOnly) => {
      for (const more of [{}, IGNORING]) {
        const { database, missing } = openAt(await poolerUrl({ ...TRANSACTION, ...more }, entry), {
          byIndexOnly,
        });
        await expectUse(database);
        expect(missing).toEqual([]);
      }
    });

    it.each([{}, IGNORING])(
      'in session mode works with all settings, and is a way to migrate: %j',
      async (more) => {
        const url = await poolerUrl({ ...SESSION, ...more }, undefined, await buildHostileRole(store, '1s'));
        const { database, missing } = openAt(url);
        await expectUse(database);
        expect([await settingsOf(database), missing]).toEqual([SETTINGS, []]);
        expect(await migrate(url)).toEqual([]);
      },
    );

    it('with TLS serves whom its certificate is for and who trusts its authority', async () => {
      const { certificate, key, caFile } = makeCertificates(processes.folder);
      const tls = {
        client_tls_sslmode: 'require',
        client_tls_key_file: key,
        client_tls_cert_file: certificate,
      };
      const url = await poolerUrl({ ...SESSION, ...tls });
      const connect = (parameters: string) => pingDatabase(openAt(`${url}?${parameters}`).database);
      await connect(`sslmode=verify-full&sslrootcert=${caFile}`);
      await connect('sslmode=require&uselibpqcompat=true');
      await expect(connect('sslmode=verify-full')).rejects.toThrow('agree on no TLS, or on no certificate');
      await expect(connect('sslmode=verify-full&sslrootcert=/nowhere')).rejects.toThrow('ENOENT');
    });
  });
});
