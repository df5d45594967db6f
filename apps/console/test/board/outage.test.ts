import { startTcpProxy, testRedisUrl, until, type TcpProxy } from '@onecode/testing';
import { startConsole, type StartedConsole } from '../console.js';
import { person, type TestPerson } from '../people.js';

/** Redis has two seconds for each answer; the rest is for a busy machine. */
const ANSWER_MS_MAX = 8_000;

let redis: TcpProxy;
let server: StartedConsole;
let onCall: TestPerson;
beforeAll(async () => {
  redis = await startTcpProxy(testRedisUrl(), 'cut');
  server = await startConsole({ REDIS_URL: redis.url });
  onCall = await person(server, { staff: 'on_call' });
});
afterAll(async () => {
  await server.close();
  await redis.close();
});
afterEach(() => redis.open());

const board = (path: string): Promise<Response> =>
  fetch(`${server.url}/board${path}`, { headers: { cookie: onCall.cookie } });

async function untilBack(): Promise<void> {
  await redis.open();
  await until('Redis’ return', async () => (await board('/api/queues')).status === 200);
}

describe('without Redis', () => {
  it('the board says so at once, and its page and the console’s routes go on', async () => {
    redis.cut();
    await until('the loss of Redis', async () => (await board('/api/queues')).status === 503);
    const begun = performance.now();
    const answer = await board('/api/queues');
    expect([answer.status, ((await answer.json()) as { error: string }).error]).toEqual([
      503,
      expect.stringContaining('Redis does not respond'),
    ]);
    expect(performance.now() - begun).toBeLessThan(ANSWER_MS_MAX);
    expect((await board('')).status).toBe(200);
    expect((await onCall.get('/session')).status).toBe(200);
    await untilBack();
  });

  it('a board whose Redis has frozen answers within seconds, and works again afterwards', async () => {
    await untilBack();
    redis.freeze();
    const begun = performance.now();
    const [answer, session] = await Promise.all([board('/api/queues/deliver/1'), onCall.get('/session')]);
    expect(answer.status).toBeGreaterThanOrEqual(500);
    expect(performance.now() - begun).toBeLessThan(ANSWER_MS_MAX);
    expect(session.status).toBe(200);
    await untilBack();
  });
});
