import { IndeterminateVerificationError, Onecode } from '@onecode/client';
import {
  findAbuseControls,
  findAccount,
  pauseSender,
  resetBreaker,
  resumeSender,
  setBreaker,
  verifyLedger,
} from '@onecode/store';
import {
  buildCaller,
  concurrently,
  ProcessStack,
  STACK_START_MS_MAX,
  startTcpProxy,
  TEST_ACTOR,
  until,
  type TestCaller,
} from '@onecode/testing';

const NEVER_MS = 86_400_000;
const ANY_TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string;
const CONCURRENCY = 24;

describe('two APIs and two workers', () => {
  let stack: ProcessStack;
  let accountId: string;
  let liveKey: string;
  let testKey: string;
  beforeAll(async () => {
    stack = await ProcessStack.start({ apis: 2, workers: 2 });
    // What an operator types first.
    const account = await stack.onecode('account create --name Journey --free-quota 10 --credits 10');
    accountId = String(account['id']);
    const makeKey = async (mode: string): Promise<string> => {
      const words = `application create --account ${accountId} --name ${mode} --mode ${mode}`;
      const { id } = await stack.onecode(words);
      return String((await stack.onecode(`key create --application ${id}`))['key']);
    };
    const add = 'sender add --phone-number-id 106540352242921 --number +15550783881 --token a-token';
    [liveKey, testKey] = await Promise.all([makeKey('live'), makeKey('test'), stack.onecode(add)]);
  }, STACK_START_MS_MAX);
  afterAll(() => stack.stop());
  afterEach(async () => {
    await stack.simulator.clearRules();
    await stack.simulator.changeSettings({ sentMs: 0, deliveredMs: 0 });
  });

  /** Pauses every sender, or resumes it, as an operator does. */
  async function change(change: typeof pauseSender | typeof resumeSender): Promise<void> {
    for (const { id } of await stack.db.sql<{ id: string }>('select id from senders'))
      await change(stack.db.database, TEST_ACTOR, id);
  }
  /** What is left to the account. */
  const units = async (): Promise<number> => {
    const { freeQuota, credits } = (await findAccount(stack.db.database, accountId))!;
    return freeQuota + credits;
  };

  it.each([
    ['pt-BR', 'pt_BR'],
    ['en', 'en'],
  ])(
    'a live send in %s arrives on the phone, is followed to read, and its code verifies once',
    async (locale, language) => {
      await stack.simulator.changeSettings({ sentMs: NEVER_MS, deliveredMs: NEVER_MS });
      const to = locale === 'en' ? '+12025550123' : '+5511987654321';
      const created = await stack.create(liveKey, { to, locale });
      expect(created).toMatchObject({ status: 'queued', verification: 'pending', mode: 'live', from: null });
      const { id } = created;

      const sent = await stack.untilStatus(liveKey, id, 'sent');
      expect(sent).toMatchObject({
        channel: 'whatsapp',
        from: '+15550783881',
        sent_at: ANY_TIME,
        delivered_at: null,
        read_at: null,
      });
      const message = await stack.simulator.message(to);
      expect(message).toMatchObject({ language, sender: '106540352242921' });
      expect(message.code).toMatch(/^\d{6}$/);
      expect(message.text).toContain(`*${message.code}*`);

      await stack.simulator.postReceipt({ messageId: message.id, status: 'delivered' });
      const delivered = await stack.untilStatus(liveKey, id, 'delivered');
      expect(delivered).toMatchObject({ delivered_at: ANY_TIME, read_at: null });
      await stack.simulator.markRead(message.id);
      const read = await stack.untilStatus(liveKey, id, 'read');
      expect(read).toMatchObject({ read_at: ANY_TIME, verification: 'pending', failed_at: null });
      const times = [read.created_at, read.sent_at, read.delivered_at, read.read_at];
      expect(times).toEqual(times.toSorted((a, b) => Date.parse(String(a)) - Date.parse(String(b))));

      const wrong = message.code === '111111' ? '222222' : '111111';
      expect(await stack.verify(liveKey, id, wrong)).toEqual({
        valid: false,
        verification: 'pending',
        attempts_left: 4,
      });
      expect(await stack.verify(liveKey, id, message.code)).toEqual({
        valid: true,
        verification: 'verified',
        attempts_left: 0,
      });
      expect(await stack.verify(liveKey, id, message.code)).toEqual({
        valid: false,
        verification: 'verified',
        attempts_left: 0,
      });
      expect(await stack.status(liveKey, id)).toMatchObject({ verification: 'verified', status: 'read' });
    },
  );

  it('a test send is read at once, costs nothing, reaches no phone, and is verified with 000000', async () => {
    const before = await units();
    const { id } = await stack.create(testKey, { to: '+5511987650001' });
    expect(await stack.untilStatus(testKey, id, 'read')).toMatchObject({
      mode: 'test',
      channel: 'sandbox',
      from: null,
      sent_at: ANY_TIME,
      delivered_at: ANY_TIME,
      read_at: ANY_TIME,
    });
    expect(await stack.verify(testKey, id, '000000')).toMatchObject({ valid: true });
    expect(await stack.simulator.messages('+5511987650001')).toEqual([]);
    expect(await units()).toBe(before);
  });

  it('a send that the provider refuses fails, and its unit is refunded', async () => {
    const to = '+5511987650002';
    await stack.simulator.addRule({ recipient: to, fault: { error: 131026 } });
    const before = await units();
    const { id } = await stack.create(liveKey, { to });
    expect(await stack.untilStatus(liveKey, id, 'failed')).toMatchObject({
      failure_reason: 'rejected_by_provider',
      failed_at: ANY_TIME,
      sent_at: null,
    });
    expect(await units()).toBe(before);
    expect(await stack.simulator.messages(to)).toEqual([]);
  });

  it('the unit of a send that fails late is refunded too', async () => {
    const to = '+5511987650003';
    await stack.simulator.addRule({
      recipient: to,
      fault: { lateFailure: 131026, receiptsBeforeAnswer: true },
    });
    const before = await units();
    const { id } = await stack.create(liveKey, { to });
    expect(await stack.untilStatus(liveKey, id, 'failed')).toMatchObject({
      failure_reason: 'rejected_by_provider',
    });
    expect(await units()).toBe(before);
  });

  it('a send without an available sender waits, and goes out once an operator resumes one', async () => {
    const to = '+5511987650004';
    await change(pauseSender);
    const before = await units();
    const { id } = await stack.create(liveKey, { to });
    await stack.untilWaiting(id);
    expect(await stack.status(liveKey, id)).toMatchObject({ status: 'queued', channel: null, from: null });
    expect(await units()).toBe(before - 1);
    await change(resumeSender);
    const view = await stack.untilStatus(liveKey, id, 'delivered');
    expect(view.from).toBe('+15550783881');
    expect(await stack.simulator.messages(to)).toHaveLength(1);
    expect(await units()).toBe(before - 1);
  });

  it('codes that are verified or locked before their message is sent are neither sent nor charged, while open ones are', async () => {
    await change(pauseSender);
    const before = await units();
    const [used, locked, open] = ['+5511987650011', '+5511987650012', '+5511987650013'] as const;
    const ids: string[] = [];
    for (const to of [used, locked, open]) ids.push((await stack.create(liveKey, { to, code: '042913' })).id);
    expect(await stack.verify(liveKey, ids[0]!, '042913')).toMatchObject({ valid: true });
    for (let n = 0; n < 5; n++) await stack.verify(liveKey, ids[1]!, '000000');
    await change(resumeSender);
    await stack.untilStatus(liveKey, ids[2]!, 'delivered');
    const end = { failure_reason: 'expired_before_delivery', sent_at: null };
    expect(await stack.untilStatus(liveKey, ids[0]!, 'failed')).toMatchObject({
      ...end,
      verification: 'verified',
    });
    expect(await stack.untilStatus(liveKey, ids[1]!, 'failed')).toMatchObject({
      ...end,
      verification: 'locked',
    });
    for (const [to, messages] of [
      [used, 0],
      [locked, 0],
      [open, 1],
    ] as const)
      expect(await stack.simulator.messages(to)).toHaveLength(messages);
    expect(await units()).toBe(before - 1);
  });

  it('the SDK makes one send and judges a code once when answers are lost, and follows the delivery', async () => {
    const network = await startTcpProxy(stack.apis[0]!);
    const onecode = new Onecode({ apiKey: liveKey, baseUrl: network.url });
    const to = '+5511987650021';
    const before = await units();
    network.cutReplies();
    const sending = onecode.send({ to, code: '004217' });
    await until('the send', async () => {
      const sends = await stack.db.sql('select from sends where recipient = $1', [to]);
      return sends.length > 0;
    });
    await network.open();
    const { id } = await sending;
    expect(await onecode.waitFor(id, { until: 'delivered' })).toMatchObject({ id, status: 'delivered' });
    expect(await stack.simulator.messages(to)).toHaveLength(1);
    expect(await units()).toBe(before - 1);

    network.cutReplies();
    await expect(onecode.verify(id, '004217')).rejects.toThrow(IndeterminateVerificationError);
    await network.open();
    expect(await onecode.status(id)).toMatchObject({ verification: 'verified' });
    // The right code, once more: this is why a client never does that by itself.
    const again = { valid: false, verification: 'verified', attempts_left: 0 };
    expect(await onecode.verify(id, '004217')).toEqual(again);
    await network.close();
  });

  it('150 sends are delivered with one code each, in spite of repeated requests and receipts out of order', async () => {
    const units = { freeQuota: 10, credits: 400 };
    const account = { ...units, ratePerMinute: 100_000 };
    const { key, accountId } = await buildCaller(stack.db.database, 'live', account);
    for (const digit of [2, 3]) await stack.addSender(digit);
    await stack.simulator.addRule({ fault: { duplicates: 2, disorder: true } });

    const recipients = Array.from({ length: 150 }, (_, n) => `+5511986${String(100_000 + n)}`);
    const ids = new Map<string, string>();
    await concurrently(recipients, CONCURRENCY, async (to) => {
      const headers = { 'idempotency-key': `key-${to}` };
      // The caller makes every request at both APIs at the same time, as after a time-out.
      const [one, other] = await Promise.all(
        [0, 1].map((api) => stack.create(key, { to }, { headers, api })),
      );
      expect(other!.id).toBe(one!.id);
      ids.set(to, one!.id);
    });
    expect(new Set(ids.values()).size).toBe(150);

    await until(
      'the delivery of all',
      async () => {
        const [row] = await stack.db.sql<{ count: number }>(
          "select count(*)::integer from sends where account_id = $1 and status = 'delivered'",
          [accountId],
        );
        return row!.count === 150;
      },
      60_000,
    );
    const all = await stack.simulator.messages();
    const messages = all.filter(({ to }) => to.startsWith('+5511986'));
    expect(messages).toHaveLength(150);
    const codes = new Map(messages.map(({ to, code }) => [to, code]));
    expect([...codes.keys()].toSorted()).toEqual(recipients);

    await concurrently(recipients.slice(0, 40), CONCURRENCY, async (to) => {
      const id = ids.get(to)!;
      expect(await stack.status(key, id)).toMatchObject({ status: 'delivered' });
      expect(await stack.verify(key, id, codes.get(to)!)).toMatchObject({ valid: true });
    });

    const [sums] = await stack.db.sql(
      `select free_quota, credits,
         (select count(*)::integer from sends where account_id = a.id and status <> 'failed') as spent,
         (select sum(units)::integer from ledger_entries where account_id = a.id and kind = 'granted') as given
       from accounts a where id = $1`,
      [accountId],
    );
    expect(sums).toEqual({ free_quota: 0, credits: 400 + 10 - 150, spent: 150, given: 400 + 10 });
    expect((await verifyLedger(stack.db.database, 10)).faults).toEqual([]);
  }, 120_000);

  describe('traffic pumping', () => {
    const PUMPED = 100;
    const MIN_SENDS = 50;
    const nigerian = (n: number): string => `+234803${String(1_000_000 + n)}`;
    const brazilian = (n: number): string => `+5511985${String(100_000 + n)}`;

    /** An account with so many unverified sends to Nigeria, and honest ones to Brazil that are verified. */
    async function pumpedAccount(pumped: number): Promise<TestCaller> {
      const caller = await buildCaller(stack.db.database, 'live', { credits: 1000 });
      const { accountId: id, key } = caller;
      const numbers = [
        ...Array.from({ length: pumped }, (_, n) => nigerian(n)),
        ...Array.from({ length: 30 }, (_, n) => brazilian(n)),
      ];
      await concurrently(numbers, CONCURRENCY, async (to) => {
        const send = await stack.create(key, { to, code: '4217' });
        if (to.startsWith('+55')) await stack.verify(key, send.id, '4217');
      });
      await until('the delivery of all', async () => {
        const open = `select from sends where account_id = $1 and status in ('queued', 'sending')`;
        return (await stack.db.sql(open, [id])).length === 0;
      });
      return caller;
    }

    /** Moves everything delivered five minutes into the past, after which the breaker counts it as unverified. */
    const fiveMinutesLater = (): Promise<unknown> =>
      stack.db.sql(
        `update sends set created_at = created_at - interval '5 min', expires_at = expires_at - interval '5 min',
           sent_at = sent_at - interval '5 min', delivered_at = delivered_at - interval '5 min',
           read_at = read_at - interval '5 min', verified_at = verified_at - interval '5 min'
         where status not in ('queued', 'sending')`,
      );

    /** The number of times that workers have tripped a breaker for this country. */
    async function trips(country: string): Promise<number> {
      const texts = await Promise.all(
        stack.metrics.map(async (url) => (await fetch(`${url}/metrics`)).text()),
      );
      const counters = texts
        .flatMap((text) => text.split('\n'))
        .filter(
          (line) => line.startsWith('onecode_breaker_trips_total{') && line.includes(`country="${country}"`),
        );
      return counters.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
    }

    it('trips the breaker of its account in its country once, until the breaker is reset', async () => {
      const { database } = stack.db;
      const { accountId: id, key } = await pumpedAccount(PUMPED);
      const unguarded = await pumpedAccount(MIN_SENDS);
      await setBreaker(database, TEST_ACTOR, id, { unverifiedPercent: 90, minSends: MIN_SENDS });
      await change(pauseSender);
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
      expect(await findAbuseControls(database, id)).toMatchObject({ stoppedCountries: ['NG'] });

      // Sends that were accepted before go out.
      await change(resumeSender);
      await stack.untilStatus(key, waiting.id, 'delivered');

      await resetBreaker(database, TEST_ACTOR, id);
      expect((await send(nigerian(2))).status).toBe(202);
      expect(await trips('NG')).toBe(1);
      expect(await trips('BR')).toBe(0);
      const lines = stack.output().split('\n');
      const alerts = lines.filter((line) =>
        line.includes('the fraud breaker stopped an account in a country'),
      );
      expect(alerts.map((line) => JSON.parse(line) as object)).toEqual([
        expect.objectContaining({ account_id: id, country: 'NG', sends: PUMPED, unverified: PUMPED }),
      ]);
    }, 120_000);
  });
});
