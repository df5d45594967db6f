import type { DeliveryState, Mode, Verification } from '@onecode/domain';
import type { Database } from '../client/database.js';
import { Prisma } from '../generated/prisma/client.js';
import { cursorOf, readCursor } from './cursor.js';
import { SUMMARY_COLUMNS, summaryOf, type SendSummary, type SummaryRow } from './sendSummary.js';

/** Which sends are wanted; what is left out does not matter. */
export interface SendFilter {
  applicationId?: string;
  mode?: Mode;
  status?: DeliveryState;
  verification?: Verification;
  /** From this time on. */
  createdFrom?: Date;
  /** Before this time. */
  createdTo?: Date;
  /** The whole number in its canonical form: sends to any form of it are found. */
  canonicalRecipient?: string;
}

/** One page of a list that is read by cursor. */
export interface Page {
  limit: number;
  /** The `next` of the page before this one. */
  before?: string;
}

export interface SendPage {
  sends: SendSummary[];
  /** Where the list goes on; null at its end. A page that is not full may have one: then the search went far enough for one go. */
  next: string | null;
}

/** No more sends of an account than this are looked through for one page, whatever it filters by. */
const LOOKED_THROUGH_MAX = 100_000;
/** Longer than any code is valid (5400 seconds) and than its end is awaited: older sends wait for nothing. */
const OPEN_SECONDS_MAX = 6_000;

/**
 * An account's sends, newest first. New ones that come while pages are turned change no later page. A cursor is good for any
 * filter. Of sends that wait (`queued`, `sending`, `pending`) only those are found that are younger than the longest validity.
 *
 * @throws InvalidCursor
 */
export async function listSends(
  database: Database,
  accountId: string,
  filter: SendFilter,
  page: Page,
): Promise<SendPage> {
  const rows = await database.$queryRaw<(SummaryRow & PlaceRow)[]>`
    with place as materialized (
      select high, case when ${isSearch(filter)} then greatest(low, high - ${LOOKED_THROUGH_MAX}) else low end as searched, low
      from (select ${highest(accountId, filter, page)} as high, ${lowest(accountId, filter)} as low) as bounds
    )
    select place.searched, place.low, statement_timestamp() as now, found.*
    from place left join lateral (
      select ${SUMMARY_COLUMNS}, s.account_number
      from ${filter.canonicalRecipient === undefined ? byNumber(accountId, filter, page.limit) : byRecipient(accountId, filter, page.limit)}
      order by s.account_number desc limit ${page.limit + 1}::integer
    ) found on true
    order by found.account_number desc`;
  const found = rows.filter((row) => row.id !== null);
  return { sends: found.slice(0, page.limit).map(summaryOf), next: nextOf(rows, page.limit) };
}

interface PlaceRow {
  account_number: bigint;
  low: bigint;
  searched: bigint;
}

function nextOf(rows: readonly (SummaryRow & PlaceRow)[], limit: number): string | null {
  const last = rows[limit - 1];
  if (rows.length > limit && last !== undefined) return cursorOf(last.account_number);
  const [place] = rows;
  return place !== undefined && place.searched > place.low ? cursorOf(place.searched) : null;
}

/** Whether the filter has to look through sends that no index tells apart. */
function isSearch({ status, verification, canonicalRecipient }: SendFilter): boolean {
  if (canonicalRecipient !== undefined || status === 'failed' || verification === 'locked') return false;
  return status !== undefined || verification !== undefined;
}

const isOpen = ({ status, verification }: SendFilter): boolean =>
  status === 'queued' || status === 'sending' || verification === 'pending';

/** The account number that all wanted sends are below. */
function highest(accountId: string, { createdTo }: SendFilter, { before }: Page): Prisma.Sql {
  const [cursor] = before === undefined ? [] : readCursor(before, 1);
  const end = createdTo === undefined ? Prisma.sql`'infinity'` : Prisma.sql`${createdTo}`;
  const number = Prisma.sql`account_number_at(${accountId}::uuid, ${end}::timestamptz)`;
  return cursor === undefined ? number : Prisma.sql`least(${cursor}::bigint, ${number})`;
}

/** The lowest account number that a wanted send can have. */
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

/** The newest wanted sends `s` of each application `a`, along the index by number. */
function byNumber(accountId: string, filter: SendFilter, limit: number): Prisma.Sql {
  const { applicationId, mode } = filter;
  return Prisma.sql`applications a cross join lateral (
      -- Looked up once for each application, whatever the walk's plan is.
      select application_number_at(a.id, place.high) as high, application_number_at(a.id, place.searched) as low offset 0
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
 * The newest wanted sends `s` of each mode to one recipient, along the index by recipient. They come in the order of their times, so
 * all that share the time of the last one are taken: the numbers then decide.
 */
function byRecipient(accountId: string, filter: SendFilter, limit: number): Prisma.Sql {
  const { applicationId, mode, canonicalRecipient } = filter;
  const modes = mode === undefined ? ['test', 'live'] : [mode];
  return Prisma.sql`unnest(${modes}::text[]) as m (mode) cross join lateral (
      select s.* from sends s
      where s.account_id = ${accountId}::uuid and s.mode = m.mode and s.canonical_recipient = ${canonicalRecipient}
        and s.created_at <= coalesce((
          select n.created_at from sends n where n.account_id = ${accountId}::uuid and n.account_number = place.high - 1
        ), 'infinity')
        -- As truths, which no index can look up: the one by recipient is to give the order.
        and (s.account_number < place.high) is true and (s.account_number >= place.searched) is true ${states(filter)}
        ${applicationId === undefined ? Prisma.empty : Prisma.sql`and (s.application_id = ${applicationId}::uuid) is true`}
      order by s.created_at desc fetch first (${limit + 1}::integer) rows with ties
    ) s join applications a on a.id = s.application_id`;
}

function states({ status, verification }: SendFilter): Prisma.Sql {
  return Prisma.sql`${status === undefined ? Prisma.empty : STATUS[status]}
    ${verification === undefined ? Prisma.empty : VERIFICATION[verification]}`;
}

/** Words and not parameters: a plan for any value could use no partial index. */
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
