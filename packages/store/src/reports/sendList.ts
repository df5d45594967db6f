import type { DeliveryState, Mode, Verification } from '@onecode/domain';
import type { Database } from '../client/database.js';
import { Prisma } from '../generated/prisma/client.js';
import { CLOCKS_APART_MS, firstIdAt, isId } from '../client/ids.js';
import { InvalidCursor, type Page } from './pages.js';
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

/** Sends of an application that are searched for one page at the most, whatever the filter. */
const SCANNED_MAX = 100_000;
/** Longer than any code is valid (5400 seconds), with time for the sweeper: older sends wait for nothing. */
const OPEN_MS_MAX = 6_000_000;
const BEYOND_ALL = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/**
 * An account's sends, newest first by their ids. Sends that are created between two pages change no later page. A cursor works with any
 * filter. Of waiting sends (`queued`, `sending`, `pending`) it finds only those that are younger than the longest validity.
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
  const high = Prisma.sql`${before ?? endOf(filter)}::uuid`;
  const low = beginOf(filter);
  const scanned = isSearch(filter)
    ? Prisma.sql`(
        select x.id from applications a cross join lateral (
          select s.id from sends s where s.application_id = a.id and s.id < ${high} order by s.id desc offset ${SCANNED_MAX}::integer limit 1
        ) x where a.account_id = ${accountId}::uuid and x.id > ${low}::uuid order by x.id desc limit 1
      )`
    : Prisma.sql`null::uuid`;
  const rows = await database.sql.query<(SummaryRow & { scanned_to: string | null })[]>`
    with scanned as materialized (select ${scanned} as id)
    select scanned.id as scanned_to, statement_timestamp() as now, found.*
    from scanned left join lateral (
      select ${SUMMARY_COLUMNS}
      from applications a cross join lateral (
        select s.* from sends s
        where ${whose(accountId, filter)} and s.id < ${high} and s.id >= coalesce(scanned.id, ${low}::uuid) ${matches(filter)}
        order by s.id desc limit ${limit + 1}::integer
      ) s
      where a.account_id = ${accountId}::uuid ${ofApplication(filter)}
      order by s.id desc limit ${limit + 1}::integer
    ) found on true
    order by found.id desc`;
  const found = rows.filter((row) => row.id !== null);
  const last = found[limit - 1];
  const next = found.length > limit && last !== undefined ? last.id : (rows[0]?.scanned_to ?? null);
  return { sends: found.slice(0, limit).map(summaryOf), next };
}

/** Whether the filter has to test sends that no index tells apart. */
function isSearch({ status, verification, canonicalRecipient }: SendFilter): boolean {
  if (canonicalRecipient !== undefined || status === 'failed' || verification === 'locked') return false;
  return status !== undefined || verification !== undefined;
}

const isOpen = ({ status, verification }: SendFilter): boolean =>
  status === 'queued' || status === 'sending' || verification === 'pending';

/** An id above those of all matching sends. Ids are made before their sends, and by other clocks. */
const endOf = ({ createdTo }: SendFilter): string =>
  createdTo === undefined ? BEYOND_ALL : firstIdAt(new Date(createdTo.getTime() + CLOCKS_APART_MS));

/** An id below those of all matching sends. */
function beginOf(filter: SendFilter): string {
  const from = filter.createdFrom?.getTime() ?? 0;
  const openSince = isOpen(filter) ? Date.now() - OPEN_MS_MAX : 0;
  return firstIdAt(new Date(Math.max(0, Math.max(from, openSince) - CLOCKS_APART_MS)));
}

/** Which sends `s` are looked at for an application `a`: along the index by application, or by recipient. */
const whose = (accountId: string, { canonicalRecipient }: SendFilter): Prisma.Sql =>
  canonicalRecipient === undefined
    ? Prisma.sql`s.application_id = a.id`
    : // "is true" keeps other indexes away.
      Prisma.sql`s.account_id = ${accountId}::uuid and s.mode = a.mode and s.canonical_recipient = ${canonicalRecipient}
        and (s.application_id = a.id) is true`;

const ofApplication = ({ applicationId, mode }: SendFilter): Prisma.Sql => Prisma.sql`
  ${applicationId === undefined ? Prisma.empty : Prisma.sql`and a.id = ${applicationId}::uuid`}
  ${mode === undefined ? Prisma.empty : Prisma.sql`and a.mode = ${mode}`}`;

const matches = ({ createdFrom, createdTo, status, verification }: SendFilter): Prisma.Sql => Prisma.sql`
  ${createdFrom === undefined ? Prisma.empty : Prisma.sql`and s.created_at >= ${createdFrom}`}
  ${createdTo === undefined ? Prisma.empty : Prisma.sql`and s.created_at < ${createdTo}`}
  ${status === undefined ? Prisma.empty : STATUS[status]}
  ${verification === undefined ? Prisma.empty : VERIFICATION[verification]}`;

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
