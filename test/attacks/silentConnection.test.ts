import { createTestDatabase, ProcessStack, startTcpProxy, until, type TcpProxy } from '@onecode/testing';

const PHONE = '+5511987654321';

/** With reserve for a busy machine. Whoever waits for the silent connection itself waits for more than five seconds. */
const HEDGED_MS_MAX = 3_500;

describe('while connections to the database do not answer', () => {
  let stack: ProcessStack;
  let proxy: TcpProxy;
  let key: string;
  let id: string;
  beforeAll(async () => {
    const db = await createTestDatabase();
    proxy = await startTcpProxy(db.url);
    stack = await ProcessStack.start({ db, workers: 0, env: { DATABASE_URL: proxy.url } });
    const account = await stack.onecode('account create --name A --free-quota 100');
    key = await stack.makeKey(String(account['id']), 'test');
    ({ id } = await stack.create(key, { to: PHONE }));
  });
  afterEach(() => proxy.open());
  afterAll(async () => {
    await stack.stop();
    await proxy.close();
  });

  interface Timed {
    status: number;
    ms: number;
  }

  /** Reads the send's status at this interval for a time, without waiting for earlier answers. */
  async function look(everyMs: number, forMs: number, path = `/v1/send/${id}/status`): Promise<Timed[]> {
    const begun = performance.now();
    const asked: Promise<Timed>[] = [];
    const timer = setInterval(() => {
      const at = performance.now();
      asked.push(
        stack
          .request('GET', path, { key })
          .then(({ status }) => ({ status, ms: Math.round(performance.now() - at) })),
      );
    }, everyMs);
    await until('the end of the time', () => performance.now() - begun > forMs);
    clearInterval(timer);
    return Promise.all(asked);
  }

  const slowest = (answers: readonly Timed[]): number => Math.max(...answers.map(({ ms }) => ms));
  const failed = (answers: readonly Timed[]): Timed[] => answers.filter(({ status }) => status !== 200);

  describe('requests with a look-up', () => {
    it('hardly wait for a pooled connection that stopped answering', async () => {
      await look(10, 500);
      proxy.abandon('latest');
      const answers = await look(10, 2_000);
      expect(failed(answers)).toEqual([]);
      expect(slowest(answers)).toBeLessThan(HEDGED_MS_MAX);
    });

    it('wait for a moment when all pooled connections stop answering at once', async () => {
      await Promise.all(Array.from({ length: 40 }, () => look(10, 300)));
      proxy.abandon();
      const answers = await look(10, 2_000);
      expect(failed(answers)).toEqual([]);
      expect(slowest(answers)).toBeLessThan(HEDGED_MS_MAX);
    });

    it('are answered from a database that takes half a second for each query', async () => {
      await look(10, 500);
      proxy.slow(250);
      const answers = await look(200, 4_000);
      expect(failed(answers)).toEqual([]);
      expect(answers.length).toBeGreaterThan(10);
    });

    it('hardly wait for it where no key is needed', async () => {
      await look(10, 500, '/v1/signup-settings');
      proxy.abandon('latest');
      const answers = await look(50, 2_000, '/v1/signup-settings');
      expect(failed(answers)).toEqual([]);
      expect(slowest(answers)).toBeLessThan(HEDGED_MS_MAX);
    });
  });
});
