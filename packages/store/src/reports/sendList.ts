import {
  type DeliveryState,
  type FailureReason,
  type Locale,
  type Mode,
  type Verification,
} from '@onecode/domain';
import type { Database } from '../client/database.js';
import { Prisma } from '../generated/prisma/client.js';
import { CLOCKS_APART_MS, isId } from '../client/ids.js';
import { InvalidCursor, type Page } from './pages.js';
import { SUMMARY_COLUMNS, toSummary, type SendSummary, type SummaryRow } from './sendSummary.js';

/** Which sends to list; an omitted field restricts nothing. */
export interface SendFilter {
  applicationId?: string;
  mode?: Mode;
  /** `arrived`: delivered or read. */
  status?: DeliveryState | 'arrived';
  failureReason?: FailureReason;
  verification?: Verification;
  /** ISO 3166, or `NO_COUNTRY`. */
  country?: string;
  locale?: Locale;
  /** Inclusive. */
  createdFrom?: Date;
  /** Exclusive. */
  createdTo?: Date;
  /** All keys of one recipient: finds the sends to every form of the number, even to a number that is no longer stored. */
  recipientKeys?: readonly string[];
  /** The last digits of numbers. */
  recipientEndsWith?: string;
}

export interface SendPage {
  sends: SendSummary[];
  /** The cursor of the next page; null at the end. A page that is not full may have one: the search reached its limit. */
  next: string | null;
}

/** The most sends of an application that are searched for one page. */
const SEARCHED_MAX = 40_000;
/** The longest validity of a code (5,400 seconds), plus time for the sweeper. Older sends are not waiting. */
const OPEN_MS_MAX = 6_000_000;
const BEYOND_ALL = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/**
 * Returns an account's sends, newest first: by id, or by time for one recipient. Sends created between two pages do not change later pages.
 * Of waiting sends (`queued`, `sending`, `pending`), it finds only those younger than the longest validity.
 *
 * @throws InvalidCursor
 */
export async function listSends(
  database: Database,
  accountId: string,
  filter: SendFilter,
  { limit, before }: Page,
): Promise<SendPage> {
  if (before !== undefined && !isId(before)) throw new InvalidCursor();
  const isByTime = filter.recipientKeys !== undefined;
  const order = isByTime ? Prisma.sql`s.created_at desc, s.id desc` : Prisma.sql`s.id desc`;
  const rows = await database.sql.query<(SummaryRow & { isLast: boolean; isFound: boolean })[]>`
    select ${SUMMARY_COLUMNS}, s.is_last as "isLast", s.is_found as "isFound"
    from (
      select s.* from ${isByTime ? Prisma.sql`unnest(array['test', 'live']) a (mode), unnest(${[...(filter.recipientKeys ?? [])]}::text[]) k (recipient_key)` : Prisma.sql`applications a`}
      cross join lateral (
        -- The last row that was read, matching or not, is where the next page starts.
        select * from (
          select s.*, row_number() over (order by ${order}) = ${SEARCHED_MAX} as is_last, ${matches(filter)} as is_found
          from sends s where ${isByTime ? scanRecipient(accountId, before) : scanApplication(filter, before)}
          order by ${order} limit ${SEARCHED_MAX}::integer
        ) s
        where s.is_found or s.is_last order by ${order} limit ${limit + 2}::integer
      ) s
      where ${isByTime ? Prisma.sql`true` : whichApplications(accountId, filter)}
    ) s join applications a on a.id = s.application_id
    order by ${order}`;
  const end = rows.findIndex(({ isLast }) => isLast);
  const found = (end === -1 ? rows : rows.slice(0, end + 1)).filter(({ isFound }) => isFound);
  const next = found.length > limit ? found[limit - 1] : rows[end];
  const sends = found.slice(0, limit).map(({ isLast: _isLast, isFound: _isFound, ...row }) => toSummary(row));
  return { sends, next: next?.id ?? null };
}

/** Returns SQL for the sends `s` of an application `a` that may match, through an index by id. */
const scanApplication = (filter: SendFilter, before: string | undefined): Prisma.Sql => Prisma.sql`
  s.application_id = a.id and s.id < ${before === undefined ? upperBound(filter) : Prisma.sql`${before}::uuid`} and s.id >= ${lowerBound(filter)}
  ${filter.status === 'failed' || filter.failureReason !== undefined ? Prisma.sql`and s.failed_at is not null` : Prisma.empty}
  ${filter.verification === 'locked' ? Prisma.sql`and s.locked_at is not null` : Prisma.empty}`;

const whichApplications = (accountId: string, { applicationId, mode }: SendFilter): Prisma.Sql => Prisma.sql`
  a.account_id = ${accountId}::uuid
  ${applicationId === undefined ? Prisma.empty : Prisma.sql`and a.id = ${applicationId}::uuid`}
  ${mode === undefined ? Prisma.empty : Prisma.sql`and a.mode = ${mode}`}`;

/** Returns SQL for the sends `s` of a mode `a` to a recipient with a key `k`, through the index by recipient. */
const scanRecipient = (accountId: string, before: string | undefined): Prisma.Sql => Prisma.sql`
  s.account_id = ${accountId}::uuid and s.mode = a.mode and s.recipient_key = k.recipient_key
  ${
    before === undefined
      ? Prisma.empty
      : // A cursor from another account finds nothing.
        Prisma.sql`and (s.created_at, s.id) < (
          select b.created_at, b.id from sends b where b.id = ${before}::uuid and (b.account_id = ${accountId}::uuid) is true
        )`
  }`;

const isOpen = ({ status, verification }: SendFilter): boolean =>
  status === 'queued' || status === 'sending' || verification === 'pending';

/** Returns an id above all matching sends. Ids are made earlier than their sends, and by other clocks. */
const upperBound = ({ createdTo }: SendFilter): Prisma.Sql =>
  createdTo === undefined
    ? Prisma.sql`${BEYOND_ALL}::uuid`
    : firstIdAt(createdTo.getTime() + CLOCKS_APART_MS);

/** Returns an id below all matching sends. */
function lowerBound(filter: SendFilter): Prisma.Sql {
  const from = filter.createdFrom?.getTime() ?? 0;
  const openSince = isOpen(filter) ? Date.now() - OPEN_MS_MAX : 0;
  return firstIdAt(Math.max(0, Math.max(from, openSince) - CLOCKS_APART_MS));
}

const firstIdAt = (ms: number): Prisma.Sql => Prisma.sql`first_id_at(${new Date(ms)}::timestamptz)`;

const matches = ({
  applicationId,
  mode,
  createdFrom,
  createdTo,
  status,
  failureReason,
  verification,
  country,
  locale,
  recipientEndsWith,
}: SendFilter): Prisma.Sql => Prisma.sql`(true
  ${applicationId === undefined ? Prisma.empty : Prisma.sql`and s.application_id = ${applicationId}::uuid`}
  ${mode === undefined ? Prisma.empty : Prisma.sql`and s.mode = ${mode}`}
  ${createdFrom === undefined ? Prisma.empty : Prisma.sql`and s.created_at >= ${createdFrom}`}
  ${createdTo === undefined ? Prisma.empty : Prisma.sql`and s.created_at < ${createdTo}`}
  ${status === undefined ? Prisma.empty : status === 'arrived' ? ARRIVED : Prisma.sql`and s.status = ${status}`}
  ${failureReason === undefined ? Prisma.empty : Prisma.sql`and s.failure_reason = ${failureReason}`}
  ${country === undefined ? Prisma.empty : Prisma.sql`and s.country = ${country}`}
  ${locale === undefined ? Prisma.empty : Prisma.sql`and s.locale = ${locale}`}
  ${recipientEndsWith === undefined ? Prisma.empty : Prisma.sql`and right(s.recipient, ${recipientEndsWith.length}::integer) = ${recipientEndsWith}`}
  ${verification === undefined ? Prisma.empty : VERIFICATION[verification]})`;

/** The overview defines a delivery in the same way. */
const ARRIVED = Prisma.sql`and (s.delivered_at is not null or s.status in ('delivered', 'read'))`;

const VERIFICATION: Record<Verification, Prisma.Sql> = {
  pending: Prisma.sql`and s.verification = 'pending' and s.expires_at > statement_timestamp()`,
  expired: Prisma.sql`and s.verification = 'pending' and s.expires_at <= statement_timestamp()`,
  verified: Prisma.sql`and s.verification = 'verified'`,
  locked: Prisma.sql`and s.verification = 'locked'`,
};
