import type { DeliveryState, Mode, Verification } from '@onecode/domain';
import type { Database } from '../client/database.js';
import { Prisma } from '../generated/prisma/client.js';
import { cursorOf, readCursor, type Page } from './pages.js';
import { SUMMARY_COLUMNS, summaryOf, type SendSummary, type SummaryRow } from './sendSummary.js';

/** Which sends to list; a field that is left out restricts nothing. */
export interface SendFilter {
  applicationId?: string;
  mode?: Mode;
  status?: DeliveryState;
  verification?: Verification;
  /** Inclusive. */
  createdFrom?: Date;
  /** Exclusive. */
  createdTo?: Date;
  /** The whole number in its canonical form: finds the sends to every form of it. */
  canonicalRecipient?: string;
}

export interface SendPage {
  sends: SendSummary[];
  /** The cursor of the next page; null at the end. A page that is not full may have one: then the search reached its limit. */
  next: string | null;
}

/** Sends of an account that are searched for one page at the most, whatever the filter. */
const SCANNED_MAX = 100_000;
/** Longer than any code is valid (5400 seconds), with time for the sweeper: older sends wait for nothing. */
const OPEN_SECONDS_MAX = 6_000;

/**
 * An account's sends, newest first. Sends that are created between two pages change no later page. A cursor works with any filter. Of
 * waiting sends (`queued`, `sending`, `pending`) it finds only those that are younger than the longest validity.
 *
 * @throws InvalidCursor
 */
export async function listSends(
  database: Database,
  accountId: string,
  filter: SendFilter,
  page: Page,
): Promise<SendPage> {
  const rows = await database.sql.query<(SummaryRow & RangeRow)[]>`
    with range as materialized (
      select high, case when ${isSearch(filter)} then greatest(low, high - ${SCANNED_MAX}) else low end as searched, low
      from (select ${highest(accountId, filter, page)} as high, ${lowest(accountId, filter)} as low) as bounds
    )
    select range.searched, range.low, statement_timestamp() as now, found.*
    from range left join lateral (
      select ${SUMMARY_COLUMNS}, s.account_number
      from ${filter.canonicalRecipient === undefined ? byNumber(accountId, filter, page.limit) : byRecipient(accountId, filter, page.limit)}
      order by s.account_number desc limit ${page.limit + 1}::integer
    ) found on true
    order by found.account_number desc`;
  const found = rows.filter((row) => row.id !== null);
  return { sends: found.slice(0, page.limit).map(summaryOf), next: nextOf(rows, page.limit) };
}

interface RangeRow {
  account_number: bigint;
  low: bigint;
  searched: bigint;
}

function nextOf(rows: readonly (SummaryRow & RangeRow)[], limit: number): string | null {
  const last = rows[limit - 1];
  if (rows.length > limit && last !== undefined) return cursorOf(last.account_number);
  const [range] = rows;
  return range !== undefined && range.searched > range.low ? cursorOf(range.searched) : null;
}

/** Whether the filter has to test sends that no index tells apart. */
function isSearch({ status, verification, canonicalRecipient }: SendFilter): boolean {
  if (canonicalRecipient !== undefined || status === 'failed' || verification === 'locked') return false;
  return status !== undefined || verification !== undefined;
}

const isOpen = ({ status, verification }: SendFilter): boolean =>
  status === 'queued' || status === 'sending' || verification === 'pending';

/** The account number that all matching sends are below. */
function highest(accountId: string, { createdTo }: SendFilter, { before }: Page): Prisma.Sql {
  const [cursor] = before === undefined ? [] : readCursor(before, 1);
  const end = createdTo === undefined ? Prisma.sql`'infinity'` : Prisma.sql`${createdTo}`;
  const number = Prisma.sql`account_number_at(${accountId}::uuid, ${end}::timestamptz)`;
  return cursor === undefined ? number : Prisma.sql`least(${cursor}::bigint, ${number})`;
}

/** The lowest account number that a matching send can have. */
function lowest(accountId: string, filter: SendFilter): Prisma.Sql {
  const { createdFrom } = filter;
  const bounds = [
    ...(createdFrom === undefined ? [] : [Prisma.sql`${createdFrom}::timestamptz`]),
    ...(isOpen(filter)
      ? [Prisma.sql`statement_timestamp() - make_interval(secs => ${OPEN_SECONDS_MAX})`]
      : []),
  ];
  return bounds.length === 0
    ? Prisma.sql`1::bigint`
    : Prisma.sql`account_number_at(${accountId}::uuid, greatest(${Prisma.join(bounds)}))`;
}

/** The newest matching sends `s` of each application `a`, along the index by number. */
function byNumber(accountId: string, filter: SendFilter, limit: number): Prisma.Sql {
  const { applicationId, mode } = filter;
  return Prisma.sql`applications a cross join lateral (
      -- "offset 0": looked up once for each application, whatever the plan of the walk.
      select application_number_at(a.id, range.high) as high, application_number_at(a.id, range.searched) as low offset 0
    ) own cross join lateral (
      select s.* from sends s
      where s.application_id = a.id and s.application_number < own.high and s.application_number >= own.low ${states(filter)}
      order by s.application_number desc limit ${limit + 1}::integer
    ) s
    where a.account_id = ${accountId}::uuid
      ${applicationId === undefined ? Prisma.empty : Prisma.sql`and a.id = ${applicationId}::uuid`}
      ${mode === undefined ? Prisma.empty : Prisma.sql`and a.mode = ${mode}`}`;
}

/**
 * The newest matching sends `s` of each mode to one recipient, along the index by recipient. That index is in the order of times, so all
 * that share the time of the last one are taken, and the account numbers decide.
 */
function byRecipient(accountId: string, filter: SendFilter, limit: number): Prisma.Sql {
  const { applicationId, mode, canonicalRecipient } = filter;
  const modes = mode === undefined ? ['test', 'live'] : [mode];
  return Prisma.sql`unnest(${modes}::text[]) as m (mode) cross join lateral (
      select s.* from sends s
      where s.account_id = ${accountId}::uuid and s.mode = m.mode and s.canonical_recipient = ${canonicalRecipient}
        and s.created_at <= coalesce((
          select n.created_at from sends n where n.account_id = ${accountId}::uuid and n.account_number = range.high - 1
        ), 'infinity')
        -- "is true" keeps other indexes away: the one by recipient gives the order.
        and (s.account_number < range.high) is true and (s.account_number >= range.searched) is true ${states(filter)}
        ${applicationId === undefined ? Prisma.empty : Prisma.sql`and (s.application_id = ${applicationId}::uuid) is true`}
      order by s.created_at desc fetch first (${limit + 1}::integer) rows with ties
    ) s join applications a on a.id = s.application_id`;
}

function states({ status, verification }: SendFilter): Prisma.Sql {
  return Prisma.sql`${status === undefined ? Prisma.empty : STATUS[status]}
    ${verification === undefined ? Prisma.empty : VERIFICATION[verification]}`;
}

/** Literals instead of parameters: a generic plan could use no partial index. */
const STATUS: Record<DeliveryState, Prisma.Sql> = {
  queued: Prisma.sql`and s.status = 'queued'`,
  sending: Prisma.sql`and s.status = 'sending'`,
  sent: Prisma.sql`and s.status = 'sent'`,
  delivered: Prisma.sql`and s.status = 'delivered'`,
  read: Prisma.sql`and s.status = 'read'`,
  failed: Prisma.sql`and s.failed_at is not null`,
};
const VERIFICATION: Record<Verification, Prisma.Sql> = {
  pending: Prisma.sql`and s.verification = 'pending' and s.expires_at > statement_timestamp()`,
  expired: Prisma.sql`and s.verification = 'pending' and s.expires_at <= statement_timestamp()`,
  verified: Prisma.sql`and s.verification = 'verified'`,
  locked: Prisma.sql`and s.locked_at is not null`,
};
