import { IndeterminateVerificationError, Onecode } from '@onecode/client';
import { verifyLedger } from '@onecode/store/reports';
import {
  buildCaller,
  concurrently,
  ProcessStack,
  STACK_START_MS_MAX,
  startTcpProxy,
  until,
} from '@onecode/testing';

const NEVER_MS = 86_400_000;
const ANY_TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string;
const CONCURRENCY = 24;

describe('two APIs and two workers', () => {
  let stack: ProcessStack;
  let liveKey: string;
  beforeAll(async () => {
    stack = await ProcessStack.start({ apis: 2, workers: 2 });
    // Each command is a process, which takes 0.7 s of CPU time.
    const { applicationId } = await buildCaller(stack.db.database, 'live', { freeQuota: 10, credits: 10 });
    liveKey = String((await stack.onecode(`key create --application ${applicationId}`))['key']);
    await stack.onecode('sender add --phone-number-id 106540352242921 --number +15550783881 --token a-token');
  }, STACK_START_MS_MAX);
  afterAll(() => stack.stop());
  afterEach(async () => {
    await stack.simulator.clearRules();
    await stack.simulator.changeSettings({ sentMs: 0, deliveredMs: 0 });
  });

  it.each([
    ['pt-BR', 'pt_BR'],
    ['en', 'en'],
  ])('send a live code in %s, report it up to read, and verify it once', async (locale, language) => {
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
  });

  it.each([
    ['at once', { error: 131026 }],
    ['late', { lateFailure: 131026, receiptsBeforeAnswer: true }],
  ] as const)('fail a send that the provider refuses %s, and refund its unit', async (when, fault) => {
    const to = when === 'late' ? '+5511987650003' : '+5511987650002';
    await stack.simulator.addRule({ recipient: to, fault });
    const { id } = await stack.create(liveKey, { to });
    expect(await stack.untilStatus(liveKey, id, 'failed')).toMatchObject({
      failure_reason: 'rejected_by_provider',
      failed_at: ANY_TIME,
    });
    const entries = await stack.db.sql('select kind from ledger_entries where send_id = $1 order by id', [
      id,
    ]);
    expect(entries).toEqual([{ kind: 'reserved' }, { kind: 'returned' }]);
  });

  it('make one send and one guess for the SDK when answers are lost', async () => {
    const network = await startTcpProxy(stack.apis[0]!);
    const onecode = new Onecode({ apiKey: liveKey, baseUrl: network.url });
    const to = '+5511987650021';
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

    network.cutReplies();
    await expect(onecode.verify(id, '004217')).rejects.toThrow(IndeterminateVerificationError);
    await network.open();
    expect(await onecode.status(id)).toMatchObject({ verification: 'verified' });
    // The right code again: this is why a client must not repeat a verification.
    const again = { valid: false, verification: 'verified', attempts_left: 0 };
    expect(await onecode.verify(id, '004217')).toEqual(again);
    await network.close();
  });

  it('deliver 60 sends with one code each, despite repeated requests and reordered receipts', async () => {
    const units = { freeQuota: 10, credits: 400 };
    const account = { ...units, ratePerMinute: 100_000 };
    const { key, accountId } = await buildCaller(stack.db.database, 'live', account);
    for (const digit of [2, 3]) await stack.addSender(digit);
    await stack.simulator.addRule({ fault: { duplicates: 2, disorder: true } });

    const recipients = Array.from({ length: 60 }, (_, n) => `+5511986${String(100_000 + n)}`);
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
    expect(new Set(ids.values()).size).toBe(60);

    await until(
      'the delivery of all',
      async () => {
        const [row] = await stack.db.sql<{ count: number }>(
          "select count(*)::integer from sends where account_id = $1 and status = 'delivered'",
          [accountId],
        );
        return row!.count === 60;
      },
      60_000,
    );
    const all = await stack.simulator.messages();
    const messages = all.filter(({ to }) => to.startsWith('+5511986'));
    expect(messages).toHaveLength(60);
    const codes = new Map(messages.map(({ to, code }) => [to, code]));
    expect([...codes.keys()].toSorted()).toEqual(recipients);

    await concurrently(recipients.slice(0, 20), CONCURRENCY, async (to) => {
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
    expect(sums).toEqual({ free_quota: 0, credits: 400 + 10 - 60, spent: 60, given: 400 + 10 });
    expect((await verifyLedger(stack.db.database, 10)).faults).toEqual([]);
  }, 120_000);
});
