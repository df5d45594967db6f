import type { TestDatabase } from '@onecode/testing';

interface Units {
  left: number;
  given: number;
  live: number;
  failed: number;
  reserved: number;
  returned: number;
}

/** Checks an account's units: those given are those left and those of sends that did not fail, and the ledger agrees. */
export async function expectUnitsToAddUp(db: TestDatabase, accountId: string): Promise<void> {
  const [units] = await db.sql<Units>(
    `select a.free_quota + a.credits as left, l.given, l.reserved, l.returned, s.live, s.failed
     from accounts a,
       (select count(*)::integer as live, count(*) filter (where status = 'failed')::integer as failed
          from sends where account_id = $1 and mode = 'live') s,
       (select sum(units) filter (where kind = 'granted')::integer as given,
          count(*) filter (where kind = 'reserved')::integer as reserved,
          count(*) filter (where kind = 'returned')::integer as returned
          from ledger_entries where account_id = $1) l
     where a.id = $1`,
    [accountId],
  );
  const { left, given, live, failed, reserved, returned } = units!;
  expect({ left, reserved, returned }).toEqual({
    left: given - (live - failed),
    reserved: live,
    returned: failed,
  });
}
