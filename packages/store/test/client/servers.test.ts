import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import {
  closeDatabase,
  openDatabase,
  pingDatabase,
  refuseUnusableDatabase,
  UnusableDatabase,
  type Database,
} from '@onecode/store';
import { describeIf, startTcpProxy, useTestDatabase, type TcpProxy } from '@onecode/testing';
import { Processes } from '../../../../scripts/processes/processes.mjs';
import { findPgBouncer, startPgBouncer } from '../../../../scripts/services/pgbouncer.mjs';

const store = useTestDatabase();
const NOBODY = '127.0.0.1:1';

/** The test database's address with other hosts, and these parameters. */
function addressOf(hosts: readonly string[], parameters = ''): string {
  const { username, password, pathname } = new URL(store.url);
  return `postgresql://${username}:${password}@${hosts.join(',')}${pathname}${parameters}`;
}

async function withDatabase<T>(url: string, use: (database: Database) => Promise<T>): Promise<T> {
  const database = openDatabase(url, { connectionsMax: 2 });
  try {
    return await use(database);
  } finally {
    await closeDatabase(database);
  }
}

const backend = async (database: Database): Promise<number> => {
  const [row] = await database.sql.query<[{ pid: number }]>`select pg_backend_pid() as pid`;
  return row.pid;
};

describe('an address with several hosts', () => {
  let proxies: TcpProxy[];
  const hosts = (): string[] => proxies.map(({ url }) => new URL(url).host);
  beforeEach(async () => {
    proxies = await Promise.all([startTcpProxy(store.url), startTcpProxy(store.url)]);
  });
  afterEach(() => Promise.all(proxies.map((proxy) => proxy.close())));

  it('leads to the one that answers', async () => {
    for (const two of [
      [NOBODY, new URL(store.url).host],
      [new URL(store.url).host, NOBODY],
    ])
      await withDatabase(addressOf(two), (database) => pingDatabase(database));
  });

  it('leads to the other one when the first is gone', async () => {
    await withDatabase(addressOf(hosts(), '?target_session_attrs=primary'), async (database) => {
      await backend(database);
      for (const [gone, left] of [proxies, proxies.toReversed()] as [TcpProxy, TcpProxy][]) {
        await left.open();
        await gone.refuse();
        gone.hangUp();
        let answered = false;
        // One query may meet the broken connection, and one the server that is remembered.
        for (let n = 0; n < 4 && !answered; n++)
          answered = await backend(database).then(Boolean, () => false);
        expect(answered).toBe(true);
      }
    });
  });

  it('leads nowhere when none of them takes writes, unless any will do', async () => {
    const name = new URL(store.url).pathname.slice(1);
    await store.sql(`alter database ${name} set default_transaction_read_only = on`);
    const refused = await Promise.allSettled(
      ['', '?target_session_attrs=read-write', '?target_session_attrs=primary'].map((parameters) =>
        withDatabase(addressOf(hosts(), parameters), pingDatabase),
      ),
    );
    const any = await Promise.allSettled([
      withDatabase(addressOf(hosts(), '?target_session_attrs=any'), pingDatabase),
    ]);
    await store.sql(
      `begin; set local transaction read write; alter database ${name} reset default_transaction_read_only; commit`,
    );
    for (const result of refused)
      expect(result).toMatchObject({ reason: { message: 'no server of the address takes writes' } });
    expect(any[0].status).toBe('fulfilled');
  });

  it('is an error when nobody is there', async () => {
    await expect(withDatabase(addressOf([NOBODY, NOBODY]), pingDatabase)).rejects.toMatchObject({
      cause: { kind: 'DatabaseNotReachable' },
    });
  });
});

const refusalOf = async (url: string): Promise<unknown> => {
  try {
    return await withDatabase(url, refuseUnusableDatabase);
  } catch (error) {
    return error;
  }
};

describe('an address that cannot be used', () => {
  it.each([
    ['mysql://leaked@host/d', /must begin with postgres/],
    ['postgres://one:leaked,two/d', /must begin with postgres/],
    ['postgres://leaked@one,two/d?target_session_attrs=standby', /target_session_attrs must be/],
    ['postgres://leaked@one/d?sslmode=leaked', /^sslmode must be .*verify-full/],
    ['postgres://leaked@one/d?sslrootcert=/leaked', /a file of sslrootcert, .* cannot be read \(ENOENT\)/],
  ])('says why in one line without a value: %s', async (url, line) => {
    const error = await refusalOf(url);
    expect(error).toBeInstanceOf(UnusableDatabase);
    expect((error as Error).message).toMatch(line);
    expect((error as Error).message).not.toMatch(/leaked|\n/);
  });

  it('says that a server offers no TLS', async () => {
    const error = await refusalOf(`${store.url}?sslmode=verify-full`);
    expect(error).toBeInstanceOf(UnusableDatabase);
    expect((error as Error).message).toMatch(/offers no TLS/);
  });

  it('does not keep a process from starting while PostgreSQL is away', async () => {
    await expect(refusalOf(addressOf([NOBODY]))).resolves.toBeUndefined();
  });
});

const pgBouncer = findPgBouncer({ keepsStatements: true }) ?? findPgBouncer({ keepsStatements: false });
const canTls = pgBouncer !== null && spawnSync('openssl', ['version']).status === 0;
const WHY = canTls ? '' : ' (skipped: this machine has no PgBouncer, or no openssl to make certificates)';
describeIf(canTls)(`TLS${WHY}`, () => {
  let processes: Processes;
  let folder: string;
  let url: URL;
  beforeAll(async () => {
    processes = Processes.throwaway();
    folder = mkdtempSync(join(processes.folder, 'tls-'));
    chmodSync(folder, 0o711);
    certificate('own', 'localhost');
    certificate('other', 'elsewhere.test');
    // A PgBouncer in session mode stands for a server with TLS.
    url = new URL(await started('own'));
  });
  afterAll(() => processes.stop());

  function certificate(name: string, host: string): void {
    const files = ['-keyout', join(folder, `${name}.key`), '-out', join(folder, `${name}.pem`)];
    const form = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', `/CN=${host}`];
    const { status } = spawnSync('openssl', [...form, '-addext', `subjectAltName=DNS:${host}`, ...files]);
    expect(status).toBe(0);
    chmodSync(join(folder, `${name}.key`), 0o644);
  }

  async function started(name: string): Promise<string> {
    const given = await startPgBouncer(pgBouncer!, {
      processes,
      url: store.url,
      settings: {
        pool_mode: 'session',
        client_tls_sslmode: 'require',
        client_tls_key_file: join(folder, `${name}.key`),
        client_tls_cert_file: join(folder, `${name}.pem`),
      },
    });
    const through = new URL(given.url);
    through.hostname = 'localhost';
    return through.href;
  }

  const inSession = async (parameters: string, address = url.href): Promise<unknown> => {
    const database = openDatabase(`${address}?${parameters}`, { connectionsMax: 1, pooler: 'session' });
    const refusal = await refuseUnusableDatabase(database).then(
      () => pingDatabase(database).then(() => 'connected', String),
      (error: Error) => error.message,
    );
    await closeDatabase(database);
    return refusal;
  };
  const ca = (name = 'own'): string => `sslrootcert=${join(folder, `${name}.pem`)}`;

  it('works by the recipes of docs/operations.md', async () => {
    expect(await inSession(`sslmode=verify-full&${ca()}`)).toBe('connected');
    expect(await inSession('sslmode=require&uselibpqcompat=true')).toBe('connected');
    const other = await started('other');
    expect(await inSession(`sslmode=verify-ca&${ca('other')}&uselibpqcompat=true`, other)).toBe('connected');
    expect(await inSession(`sslmode=verify-full&${ca('other')}`, other)).toMatch(/is for another host name/);
  });

  it('says in one line what is wrong with a certificate', async () => {
    expect(await inSession('sslmode=verify-full')).toMatch(
      /^nobody whom this process trusts has signed .* sslrootcert$/,
    );
    expect(await inSession(`sslmode=verify-full&${ca('other')}`)).toMatch(/^nobody whom this process trusts/);
  });
});
