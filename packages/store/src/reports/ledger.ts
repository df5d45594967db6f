import type { UnitBucket } from '@onecode/domain';
import type { Database } from '../client/database.js';
import { Prisma } from '../generated/prisma/client.js';
import { encodeCursor, decodeCursor, type Page } from './pages.js';

export type LedgerKind = 'granted' | 'reserved' | 'returned' | 'reclaimed' | 'expired';

/**
 * Units granted to an account, reserved for a send, returned after a failure, reclaimed because the failed send's code was verified, or
 * expired.
 */
export interface LedgerEntry {
  id: string;
  /** The send for which the unit was reserved. */
  sendId: string | null;
  kind: LedgerKind;
  bucket: UnitBucket;
  /** Negative if reserved, reclaimed or expired. */
  change: number;
  reason: string | null;
  /** For a grant. */
  reference: string | null;
  /** For a grant, when the rest of it expires; for expired units, when they expired. */
  expiresAt: Date | null;
  at: Date;
  /** The account's balance after this entry. */
  balance: { freeQuota: number; credits: number };
}

export interface LedgerPage {
  entries: LedgerEntry[];
  /** The cursor of the next page; null at the end. A page of one kind may have one even if it is not full, as in the list of sends. */
  next: string | null;
}

/** The change of a bucket by an entry of `ledger_entries`. */
const CHANGE = Prisma.sql`case when kind in ('reserved', 'reclaimed', 'expired') then -units else units end`;

/** The most entries that are read for one page of one kind. */
const SCANNED_MAX = 100_000;
/** Greater than every id. */
const NEWEST = 2n ** 63n - 1n;

/**
 * Returns an account's ledger, newest first, with the balance after each entry: the current balance minus all later entries. Every entry
 * gets its id under the account's lock, so no new entry ever appears below one that was read. A cursor carries the balance at its position,
 * so a late page costs no more than an early one.
 *
 * @throws InvalidCursor
 */
export async function listLedger(
  database: Database,
  accountId: string,
  { limit, before, kind }: Page & { kind?: LedgerKind },
): Promise<LedgerPage> {
  const [id, freeQuota, credits] = before === undefined ? [] : decodeCursor(before, 3);
  const account = Prisma.sql`from accounts where id = ${accountId}::uuid`;
  const rows = await database.sql.query<LedgerRow[]>`
    select id, send_id as "sendId", kind, bucket, change, reason, reference, expires_at as "expiresAt", created_at as at, position,
      ${freeQuota ?? Prisma.sql`(select free_quota ${account})`}::bigint - later_free_quota as "freeQuota",
      ${credits ?? Prisma.sql`(select credits ${account})`}::bigint - later_credits as credits
    from (
      select l.*, row_number() over later as position,
        coalesce(sum(change) filter (where bucket = 'free_quota') over later, 0)::bigint as later_free_quota,
        coalesce(sum(change) filter (where bucket = 'credit') over later, 0)::bigint as later_credits
      from (
        select e.*, ${CHANGE} as change from ledger_entries e
        -- This condition selects only this account's entries, written so that only the index by account gives the order. If the planner
        -- takes the account for a large one, it would otherwise read all accounts' entries, newest first.
        where (e.account_id, e.id) < (${accountId}::uuid, ${id ?? NEWEST}::bigint) and e.account_id >= ${accountId}::uuid
        order by e.account_id desc, e.id desc limit ${SCANNED_MAX}
      ) l
      window later as (order by l.account_id desc, l.id desc rows between unbounded preceding and 1 preceding)
    ) l
    where ${kind === undefined ? Prisma.sql`true` : Prisma.sql`(kind = ${kind} or position = ${SCANNED_MAX})`}
    order by account_id desc, id desc limit ${limit + 1}::integer`;
  const wanted = rows.filter((row) => kind === undefined || row.kind === kind);
  const last =
    wanted.length > limit ? wanted[limit - 1] : rows.find((row) => Number(row.position) === SCANNED_MAX);
  return {
    entries: wanted.slice(0, limit).map(toEntry),
    next: last === undefined ? null : cursorAfter(last),
  };
}

interface LedgerRow extends Omit<LedgerEntry, 'id' | 'balance'> {
  id: bigint;
  position: bigint;
  freeQuota: bigint;
  credits: bigint;
}

/** Returns the cursor after a row: its id, and the account's balance before it. */
function cursorAfter({ id, bucket, change, freeQuota, credits }: LedgerRow): string {
  return bucket === 'free_quota'
    ? encodeCursor(id, freeQuota - BigInt(change), credits)
    : encodeCursor(id, freeQuota, credits - BigInt(change));
}

const toEntry = ({ id, position: _position, freeQuota, credits, ...entry }: LedgerRow): LedgerEntry => ({
  id: String(id),
  ...entry,
  balance: { freeQuota: Number(freeQuota), credits: Number(credits) },
});

/** An account's units. */
export interface Balance {
  freeQuota: number;
  credits: number;
  /** The credits that will expire if they are not used, by time of expiry. */
  expiring: { at: Date; units: number }[];
}

/** Returns an account's balance, or null if the account does not exist. */
export async function findBalance(database: Database, accountId: string): Promise<Balance | null> {
  const [row] = await database.sql.query<
    (Omit<Balance, 'expiring'> & { expiring: { at: string; units: number }[] })[]
  >`
    select free_quota as "freeQuota", credits, (
      select coalesce(jsonb_agg(jsonb_build_object('at', expires_at, 'units', units) order by expires_at), '[]')
      from remaining_credit_grants(a.id) where expires_at is not null and units > 0
    ) as expiring
    from accounts a where id = ${accountId}::uuid`;
  return row === undefined
    ? null
    : { ...row, expiring: row.expiring.map(({ at, units }) => ({ at: new Date(at), units })) };
}

/** Units of both buckets. */
export type Units = Record<UnitBucket, number>;

/** The changes of an account's units between two times: opening + granted - reserved + returned - reclaimed - expired = closing. */
export interface Statement {
  opening: Units;
  granted: Units;
  reserved: Units;
  returned: Units;
  reclaimed: Units;
  expired: Units;
  closing: Units;
  /** Latest first. */
  grants: {
    at: Date;
    bucket: UnitBucket;
    units: number;
    reason: string | null;
    reference: string | null;
    expiresAt: Date | null;
  }[];
}

/**
 * Returns an account's statement from one time up to, but not including, another. Reads backward from now in parts, so that no statement is
 * long, whatever the size. Entries written meanwhile are not read.
 *
 * @returns null if the account does not exist
 */
export async function readStatement(
  database: Database,
  accountId: string,
  from: Date,
  to: Date,
): Promise<Statement | null> {
  const none = (): Units => ({ free_quota: 0, credit: 0 });
  const [now] = await database.sql.query<[(Units & { newest: bigint | null })?]>`
    select free_quota, credits as credit, (
      select id from ledger_entries where account_id = a.id order by account_id desc, id desc limit 1
    ) as newest
    from accounts a where id = ${accountId}::uuid`;
  if (now === undefined) return null;
  const changes = { granted: none(), reserved: none(), returned: none(), reclaimed: none(), expired: none() };
  const [net, later] = [none(), none()];
  const grants: Statement['grants'] = [];
  for (let before: bigint | null = now.newest === null ? null : now.newest + 1n; before !== null;) {
    const rows: StatementRow[] = await database.sql.query<StatementRow[]>`
      with page as materialized (
        select * from ledger_entries where (account_id, id) < (${accountId}::uuid, ${before}::bigint) and account_id >= ${accountId}::uuid
        order by account_id desc, id desc limit ${SCANNED_MAX}
      )
      select kind, bucket, created_at >= ${to} as is_later, sum(units)::float8 as units, sum(${CHANGE})::float8 as change,
        coalesce(jsonb_agg(jsonb_build_object('at', created_at, 'bucket', bucket, 'units', units, 'reason', reason,
          'reference', reference, 'expiresAt', expires_at) order by id desc)
          filter (where kind = 'granted' and created_at < ${to}), '[]') as grants,
        (select min(id) from page having count(*) = ${SCANNED_MAX} and min(created_at) >= ${from}) as next
      from page where created_at >= ${from} group by 1, 2, 3`;
    for (const { kind, bucket, is_later: isLater, units, change, grants: granted } of rows) {
      if (isLater) later[bucket] += change;
      else changes[kind][bucket] += units;
      net[bucket] += isLater ? 0 : change;
      grants.push(...granted.map(toGrant));
    }
    before = rows[0]?.next ?? null;
  }
  const each = (unitsOf: (bucket: UnitBucket) => number): Units => ({
    free_quota: unitsOf('free_quota'),
    credit: unitsOf('credit'),
  });
  const closing = each((bucket) => now[bucket] - later[bucket]);
  const opening = each((bucket) => closing[bucket] - net[bucket]);
  const latestFirst = grants.toSorted((one, other) => other.at.getTime() - one.at.getTime());
  return { opening, ...changes, closing, grants: latestFirst };
}

interface StatementRow {
  kind: LedgerKind;
  bucket: UnitBucket;
  /** Whether the entry is later than the end of the statement. */
  is_later: boolean;
  units: number;
  change: number;
  grants: GrantRow[];
  next: bigint | null;
}

type GrantRow = Omit<Statement['grants'][number], 'at' | 'expiresAt'> & {
  at: string;
  expiresAt: string | null;
};

const toGrant = ({ at, expiresAt, ...grant }: GrantRow): Statement['grants'][number] => ({
  ...grant,
  at: new Date(at),
  expiresAt: expiresAt === null ? null : new Date(expiresAt),
});

/** A disagreement with the ledger: an account's balance, or a live send's reservation or refund. */
export type LedgerFault =
  | { accountId: string; bucket: UnitBucket; balance: number; ledger: number }
  | {
      accountId: string;
      sendId: string;
      reserved: number;
      returned: number;
      reclaimed: number;
      isFailed: boolean;
    };

/**
 * Checks the whole ledger in one snapshot: each balance must be the sum of its entries, and each stored live send must have one reservation
 * from its bucket. A failed send holds no unit, unless its code was verified and a message may have arrived; any other send holds one.
 * Reads every row, so a large database needs a statement time-out of minutes.
 *
 * @returns the numbers of accounts and entries, and the first faults
 */
export async function verifyLedger(
  database: Database,
  faultsMax: number,
): Promise<{ accounts: number; entries: number; faults: LedgerFault[] }> {
  return database.transaction(
    async ({ sql }) => {
      await sql.execute`set transaction isolation level repeatable read, read only`;
      // Behind a pooler, a session has the pooler's time-out.
      await sql.execute`select set_config('statement_timeout', ${String(VERIFY_MS_MAX)}, true)`;
      const [counts] = await sql.query<[{ accounts: number; entries: number }]>`
        select (select count(*) from accounts)::float8 as accounts, (select count(*) from ledger_entries)::float8 as entries`;
      const balances = await sql.query<LedgerFault[]>`
        with sums as (
          select account_id, bucket, sum(${CHANGE}) as units
          from ledger_entries group by 1, 2
        )
        select a.id as "accountId", b.bucket, b.units as balance, coalesce(s.units, 0)::float8 as ledger
        from accounts a cross join lateral (values ('free_quota', free_quota), ('credit', credits)) as b (bucket, units)
        left join sums s on s.account_id = a.id and s.bucket = b.bucket
        where b.units <> coalesce(s.units, 0) limit ${faultsMax}::integer`;
      const sends = await sql.query<LedgerFault[]>`
        with of_sends as (
          select l.send_id, count(*) filter (where l.kind = 'reserved' and l.bucket = s.charged_from) as reserved,
            count(*) filter (where l.kind = 'returned' and l.bucket = s.charged_from) as returned,
            count(*) filter (where l.kind = 'reclaimed') as reclaimed, count(*) as entries
          from ledger_entries l join sends s on s.id = l.send_id group by 1
        )
        select s.account_id as "accountId", s.id as "sendId", coalesce(e.reserved, 0)::integer as reserved,
          coalesce(e.returned, 0)::integer as returned, coalesce(e.reclaimed, 0)::integer as reclaimed, s.status = 'failed' as "isFailed"
        from sends s left join of_sends e on e.send_id = s.id
        where s.mode = 'live' and (
          coalesce(e.reserved, 0) <> 1 or e.entries <> e.reserved + e.returned + e.reclaimed or e.returned > 1 or e.returned < e.reclaimed
          or (s.status <> 'failed' and e.returned > 0)
          or (s.status = 'failed' and e.returned - e.reclaimed <> case when s.verification = 'verified' and may_have_arrived(s.id) then 0 else 1 end)
        )
        limit ${faultsMax}::integer`;
      return { ...counts, faults: [...balances, ...sends] };
    },
    { timeout: VERIFY_MS_MAX },
  );
}

const VERIFY_MS_MAX = 3_600_000;
