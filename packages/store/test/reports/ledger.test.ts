import {
  findBalance,
  grantCredits,
  InvalidCursor,
  listLedger,
  newId,
  type LedgerEntry,
  type LedgerKind,
  type LedgerPage,
} from '@onecode/store';
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

async function pagesOf(
  limit: number,
  kind?: LedgerKind,
  between: () => Promise<unknown> = () => Promise.resolve(),
): Promise<LedgerPage[]> {
  const pages: LedgerPage[] = [];
  for (let before: string | null | undefined; before !== null;) {
    const page = await listLedger(store.database, caller.accountId, {
      limit,
      ...(kind !== undefined && { kind }),
      ...(before !== undefined && { before }),
    });
    pages.push(page);
    before = page.next;
    if (before !== null) await between();
  }
  return pages;
}
const entriesOf = (pages: readonly LedgerPage[]): LedgerEntry[] => pages.flatMap(({ entries }) => entries);

const untilWaits = () =>
  until('a statement that waits for the account', async () => {
    const waiting = await store.sql(
      `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
    return waiting.length > 0;
  });

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
  it('has every entry, newest first, with the balance after it', async () => {
    const [first, second] = [await send(), await send()];
    await fail(first);
    await grantCredits(store.database, TEST_ACTOR, caller.accountId, 7, 'thanks');
    const at: unknown = expect.any(Date);
    const entry = (fields: Partial<LedgerEntry>) => ({
      id: expect.any(String),
      sendId: null,
      reason: null,
      units: 1,
      at,
      ...fields,
    });
    expect(await pagesOf(10)).toEqual([
      {
        next: null,
        entries: [
          entry({
            kind: 'granted',
            bucket: 'credit',
            units: 7,
            reason: 'thanks',
            balance: { freeQuota: 4, credits: 107 },
          }),
          entry({
            kind: 'returned',
            bucket: 'free_quota',
            sendId: first,
            balance: { freeQuota: 4, credits: 100 },
          }),
          entry({
            kind: 'reserved',
            bucket: 'free_quota',
            sendId: second,
            balance: { freeQuota: 3, credits: 100 },
          }),
          entry({
            kind: 'reserved',
            bucket: 'free_quota',
            sendId: first,
            balance: { freeQuota: 4, credits: 100 },
          }),
          ...[
            { freeQuota: 5, credits: 100 },
            { freeQuota: 5, credits: 0 },
          ].map((balance, n) =>
            entry(
              n === 0
                ? { kind: 'granted', bucket: 'credit', units: 100, reason: 'account created', balance }
                : { kind: 'granted', bucket: 'free_quota', units: 5, reason: 'account created', balance },
            ),
          ),
        ],
      },
    ]);
  });

  it('adds up on every page while sends are created, fail and are paid for', async () => {
    const sends = await Promise.all(Array.from({ length: 30 }, send));
    const busy = Promise.all([
      ...sends.slice(0, 15).map(fail),
      ...Array.from({ length: 20 }, send),
      ...Array.from({ length: 5 }, () =>
        grantCredits(store.database, TEST_ACTOR, caller.accountId, 3, 'more'),
      ),
    ]);
    const walks = await Promise.all([3, 5, 8].map((limit) => pagesOf(limit, undefined, send)));
    await busy;
    for (const walk of walks) await expectToAddUp(entriesOf(walk));
    const { freeQuota, credits } = (await findBalance(store.database, caller.accountId))!;
    const all = entriesOf(await pagesOf(4));
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
      await untilWaits();
      const [{ id }] = await transaction.sql.query<[{ id: bigint }]>`
        insert into ledger_entries (account_id, kind, bucket, units) values (${caller.accountId}::uuid, 'granted', 'credit', 1)
        returning id`;
      return { id, failed };
    });
    await seen.failed;
    const [newest, next] = entriesOf(await pagesOf(2));
    expect([newest!.kind, newest!.sendId, next!.id]).toEqual(['returned', failing, String(seen.id)]);
  });

  it.each(['granted', 'reserved', 'returned'] as const)(
    'of one kind, %s, has the same balances as the whole',
    async (kind) => {
      const sends = await Promise.all(Array.from({ length: 8 }, send));
      for (const id of sends.slice(2, 6)) await fail(id);
      await grantCredits(store.database, TEST_ACTOR, caller.accountId, 3, 'more');
      const whole = entriesOf(await pagesOf(100));
      const some = await pagesOf(3, kind);
      expect(entriesOf(some)).toEqual(whole.filter((entry) => entry.kind === kind));
      expect(entriesOf(some).length).toBeGreaterThan(2);
    },
  );

  it('is that of one account', async () => {
    const stranger = await buildCaller(store.database, 'live', { credits: 9 });
    await buildSend(store.database, stranger);
    expect(entriesOf(await pagesOf(10)).map(({ units }) => units)).toEqual([100, 5]);
    expect(await listLedger(store.database, newId(), { limit: 10 })).toEqual({ entries: [], next: null });
  });

  it.each(['', 'x', Buffer.from('1.2').toString('base64url')])(
    'refuses %j, which is no cursor of it',
    async (cursor) => {
      const page = listLedger(store.database, caller.accountId, { limit: 1, before: cursor });
      await expect(page).rejects.toThrow(InvalidCursor);
    },
  );
});

describe('the balance', () => {
  it('is what is left, and how many sends were made in both modes', async () => {
    const test = await buildCaller(store.database, 'test', { id: caller.accountId });
    await send();
    await buildSend(store.database, test);
    expect(await findBalance(store.database, caller.accountId)).toEqual({
      freeQuota: 4,
      credits: 100,
      sendsCreated: 2,
    });
    expect(await findBalance(store.database, newId())).toBeNull();
  });
});
