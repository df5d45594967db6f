import {
  buildCaller,
  concurrently,
  ProcessStack,
  STACK_START_MS_MAX,
  until,
  type TestCaller,
} from '@onecode/testing';

const PUMPED = 200;
const HONEST = 30;
const MIN_SENDS = 50;
const CONCURRENCY = 20;

const nigerian = (n: number): string => `+234803${String(1_000_000 + n)}`;
const brazilian = (n: number): string => `+5511987${String(100_000 + n)}`;

let stack: ProcessStack;
let senderId: string;

/** An account with so many unverified sends to Nigeria, and honest ones to Brazil that are verified. */
async function pumpedAccount(pumped: number): Promise<TestCaller> {
  const caller = await buildCaller(stack.db.database, 'live', { credits: 1000 });
  const { accountId, key } = caller;
  const numbers = [
    ...Array.from({ length: pumped }, (_, n) => nigerian(n)),
    ...Array.from({ length: HONEST }, (_, n) => brazilian(n)),
  ];
  await concurrently(numbers, CONCURRENCY, async (to) => {
    const { id } = await stack.create(key, { to, code: '4217' });
    if (to.startsWith('+55')) await stack.verify(key, id, '4217');
  });
  await until('the delivery of all', async () => {
    const [row] = await stack.db.sql<{ open: number }>(
      `select count(*)::integer as open from sends where account_id = $1 and status in ('queued', 'sending')`,
      [accountId],
    );
    return row!.open === 0;
  });
  return caller;
}

/** Moves everything delivered five minutes into the past, after which the breaker counts it as unverified. */
async function fiveMinutesLater(): Promise<void> {
  await stack.db.sql(
    `update sends set created_at = created_at - interval '5 min', expires_at = expires_at - interval '5 min',
       sent_at = sent_at - interval '5 min', delivered_at = delivered_at - interval '5 min',
       read_at = read_at - interval '5 min', verified_at = verified_at - interval '5 min'
     where status not in ('queued', 'sending')`,
  );
}

/** The number of times that workers have tripped a breaker for this country. */
async function trips(country: string): Promise<number> {
  const texts = await Promise.all(stack.metrics.map(async (url) => (await fetch(`${url}/metrics`)).text()));
  const lines = texts.flatMap((text) => text.split('\n'));
  return lines
    .filter(
      (line) => line.startsWith('onecode_breaker_trips_total{') && line.includes(`country="${country}"`),
    )
    .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}

describe('traffic pumping', () => {
  beforeAll(async () => {
    stack = await ProcessStack.start({ workers: 2 });
    senderId = await stack.addSender();
  }, STACK_START_MS_MAX);
  afterAll(() => stack.stop());

  it('trips the breaker of its account in its country once, until the breaker is reset', async () => {
    const { accountId, key } = await pumpedAccount(PUMPED);
    const unguarded = await pumpedAccount(MIN_SENDS);
    await stack.onecode(`account breaker ${accountId} --unverified-percent 90 --min-sends ${MIN_SENDS}`);
    await stack.onecode(`sender pause ${senderId}`);
    const waiting = await stack.create(key, { to: nigerian(7_777) });
    const send = (to: string, by = key) => stack.request('POST', '/v1/send', { key: by, body: { to } });
    await fiveMinutesLater();
    await until('a tripped breaker', async () => (await trips('NG')) > 0);

    const refused = await send(nigerian(1));
    expect([refused.status, refused.body['code']]).toEqual([429, 'rate_limited']);
    const seconds = Number(refused.headers.get('retry-after'));
    expect(seconds).toBeGreaterThan(3_400);
    expect(seconds).toBeLessThanOrEqual(3_600);
    expect((await send(brazilian(1))).status).toBe(202);
    expect((await send(nigerian(1), unguarded.key)).status).toBe(202);
    expect(await stack.onecode(`account show ${accountId}`)).toMatchObject({
      breaker_unverified_percent: 90,
      stopped_countries: ['NG'],
    });

    // Sends that were accepted before go out.
    await stack.onecode(`sender resume ${senderId}`);
    await stack.untilStatus(key, waiting.id, 'delivered');

    await stack.onecode(`account breaker ${accountId} --reset`);
    expect((await send(nigerian(2))).status).toBe(202);
    expect(await trips('NG')).toBe(1);
    expect(await trips('BR')).toBe(0);
    const lines = stack.output().split('\n');
    const alerts = lines.filter((line) => line.includes('the fraud breaker stopped an account in a country'));
    expect(alerts.map((line) => JSON.parse(line) as object)).toEqual([
      expect.objectContaining({ account_id: accountId, country: 'NG', sends: PUMPED, unverified: PUMPED }),
    ]);
  }, 120_000);
});
