import {
  closeDatabase,
  openDatabase,
  pingDatabase,
  refuseUnusableDatabase,
  type Database,
} from '@onecode/store';
import { startTcpProxy, until, useTestDatabase, type TcpProxy } from '@onecode/testing';

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

const answers = (database: Database): Promise<boolean> =>
  pingDatabase(database).then(
    () => true,
    () => false,
  );

describe('an address with several hosts', () => {
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
