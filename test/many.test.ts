import { buildAccount, buildCaller, ProcessStack, until, type SendView } from '@onecode/testing';

const SENDS = 300;
const CREDITS = 400;
const AT_ONCE = 24;

/** Runs work on each item, so many side by side. */
async function inLanes<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const next = items.values();
  const lane = async (): Promise<void> => {
    for (const item of next) await work(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
}

/** Starting every process, and what is made by the command line, on a machine that has other work. */
const START_MS_MAX = 90_000;

describe('two APIs and two workers at once', () => {
  let stack: ProcessStack;
  beforeAll(async () => {
    stack = await ProcessStack.start({ apis: 2, workers: 2 });
    for (const digit of [1, 2, 3]) await stack.addSender(digit);
  }, START_MS_MAX);
  afterAll(() => stack.stop());

  it(`bring ${SENDS} sends through, each with one code, whatever is repeated or out of order`, async () => {
    const accountId = await buildAccount(stack.db.database, {
      freeQuota: 10,
      credits: CREDITS,
      ratePerMinute: 100_000,
    });
    const { key } = await buildCaller(stack.db.database, 'live', { id: accountId });
    await stack.simulator.addRule({ fault: { duplicates: 2, disorder: true } });

    const recipients = Array.from({ length: SENDS }, (_, n) => `+5511987${String(100_000 + n)}`);
    const ids = new Map<string, string>();
    await inLanes(recipients, async (to) => {
      const headers = { 'idempotency-key': `key-${to}` };
      // The caller repeats every request at the other API at the same time, as after a time-out.
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

    await inLanes(recipients.slice(0, 40), async (to) => {
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
