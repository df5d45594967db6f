import {
  buildAccount,
  buildCaller,
  concurrently,
  ProcessStack,
  STACK_START_MS_MAX,
  until,
  type SendView,
} from '@onecode/testing';

const SENDS = 300;
const CREDITS = 400;
const CONCURRENCY = 24;

describe('two APIs and two workers', () => {
  let stack: ProcessStack;
  beforeAll(async () => {
    stack = await ProcessStack.start({ apis: 2, workers: 2 });
    for (const digit of [1, 2, 3]) await stack.addSender(digit);
  }, STACK_START_MS_MAX);
  afterAll(() => stack.stop());

  it(`deliver ${SENDS} sends with one code each, in spite of repeated requests and receipts out of order`, async () => {
    const accountId = await buildAccount(stack.db.database, {
      freeQuota: 10,
      credits: CREDITS,
      ratePerMinute: 100_000,
    });
    const { key } = await buildCaller(stack.db.database, 'live', { id: accountId });
    await stack.simulator.addRule({ fault: { duplicates: 2, disorder: true } });

    const recipients = Array.from({ length: SENDS }, (_, n) => `+5511987${String(100_000 + n)}`);
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
    expect(new Set(ids.values()).size).toBe(SENDS);

    await until(
      'the delivery of all',
      async () => {
        const [row] = await stack.db.sql<{ count: number }>(
          "select count(*)::integer from sends where status = 'delivered'",
        );
        return row!.count === SENDS;
      },
      60_000,
    );
    const messages = await stack.simulator.messages();
    expect(messages).toHaveLength(SENDS);
    const codes = new Map(messages.map(({ to, code }) => [to, code]));
    expect([...codes.keys()].toSorted()).toEqual(recipients);

    await concurrently(recipients.slice(0, 40), CONCURRENCY, async (to) => {
      const id = ids.get(to)!;
      expect(await stack.status(key, id)).toMatchObject({ status: 'delivered' } satisfies Partial<SendView>);
      expect(await stack.verify(key, id, codes.get(to)!)).toMatchObject({ valid: true });
    });

    const [units] = await stack.db.sql(
      `select free_quota, credits,
         (select count(*)::integer from sends where account_id = a.id and status <> 'failed') as spent,
         (select sum(units)::integer from ledger_entries where account_id = a.id and kind = 'granted') as given,
         (select count(*)::integer from ledger_entries where account_id = a.id and kind = 'reserved') as reserved,
         (select count(*)::integer from ledger_entries where account_id = a.id and kind = 'returned') as returned
       from accounts a where id = $1`,
      [accountId],
    );
    expect(units).toEqual({
      free_quota: 0,
      credits: CREDITS + 10 - SENDS,
      spent: SENDS,
      given: CREDITS + 10,
      reserved: SENDS,
      returned: 0,
    });
  }, 120_000);
});
