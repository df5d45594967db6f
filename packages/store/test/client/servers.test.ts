import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream';
import { databaseAddress, readConfig } from '@onecode/runtime/config';
import {
  closeDatabase,
  findDatabaseFault,
  openDatabase,
  pingDatabase,
  type Database,
  type DatabaseOptions,
} from '@onecode/store/client';
import { changeSend, createSend, findSend } from '@onecode/store/sends';
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
import { sessionSettings } from '../../src/client/database.js';
import { FIXED_SETTINGS } from '../../src/client/settings.js';
import { withDatabase } from './withDatabase.js';

const store = useTestDatabase();

describe('an address with several hosts', () => {
  const NO_SERVER = '127.0.0.1:1';

  /** Returns the test database's address with other hosts. */
  function addressOf(hosts: readonly string[]): string {
    const { username, password, pathname } = new URL(store.url);
    return `postgresql://${username}:${password}@${hosts.join(',')}${pathname}`;
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

  it('connects to the server that responds', async () => {
    const { host } = new URL(store.url);
    for (const two of [
      [NO_SERVER, host],
      [host, NO_SERVER],
    ])
      await withDatabase(addressOf(two), pingDatabase);
  });

  it.each(['gone', 'frozen'] as const)(
    'connects to the other server if the first server is %s',
    async (how) => {
      await withDatabase(addressOf(hosts()), async (database) => {
        await pingDatabase(database);
        for (const [one, other] of [proxies, proxies.toReversed()] as [TcpProxy, TcpProxy][]) {
          await other.open();
          if (how === 'gone') await one.refuse();
          else one.freeze();
          one.hangUp();
          await until('an answer', () => answers(database));
        }
      });
    },
  );

  it('fails if no server accepts writes, and recovers afterwards', async () => {
    const name = new URL(store.url).pathname.slice(1);
    const setReadOnly = (value: 'on' | 'off') =>
      store.sql(
        `begin; set local transaction read write; alter database ${name} set default_transaction_read_only = ${value}; commit`,
      );
    await setReadOnly('on');
    await withDatabase(addressOf(hosts()), async (database) => {
      await expect(pingDatabase(database)).rejects.toThrow('no server in DATABASE_URL accepts writes');
      await setReadOnly('off');
      await pingDatabase(database);
      await setReadOnly('on');
      // When a server becomes a standby, its connections break.
      for (const proxy of proxies) proxy.hangUp();
      await until('no connection to it', async () => !(await answers(database)));
      expect(await answers(database)).toBe(false);
      await setReadOnly('off');
      await until('an answer', () => answers(database));
    });
  });

  it('connects although every server responds slowly', async () => {
    for (const proxy of proxies) proxy.slow(100);
    await withDatabase(addressOf(hosts()), async (database) => {
      await until('an answer', () => answers(database));
      for (const proxy of proxies) proxy.hangUp();
      await until('an answer', () => answers(database));
    });
  });

  it('fails if no server responds', async () => {
    await withDatabase(addressOf([NO_SERVER, NO_SERVER]), async (database) => {
      await expect(pingDatabase(database)).rejects.toThrow('ECONNREFUSED');
    });
  });
});

it.each([
  ['postgresql://USER@/DATABASE?host=FOLDER', 'as Google documents it'],
  ['postgresql:///DATABASE?host=FOLDER&port=5432&user=USER', 'as libpq documents it'],
  ['postgresql://USER@ENCODED:5432/DATABASE', 'as the host'],
])('an address may name the folder of a socket: %s, %s', async (form) => {
  const { username, password, hostname, port, pathname } = new URL(store.url);
  const folder = await mkdtemp(join(tmpdir(), 'socket-'));
  const server = createServer((socket) =>
    pipeline(socket, connect(Number(port), hostname), socket, () => {}),
  ).listen(join(folder, '.s.PGSQL.5432'));
  const url = form
    .replace('USER@', `${username}:${password}@`)
    .replace('USER', `${username}&password=${password}`)
    .replace('DATABASE', pathname.slice(1))
    .replace('FOLDER', folder)
    .replace('ENCODED', encodeURIComponent(folder));
  await withDatabase(readConfig({ URL: url }, { URL: databaseAddress() }).URL, pingDatabase);
  server.close();
  await rm(folder, { recursive: true });
});

it('a connection that breaks before it is known to accept writes fails its statement, and not the process', async () => {
  const AUTHENTICATED = Buffer.from('R\0\0\0\x08\0\0\0\0');
  const READY = Buffer.from('Z\0\0\0\x05I');
  const server = createServer((socket) => {
    socket.once('data', () => {
      socket.write(Buffer.concat([AUTHENTICATED, READY]));
      socket.once('data', () => socket.destroy());
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await withDatabase(`postgresql://user@127.0.0.1:${port}/database`, async (database) => {
    await expect(pingDatabase(database)).rejects.toThrow('Connection terminated unexpectedly');
    await expect(pingDatabase(database)).rejects.toThrow('Connection terminated unexpectedly');
    expect(database.pool.totalCount).toBe(0);
  });
  server.close();
});

const PGBOUNCER = findPgBouncer();
const NONE = PGBOUNCER === null ? ' (skipped: its package is not available on this machine)' : '';

describeIf(PGBOUNCER !== null)(`PgBouncer${NONE}`, () => {
  const TRANSACTION = { pool_mode: 'transaction', default_pool_size: 3, max_prepared_statements: 100 };

  let processes: Processes;
  const open: Database[] = [];
  beforeAll(() => {
    processes = Processes.throwaway();
  });
  afterEach(async () => {
    await Promise.all(open.splice(0).map(closeDatabase));
    await store.sql(`alter database ${databaseName()} reset all`);
    await store.sql(`alter role current_user in database ${databaseName()} reset all`);
  });
  afterAll(async () => {
    await processes.stop();
    await dropRoles(store);
  });

  const databaseName = (): string => new URL(store.url).pathname.slice(1);
  const setDefault = (name: string, value: string) =>
    store.sql(`alter database ${databaseName()} set ${name} = '${value}'`);

  /** Starts a PgBouncer with these settings. @returns its address */
  async function poolerUrl(
    settings: Record<string, string | number>,
    entry?: string,
    url = store.url,
  ): Promise<string> {
    const deployed = entry === undefined ? {} : { entry };
    return (await startPgBouncer(PGBOUNCER!, { processes, url, settings, ...deployed })).url;
  }

  /** Opens a database like the API and the worker do, or like the console does. */
  function openAt(url: string, options: Partial<DatabaseOptions> = {}): Database {
    const defaults = { connectionsMax: 4, byIndexOnly: true, pooler: 'transaction' } as const;
    const database = openDatabase(url, { ...defaults, ...options });
    open.push(database);
    return database;
  }

  /** Uses a database in the same ways as the processes, over many connections at once. */
  async function expectUse(database: Database): Promise<void> {
    await pingDatabase(database);
    const [time] = await database.sql.query<[{ now: Date; difference: number }]>`
      select clock_timestamp() as now, extract(epoch from clock_timestamp() - ${new Date()}::timestamptz)::float8 as difference`;
    expect(Math.abs(time.now.getTime() - Date.now())).toBeLessThan(60_000);
    expect(Math.abs(time.difference)).toBeLessThan(60);
    const caller = await buildCaller(database, 'test', { ratePerMinute: 10_000 });
    // Ten at a time. On a busy machine, forty would wait for the few connections longer than a transaction may.
    await concurrently(Array.from({ length: 40 }).keys(), 10, async (n) => {
      const id = await buildSend(database, caller);
      expect(await findSend(database, { id, accountId: caller.accountId })).toMatchObject({ id });
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

  it('works in transaction mode with fewer sessions than connections, on a server outside UTC', async () => {
    await setDefault('timezone', 'America/Sao_Paulo');
    await expectUse(openAt(await poolerUrl(TRANSACTION), { connectionsMax: 12 }));
  });

  it.each([
    ['onecode', true],
    ['onecode_console', false],
  ])('works with the settings of deploy/pgbouncer for %s', async (entry, byIndexOnly) => {
    const url = await buildHostileRole(store, '1s');
    await expectUse(openAt(await poolerUrl(TRANSACTION, entry, url), { byIndexOnly }));
  });

  it.each([
    ['default_transaction_isolation', 'serializable', 'read committed'],
    ['search_path', 'pg_catalog', 'public'],
    ['search_path', 'missing', 'public'],
  ])('is rejected if %s is %s', async (name, value, wanted) => {
    await setDefault(name, value);
    expect(await findDatabaseFault(openAt(await poolerUrl(TRANSACTION)))).toBe(
      `the database has settings that Onecode does not support (docs/operations.md#defaults): ${name} is '${value}' instead of '${wanted}'`,
    );
    await setDefault(name, wanted);
    expect(await findDatabaseFault(openAt(await poolerUrl(TRANSACTION)))).toBeNull();
  });

  it('works if it keeps a changed setting for each client', async () => {
    await setDefault('standard_conforming_strings', 'off');
    await setDefault('datestyle', 'SQL, DMY');
    await expectUse(openAt(await poolerUrl(TRANSACTION)));
  });

  it('is rejected without prepared statements', async () => {
    const url = await poolerUrl({ ...TRANSACTION, default_pool_size: 1, max_prepared_statements: 0 });
    await pingDatabase(openAt(url));
    await expect(pingDatabase(openAt(url))).rejects.toThrow(/^prepared statement .* already exists$/);
  });

  it.each(['session', 'transaction'])(
    'is rejected in %s mode without DATABASE_POOLER, and for migrations',
    async (mode) => {
      const url = await poolerUrl({ ...TRANSACTION, pool_mode: mode });
      const fault = 'unsupported startup parameter';
      await expect(pingDatabase(openAt(url, { pooler: 'none' }))).rejects.toThrow(fault);
      await expect(migrate(url)).rejects.toThrow(fault);
      const host = new URL(url).host;
      const ofSeveral = openAt(url.replace(host, `${host},${host}`), { pooler: 'none' });
      await expect(pingDatabase(ofSeveral)).rejects.toThrow(fault);
    },
  );

  it('is rejected if it drops start-up settings that its sessions lack', async () => {
    await setDefault('default_transaction_isolation', 'serializable');
    const names = Object.keys({ ...FIXED_SETTINGS, ...sessionSettings({ byIndexOnly: true }) });
    for (const ignored of [names.join(','), 'options']) {
      const settings = { ...TRANSACTION, ignore_startup_parameters: ignored };
      const fault = await findDatabaseFault(openAt(await poolerUrl(settings), { pooler: 'none' }));
      expect(fault).toContain("default_transaction_isolation is 'serializable'");
    }
  });

  it('works in session mode', async () => {
    const database = openAt(await poolerUrl({ pool_mode: 'session', default_pool_size: 8 }));
    await expectUse(database);
  });

  it('presents its certificate to TLS clients, which verify it as sslmode requires', async () => {
    const { certificate, key, caFile } = makeCertificates(processes.folder);
    const tls = {
      client_tls_sslmode: 'require',
      client_tls_key_file: key,
      client_tls_cert_file: certificate,
    };
    const url = await poolerUrl({ ...TRANSACTION, ...tls });
    const connect = (parameters: string) => pingDatabase(openAt(`${url}?${parameters}`));
    await connect(`sslmode=verify-full&sslrootcert=${caFile}`);
    await connect('sslmode=require&uselibpqcompat=true');
    await expect(connect('sslmode=verify-full')).rejects.toThrow('unable to verify the first certificate');
    await expect(connect('sslmode=verify-full&sslrootcert=/nowhere')).rejects.toThrow('ENOENT');
  });
});
