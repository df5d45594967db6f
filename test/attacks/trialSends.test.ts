import { randomBytes } from 'node:crypto';
import {
  closedPort,
  ProcessStack,
  startProcess,
  testRedisUrl,
  untilReady,
  type StartedProcess,
} from '@onecode/testing';

const ACCOUNTS = 5;
const FREE_SENDS = 10;
const CEILING = 12;

interface Json {
  id: string;
  key: string;
  csrfToken: string;
  code: string;
  detail: string;
}

/** An attacker who signs up again and again with invented addresses to get free sends. */
describe('trial accounts', () => {
  let stack: ProcessStack;
  let server: StartedProcess;
  let url: string;
  beforeAll(async () => {
    stack = await ProcessStack.start({ workers: 0 });
    const port = await closedPort();
    url = `http://localhost:${port}`;
    server = startProcess('apps/console/dist/main.js', {
      DATABASE_URL: stack.db.url,
      REDIS_URL: testRedisUrl(),
      QUEUE_PREFIX: stack.prefix,
      SECRET_KEY: stack.secrets.secretKey,
      SESSION_SECRET: randomBytes(32).toString('base64'),
      PORT: String(port),
      METRICS_PORT: '0',
      BASE_URL: String(stack.apis[0]),
      CONSOLE_URL: url,
    });
    await untilReady(server);
  });
  afterAll(async () => {
    await server.stop();
    await stack.stop();
  });

  /** Signs a person up, and creates an account and a live key. */
  async function signUp(): Promise<{ accountId: string; key: string }> {
    const headers: Record<string, string> = { origin: url, 'content-type': 'application/json' };
    const ask = async (method: string, path: string, body?: object) => {
      const answer = await fetch(`${url}/api${path}`, {
        method,
        headers,
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
      return answer;
    };
    const json = async (answer: Promise<Response>) => (await (await answer).json()) as Json;
    const email = `${randomBytes(6).toString('hex')}@${randomBytes(6).toString('hex')}.example`;
    const signedUp = await ask('POST', '/auth/sign-up/email', {
      name: 'Somebody',
      email,
      password: 'correct horse battery',
      language: 'en',
    });
    headers['cookie'] = signedUp.headers
      .getSetCookie()
      .map((line) => line.split(';')[0])
      .join('; ');
    headers['x-csrf-token'] = (await json(ask('GET', '/session'))).csrfToken;
    const account = await json(ask('POST', '/accounts', { name: 'Shop', language: 'en' }));
    const applications = `/accounts/${account.id}/applications`;
    const application = await json(ask('POST', applications, { name: 'Shop', mode: 'live' }));
    const { key } = await json(ask('POST', `${applications}/${application.id}/keys`, {}));
    return { accountId: account.id, key };
  }
  const send = (key: string, to: string) => stack.request<Json>('POST', '/v1/send', { key, body: { to } });
  const statusesOf = (answers: readonly { status: number }[]): Record<string, number> => {
    const counts: Record<string, number> = {};
    for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
    return counts;
  };

  it('send to no satellite number, no premium number and no country beyond the listed ones, and share a ceiling until they have credits', async () => {
    const people: { accountId: string; key: string }[] = [];
    for (let n = 0; n < ACCOUNTS; n++) people.push(await signUp());
    const all = (to: (n: number) => string) =>
      Promise.all(
        people.flatMap(({ key }, person) =>
          Array.from({ length: FREE_SENDS }, (_, n) => send(key, to(person * FREE_SENDS + n))),
        ),
      );
    const refused = { '422': ACCOUNTS * FREE_SENDS };
    expect(statusesOf(await all((n) => `+8816310${10_000 + n}`))).toEqual(refused);
    expect(statusesOf(await all((n) => `+55900${1_000_000 + n}`))).toEqual(refused);
    expect(statusesOf(await all((n) => `+4915112345${100 + n}`))).toEqual(refused);

    await stack.onecode(`settings set trial_sends_per_day ${CEILING}`);
    const ordinary = await all((n) => `+55119${80_000_000 + n}`);
    expect(statusesOf(ordinary)).toEqual({ '202': CEILING, '429': ACCOUNTS * FREE_SENDS - CEILING });
    const limited = ordinary.find(({ status }) => status === 429)!;
    expect(limited.body.detail).toMatch(/share a daily number of live sends/);
    expect(Number(limited.headers.get('retry-after'))).toBeLessThanOrEqual(86_400);

    const { accountId, key } = people[0]!;
    await stack.onecode(`account credit ${accountId} --amount 5 --reason paid`);
    const paid = await Promise.all(['+881631019999', '+4915112345999'].map((to) => send(key, to)));
    expect(paid.map(({ status }) => status)).toEqual([202, 202]);
  });
});
