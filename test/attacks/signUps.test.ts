import { randomBytes } from 'node:crypto';
import {
  closedPort,
  createTestDatabase,
  startProcess,
  testRedisUrl,
  untilReady,
  type StartedProcess,
  type TestDatabase,
} from '@onecode/testing';

const START_MS_MAX = 60_000;
const ATTACK_MS_MAX = 120_000;

const TRIES = 400;
const INVENTED = 40;

let db: TestDatabase;
let url: string;
let server: StartedProcess;
beforeEach(async () => {
  db = await createTestDatabase();
  const port = await closedPort();
  url = `http://localhost:${port}`;
  server = startProcess('apps/console/dist/main.js', {
    DATABASE_URL: db.url,
    REDIS_URL: testRedisUrl(),
    SECRET_KEY: randomBytes(32).toString('base64'),
    SESSION_SECRET: randomBytes(32).toString('base64'),
    PORT: String(port),
    METRICS_PORT: '0',
    BASE_URL: 'https://api.example.test',
    CONSOLE_URL: url,
    // As behind a proxy, which names the address of each client.
    PROXY_HOPS: '1',
  });
  await untilReady(server);
}, START_MS_MAX);
afterEach(async () => {
  await server.stop();
  await db.drop();
});

const signUp = (address: string, email: string, password: string): Promise<Response> =>
  fetch(`${url}/api/auth/sign-up/email`, {
    method: 'POST',
    headers: { origin: url, 'content-type': 'application/json', 'x-forwarded-for': address },
    body: JSON.stringify({ name: 'Somebody', email, password, language: 'en' }),
  });
const codeOf = async (answer: Response): Promise<string> =>
  answer.status === 204 ? 'made' : ((await answer.json()) as { code: string }).code;
const tally = (words: readonly string[]): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const word of words) counts[word] = (counts[word] ?? 0) + 1;
  return counts;
};

it(
  `${TRIES} sign-ups that fail, at once from one network, are limited, and everybody else is served meanwhile`,
  async () => {
    let underWay = true;
    const attack = Promise.all(
      Array.from({ length: TRIES }, (_, n) =>
        // A guessable password with many matches, which is slow to judge.
        signUp(`203.0.113.${n % 250}`, `a${n}@example.com`, 'p4ssw0rdp4ssw0rdp4ssw0rd'),
      ),
    ).finally(() => {
      underWay = false;
    });
    while (underWay) expect((await fetch(`${url}/api/sign-up-offer`)).status).toBe(200);
    const answers = tally(await Promise.all((await attack).map(codeOf)));
    // While their passwords are judged, they use up the network's sign-ups of the day.
    const { invalid_input: judged = 0, too_many_sign_ups: full = 0, rate_limited: limited } = answers;
    expect([judged + full, limited]).toEqual([30, TRIES - 30]);
    expect(await db.sql('select from users')).toEqual([]);
    // A person from another network signs up.
    expect(await codeOf(await signUp('198.51.100.7', 'ana@example.com', 'correct horse battery'))).toBe(
      'made',
    );
  },
  ATTACK_MS_MAX,
);

it.each([
  ['network', (n: number) => [`203.0.113.${n}`, `shop@shop${n}.example`], 20],
  ['IPv6 network', (n: number) => [`2001:db8:7:${n.toString(16)}::1`, `shop@shop${n}.example`], 20],
])(
  `${INVENTED} sign-ups with invented addresses, at once from one %s, make no more people than its ceiling`,
  async (_, origin, ceiling) => {
    const answers = await Promise.all(
      Array.from({ length: INVENTED }, async (_, n) => {
        const [address = '', email = ''] = origin(n + 1);
        return codeOf(await signUp(address, email, 'correct horse battery'));
      }),
    );
    expect(answers.filter((code) => code === 'made')).toHaveLength(ceiling);
    expect(await db.sql('select from users')).toHaveLength(ceiling);
  },
  ATTACK_MS_MAX,
);
