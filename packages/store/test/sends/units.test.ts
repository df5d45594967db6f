import { codeMatches, failure, judge, type FailureReason } from '@onecode/domain';
import { changeSend, createSend, grantCredits } from '@onecode/store';
import {
  buildCaller,
  newSend,
  TEST_ACTOR,
  TEST_PEPPER,
  useTestDatabase,
  type TestCaller,
} from '@onecode/testing';

const store = useTestDatabase();

/** The balance of each account and bucket: what was given, what is left, and what its sends hold. */
const BALANCES = `
  select a.id, b.bucket,
    case b.bucket when 'free_quota' then a.free_quota else a.credits end as "left",
    (select coalesce(sum(units), 0)::int from ledger_entries l
      where l.account_id = a.id and l.bucket = b.bucket and l.kind = 'granted') as given,
    (select count(*)::int from sends s
      where s.account_id = a.id and s.charged_from = b.bucket and s.status <> 'failed') as held,
    (select count(*)::int from sends s
      where s.account_id = a.id and s.charged_from = b.bucket and s.status = 'failed') as failed,
    (select count(*)::int from ledger_entries l
      where l.account_id = a.id and l.bucket = b.bucket and l.kind = 'reserved') as reserved,
    (select count(*)::int from ledger_entries l
      where l.account_id = a.id and l.bucket = b.bucket and l.kind = 'returned') as returned
  from accounts a, (values ('free_quota'), ('credit')) as b (bucket)`;

interface Balance {
  id: string;
  bucket: string;
  left: number;
  given: number;
  held: number;
  failed: number;
  reserved: number;
  returned: number;
}

it('no storm of creations, failures, verifications and grants makes or loses a unit', async () => {
  const callers: TestCaller[] = [];
  for (let n = 0; n < 3; n++) {
    const live = await buildCaller(store.database, 'live', {
      freeQuota: 15,
      credits: 10,
      ratePerMinute: 100_000,
    });
    callers.push(live, await buildCaller(store.database, 'test', { id: live.accountId }));
  }
  const made: { id: string; caller: TestCaller }[] = [];
  const any = <T>(some: readonly T[]): T | undefined => some[Math.floor(Math.random() * some.length)];

  const create = async (n: number): Promise<void> => {
    const caller = any(callers)!;
    // Every fourth repeats a key that others use too.
    const wishes = n % 4 === 0 ? { idempotencyKey: `key-${n % 7}` } : {};
    const creation = await createSend(store.database, newSend(caller, wishes));
    if (creation.outcome === 'created') made.push({ id: creation.send.id, caller });
  };
  const fail = async (): Promise<void> => {
    const one = any(made);
    if (one === undefined || one.caller.mode === 'test') return;
    const reason = any<FailureReason>(['rejected_by_provider', 'attempts_exhausted'])!;
    await changeSend(store.database, one, (send, now) =>
      send.status === 'failed' ? { result: null } : { result: null, change: failure(reason, now) },
    );
  };
  const verify = async (): Promise<void> => {
    const one = any(made);
    if (one === undefined) return;
    const guess = any(['042913', '000001'])!;
    await changeSend(store.database, one, (send, now) =>
      judge(send, now, () => codeMatches(TEST_PEPPER, send.id, send.codeHash, guess)),
    );
  };
  const grant = async (): Promise<void> => {
    await grantCredits(store.database, TEST_ACTOR, any(callers)!.accountId, 1, 'storm');
  };

  let steps = 0;
  const storm = async (): Promise<void> => {
    while (steps < 1500) {
      const n = steps++;
      await any([create, create, fail, fail, verify, n % 10 === 0 ? grant : verify])!(n);
    }
  };
  await Promise.all(Array.from({ length: 24 }, storm));

  const balances = await store.sql<Balance>(BALANCES);
  for (const balance of balances) {
    expect(balance).toMatchObject({
      given: balance.left + balance.held,
      reserved: balance.held + balance.failed,
      returned: balance.failed,
    });
    expect(balance.left).toBeGreaterThanOrEqual(0);
  }
  const sum = (field: 'held' | 'failed') => balances.reduce((total, balance) => total + balance[field], 0);
  expect(sum('held')).toBeGreaterThan(20);
  expect(sum('failed')).toBeGreaterThan(20);
});
