import { findAccount } from '@onecode/store/accounts';
import { readRetention, applyRetention } from '@onecode/store/sends';
import {
  buildAccount,
  buildCaller,
  buildSend,
  buildSender,
  fillHistory,
  TEST_NUMBER_PEPPER,
  useTestDatabase,
} from '@onecode/testing';

const db = useTestDatabase();

describe('fillHistory', () => {
  it('writes past sends with gapless numbers, a consistent ledger and days to aggregate, and leaves room for new sends', async () => {
    const accountId = await buildAccount(db.database, { freeQuota: 0 });
    const live = await buildCaller(db.database, 'live', { id: accountId });
    const test = await buildCaller(db.database, 'test', { id: accountId });
    const sender = await buildSender(db.database);
    await fillHistory(db.url, {
      applications: [live, test],
      senderId: sender.id,
      sends: 2_000,
      days: 30,
      endedDaysAgo: 40,
      numberPepper: TEST_NUMBER_PEPPER,
    });

    const [sums] = await db.sql(
      `select count(*)::integer as sends, (select sum(sends_created) from applications)::integer as last,
         bool_and(created_at > now() - interval '71 days' and created_at < now() - interval '40 days') as in_time from sends`,
    );
    expect(sums).toEqual({ sends: 2_000, last: 2_000, in_time: true });
    const [unordered] = await db.sql(
      `select count(*)::integer as count from (
         select created_at < lag(created_at) over (partition by application_id order by application_number) as back from sends) s where back`,
    );
    expect(unordered).toEqual({ count: 0 });
    const [ledger] = await db.sql<{ balance: number }>(
      `select sum(case kind when 'reserved' then -units else units end)::integer as balance from ledger_entries`,
    );
    expect((await findAccount(db.database, accountId))?.credits).toBe(ledger?.balance);
    const ends = await db.sql('select distinct status from sends order by 1');
    expect(ends.map(({ status }) => status)).toEqual(['delivered', 'failed', 'read', 'sent']);
    expect(await buildSend(db.database, live)).toEqual(expect.any(String));
    expect((await readRetention(db.database)).seconds).toBeGreaterThan(86_400);
    await applyRetention(db.database, new AbortController().signal);
    expect((await readRetention(db.database)).seconds).toBeLessThan(0);
  });
});
