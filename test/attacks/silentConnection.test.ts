import {
  buildCaller,
  createTestDatabase,
  ProcessStack,
  startTcpProxy,
  until,
  type TcpProxy,
} from '@onecode/testing';

/** With reserve for a busy machine. Whoever waits for the silent connection itself waits for more than five seconds. */
const HEDGED_MS_MAX = 3_500;

describe('while connections to the database do not answer', () => {
  let stack: ProcessStack;
  let proxy: TcpProxy;
  let key: string;
  let path: string;
  beforeAll(async () => {
    const db = await createTestDatabase();
    proxy = await startTcpProxy(db.url);
    stack = await ProcessStack.start({ db, workers: 0, env: { DATABASE_URL: proxy.url } });
    ({ key } = await buildCaller(db.database, 'test'));
    const { id } = await stack.create(key, { to: '+5511987654321' });
    path = `/v1/send/${id}/status`;
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

  async function look(at: string): Promise<Timed> {
    const begun = performance.now();
    const { status } = await stack.request('GET', at, { key });
    return { status, ms: performance.now() - begun };
  }

  /** Looks at this interval for a time, without waiting for earlier answers. */
  async function lookOften(everyMs: number, forMs: number, at = path): Promise<Timed[]> {
    const asked: Promise<Timed>[] = [];
    const timer = setInterval(() => asked.push(look(at)), everyMs);
    const begun = performance.now();
    await until('the end of the time', () => performance.now() - begun > forMs);
    clearInterval(timer);
    return Promise.all(asked);
  }

  const failed = (answers: readonly Timed[], msMax = Infinity): Timed[] =>
    answers.filter(({ status, ms }) => status !== 200 || ms > msMax);

  it.each<[string, 'latest' | 'all', () => string]>([
    ['one falls silent, look-ups with a key', 'latest', () => path],
    ['one falls silent, look-ups without a key', 'latest', () => '/v1/signup-settings'],
    ['all fall silent at once, look-ups', 'all', () => path],
  ])('of which %s hardly wait', async (_, which, at) => {
    await Promise.all(Array.from({ length: 40 }, () => look(at())));
    proxy.abandon(which);
    expect(failed(await lookOften(25, 1_000, at()), HEDGED_MS_MAX)).toEqual([]);
  });

  it('look-ups are answered from a database that takes half a second for each query', async () => {
    await look(path);
    proxy.slow(250);
    const answers = await lookOften(200, 2_500);
    expect(failed(answers)).toEqual([]);
    expect(answers.length).toBeGreaterThan(8);
  });
});
