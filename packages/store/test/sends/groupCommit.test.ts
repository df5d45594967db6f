import { claim, judge, settle, type RetryPolicy } from '@onecode/domain';
import { changeSend, createSend, findSend, newId, type Sender } from '@onecode/store';
import {
  buildCaller,
  buildSend,
  buildSender,
  newSend,
  useTestDatabase,
  type TestCaller,
} from '@onecode/testing';

const POLICY: RetryPolicy = { attemptsMax: 5, backoffMs: 1_000 };
const TOGETHER = 60;
const SAME = '+5511987654321';

const store = useTestDatabase();
let callers: TestCaller[];
let sender: Sender;
beforeAll(async () => {
  sender = await buildSender(store.database);
  callers = await Promise.all(
    Array.from({ length: 6 }, () =>
      buildCaller(store.database, 'live', { freeQuota: 0, credits: 1_000, ratePerMinute: 1_000_000 }),
    ),
  );
});

const callerOf = (index: number): TestCaller => callers[index % callers.length]!;

/** How many transactions this database has committed. */
async function commits(): Promise<number> {
  await store.sql('select pg_stat_force_next_flush()');
  const [row] = await store.sql<{ count: number }>(
    'select xact_commit::integer as count from pg_stat_database where datname = current_database()',
  );
  return row!.count;
}

/** Claims a send and settles it, as a worker does. */
async function deliver(id: string, senderId = sender.id): Promise<string | undefined> {
  const attemptId = newId();
  const slot = { sender: { id: senderId, number: sender.number }, waitMs: 0 };
  await changeSend(store.database, { id }, (send, now) =>
    claim(send, now, { attemptId, leaseMs: 15_000, policy: POLICY, slot }),
  );
  const accepted = { kind: 'accepted', messageId: `wamid.${id}` } as const;
  const end = await changeSend(store.database, { id }, (send, now) =>
    settle(send, now, attemptId, accepted, POLICY, 0.5),
  );
  return end?.kind;
}

describe('a batch', () => {
  it('creates each send as if it were alone, in far fewer transactions', async () => {
    const before = await commits();
    const wanted = Array.from({ length: TOGETHER }, (_, index) =>
      newSend(callerOf(index), { recipient: `+5511987${650_000 + index}` }),
    );
    const creations = await Promise.all(wanted.map((send) => createSend(store.database, send)));

    expect(new Set(creations.map(({ outcome }) => outcome))).toEqual(new Set(['created']));
    for (const [index, creation] of creations.entries())
      expect(creation).toMatchObject({
        send: {
          id: wanted[index]!.id,
          recipient: wanted[index]!.recipient,
          accountId: wanted[index]!.accountId,
        },
      });
    expect((await commits()) - before).toBeLessThan(TOGETHER / 3);
  });

  it.each([
    { limit: 'of the account', account: { ratePerMinute: 7 }, application: '', waitMaxS: 60 },
    { limit: 'of the application', account: {}, application: 'per_minute = 7', waitMaxS: 60 },
    { limit: 'of the recipient', account: {}, application: 'per_recipient_hour = 7', waitMaxS: 3_600 },
  ])(
    'keeps the limit $limit exactly, and says when to ask again',
    async ({ account, application, waitMaxS }) => {
      const caller = await buildCaller(store.database, 'live', {
        freeQuota: 0,
        credits: 1_000,
        ratePerMinute: 1_000,
        ...account,
      });
      if (application !== '')
        await store.sql(`update applications set ${application} where id = $1`, [caller.applicationId]);
      // Some before, so that a window holds both what stands and what comes in.
      for (let made = 0; made < 2; made++) await buildSend(store.database, caller, { recipient: SAME });
      const creations = await Promise.all(
        Array.from({ length: TOGETHER }, () =>
          createSend(store.database, newSend(caller, { recipient: SAME })),
        ),
      );
      expect(creations.filter(({ outcome }) => outcome === 'created')).toHaveLength(5);
      const refused = creations.flatMap((one) =>
        one.outcome === 'rate_limited' ? [one.retryAfterSeconds] : [],
      );
      expect(refused).toHaveLength(TOGETHER - 5);
      expect(Math.min(...refused)).toBeGreaterThan(waitMaxS - 30);
      expect(Math.max(...refused)).toBeLessThanOrEqual(waitMaxS);
      const [row] = await store.sql(
        `select a.sends_created::integer as account, p.sends_created::integer as application, a.credits,
         (select count(*)::integer from sends where account_id = a.id) as sends,
         (select count(*)::integer from ledger_entries where account_id = a.id and kind = 'reserved') as reserved
       from accounts a join applications p on p.account_id = a.id where a.id = $1`,
        [caller.accountId],
      );
      expect(row).toEqual({ account: 7, application: 7, credits: 993, sends: 7, reserved: 7 });
    },
  );

  it('counts every wrong guess at many sends of few recipients, in whatever order they come', async () => {
    const caller = await buildCaller(store.database, 'test', { ratePerMinute: 1_000 });
    const recipients = ['+5511987000001', '+5511987000002', '+5511987000003'];
    const ids = await Promise.all(
      Array.from({ length: TOGETHER }, (_, index) =>
        buildSend(store.database, caller, { recipient: recipients[index % 3]! }),
      ),
    );
    const guess = (id: string, isRight: boolean) =>
      changeSend(store.database, { id }, (send, now) => judge(send, now, () => isRight));
    const budgets = () =>
      store.sql(
        'select recipient, wrong_in_a_row as wrong from guess_budgets where account_id = $1 order by recipient',
        [caller.accountId],
      );
    // Each in one order and in the other.
    await Promise.all([...ids, ...ids.toReversed()].map((id) => guess(id, false)));
    const each = (2 * TOGETHER) / 3;
    expect(await budgets()).toEqual(recipients.map((recipient) => ({ recipient, wrong: each })));
    // A right one resets the budget.
    await Promise.all(ids.filter((_, index) => index % 3 === 1).map((id) => guess(id, true)));
    expect(await budgets()).toEqual(
      [recipients[0], recipients[2]].map((recipient) => ({ recipient, wrong: each })),
    );
  });

  it('resets the guess budget of a right guess’s recipient, wrong guesses of the same batch included, and no other', async () => {
    const [ours, theirs] = await Promise.all([0, 1].map(() => buildCaller(store.database, 'test')));
    const [first, second] = ['+5511987000011', '+5511987000012'];
    const guess = async (caller: TestCaller, recipient: string, isRight: boolean) => {
      const id = await buildSend(store.database, caller, { recipient });
      return () => changeSend(store.database, { id }, (send, now) => judge(send, now, () => isRight));
    };
    const places = [ours!, theirs!].flatMap((caller) =>
      [first, second].map((recipient) => ({ caller, recipient })),
    );
    const before = await Promise.all(places.map(({ caller, recipient }) => guess(caller, recipient, false)));
    await Promise.all(before.map((made) => made()));
    const together = await Promise.all([
      ...places.map(({ caller, recipient }) => guess(caller, recipient, false)),
      guess(ours!, first, true),
      guess(theirs!, second, true),
    ]);
    await Promise.all(together.map((made) => made()));
    const left = await store.sql(
      `select account_id = $1 as ours, recipient, wrong_in_a_row as wrong from guess_budgets where account_id = any($2)
       order by recipient`,
      [ours!.accountId, [ours!.accountId, theirs!.accountId]],
    );
    expect(left).toEqual([
      { ours: false, recipient: first, wrong: 2 },
      { ours: true, recipient: second, wrong: 2 },
    ]);
  });

  it('fails a faulty creation alone: the others are created', async () => {
    const stranger = { ...callerOf(0), accountId: newId() };
    const ends = await Promise.allSettled(
      Array.from({ length: TOGETHER }, (_, index) =>
        createSend(store.database, newSend(index === 30 ? stranger : callerOf(index))),
      ),
    );
    expect(ends.flatMap(({ status }, index) => (status === 'rejected' ? [index] : []))).toEqual([30]);
  });

  it('fails a faulty change alone: the others are written', async () => {
    const ids = await Promise.all(
      Array.from({ length: TOGETHER }, (_, index) => buildSend(store.database, callerOf(index))),
    );
    const ends = await Promise.allSettled(
      ids.map((id, index) => deliver(id, index === 30 ? newId() : sender.id)),
    );
    expect(ends.flatMap(({ status }, index) => (status === 'rejected' ? [index] : []))).toEqual([30]);
    const sent = await store.sql<{ id: string; status: string; calls: number }>(
      `select id, status, (select count(*)::integer from attempts where send_id = s.id) as calls from sends s
       where id = any($1)`,
      [ids],
    );
    const states = new Map(sent.map(({ id, ...state }) => [id, state]));
    expect(ids.map((id) => states.get(id))).toEqual(
      ids.map((_, index) => (index === 30 ? { status: 'queued', calls: 0 } : { status: 'sent', calls: 1 })),
    );
  });

  it('shows a send to its own account only, whoever reads beside it', async () => {
    const id = await buildSend(store.database, callerOf(0));
    const found = await Promise.all(
      Array.from({ length: TOGETHER }, (_, index) => findSend(store.database, callerOf(index).accountId, id)),
    );
    for (const [index, one] of found.entries())
      expect([index, one !== null]).toEqual([index, index % callers.length === 0]);
  });
});
