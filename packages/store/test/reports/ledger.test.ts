import { findBalance, grantCredits, listLedger, type LedgerEntry } from '@onecode/store';
import {
  buildCaller,
  buildSend,
  TEST_ACTOR,
  until,
  useTestDatabase,
  type TestCaller,
} from '@onecode/testing';
import { sendActions } from '../sends/sendActions.js';

const store = useTestDatabase();
let caller: TestCaller;
beforeEach(async () => {
  caller = await buildCaller(store.database, 'live', { freeQuota: 5, credits: 100, ratePerMinute: 10_000 });
});

const { fail } = sendActions(store);
const send = () => buildSend(store.database, caller);

/** All entries, newest first, by pages. @param between runs before each page but the first */
async function entriesOf(limit: number, between?: () => Promise<unknown>): Promise<LedgerEntry[]> {
  const entries: LedgerEntry[] = [];
  for (let before: string | null | undefined; before !== null;) {
    if (before !== undefined) await between?.();
    const page = await listLedger(store.database, caller.accountId, {
      limit,
      ...(before !== undefined && { before }),
    });
    entries.push(...page.entries);
    before = page.next;
  }
  return entries;
}

/** What the account had before an entry, by what it had after it. */
function before({ kind, bucket, units, balance }: LedgerEntry): LedgerEntry['balance'] {
  const change = kind === 'reserved' ? -units : units;
  return bucket === 'credit'
    ? { ...balance, credits: balance.credits - change }
    : { ...balance, freeQuota: balance.freeQuota - change };
}

/** From nothing at the first entry, each leads to the next, and the last one to what the account has. */
async function expectToAddUp(entries: readonly LedgerEntry[], end?: LedgerEntry['balance']): Promise<void> {
  const oldestFirst = entries.toReversed();
  let had = { freeQuota: 0, credits: 0 };
  for (const entry of oldestFirst) {
    expect(before(entry)).toEqual(had);
    had = entry.balance;
  }
  if (end !== undefined) expect(had).toEqual(end);
  const ids = entries.map(({ id }) => BigInt(id));
  expect(ids.every((id, n) => n === 0 || id < (ids[n - 1] as bigint))).toBe(true);
}

describe('the ledger', () => {
  it('adds up on every page while sends are created, fail and are paid for', async () => {
    const sends = await Promise.all(Array.from({ length: 30 }, send));
    const busy = Promise.all([
      ...sends.slice(0, 15).map(fail),
      ...Array.from({ length: 20 }, send),
      ...Array.from({ length: 5 }, () =>
        grantCredits(store.database, TEST_ACTOR, caller.accountId, 3, 'more'),
      ),
    ]);
    const walks = await Promise.all([3, 5, 8].map((limit) => entriesOf(limit, send)));
    await busy;
    for (const walk of walks) await expectToAddUp(walk);
    const { freeQuota, credits } = (await findBalance(store.database, caller.accountId))!;
    const all = await entriesOf(4);
    await expectToAddUp(all, { freeQuota, credits });
    const [{ count }] = (await store.sql<{ count: number }>(
      'select count(*)::integer as count from ledger_entries where account_id = $1',
      [caller.accountId],
    )) as [{ count: number }];
    expect(all).toHaveLength(count);
  });

  it('has no entry come in below one that was seen: a return waits for its id as it waits for the account', async () => {
    const failing = await send();
    const seen = await store.database.transaction(async (transaction) => {
      await transaction.sql
        .query`select from accounts where id = ${caller.accountId}::uuid for no key update`;
      const failed = fail(failing);
      await until('a return that waits for the account', async () => (await store.countLockWaits()) > 0);
      const [{ id }] = await transaction.sql.query<[{ id: bigint }]>`
        insert into ledger_entries (account_id, kind, bucket, units) values (${caller.accountId}::uuid, 'granted', 'credit', 1)
        returning id`;
      return { id, failed };
    });
    await seen.failed;
    const [newest, next] = await entriesOf(2);
    expect([newest!.kind, newest!.sendId, next!.id]).toEqual(['returned', failing, String(seen.id)]);
  });
});
