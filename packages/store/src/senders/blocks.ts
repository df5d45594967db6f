import type { Block, BlockSubject, Signal } from '@onecode/domain';
import type { Connection, Database } from '../client/database.js';
import { Prisma } from '../generated/prisma/client.js';
import { queueSenderBlockedAlert } from '../mails/senderBlocks.js';

const COLUMNS = Prisma.sql`cause, scope, subject, only_for as "onlyFor", source, error_code as "errorCode", reason,
  is_configuration as "isConfiguration", failures, since, until, cleared_at as "clearedAt", rate`;

/** The blocks that are not over, by sender, language and country. */
export function listBlocks({ sql }: Connection): Promise<Block[]> {
  return sql.query<Block[]>`
    select ${COLUMNS} from sender_blocks where failures > 0 order by scope, subject, only_for, cause`;
}

/**
 * Changes a block by a rule, one caller after the other, so that faults which arrive together count once. Whoever a sender belongs to is told
 * of the first of a row of faults that only a person can end.
 *
 * @param rule is given the block as it is, null where there is none, and the database's time; null changes nothing
 * @returns the block as it was written, or null
 */
export async function changeBlock(
  database: Database,
  { cause, scope, subject, onlyFor }: BlockSubject,
  rule: (last: Block | null, now: Date) => Block | null,
): Promise<Block | null> {
  return database.transaction(async (connection) => {
    const { sql } = connection;
    // There may be no row to lock.
    await sql.execute`select pg_advisory_xact_lock(hashtextextended(${`block ${cause} ${scope} ${subject} ${onlyFor}`}, 0))`;
    const [row] = await sql.query<(Block & { now: Date })[]>`
      select t.*, n.now from (select clock_timestamp()::timestamptz(3) as now) n left join lateral (
        select ${COLUMNS} from sender_blocks
        where cause = ${cause} and scope = ${scope} and subject = ${subject} and only_for = ${onlyFor} for update
      ) t on true`;
    if (row === undefined) throw new Error('the database has no time');
    const { now, ...last } = row;
    const before = (last.cause as unknown) === null ? null : last;
    const next = rule(before, now);
    if (next !== null)
      await sql.execute`
        insert into sender_blocks (cause, scope, subject, only_for, source, error_code, reason, is_configuration, failures, since, until, cleared_at, rate)
        values (${cause}, ${scope}, ${subject}, ${onlyFor}, ${next.source}, ${next.errorCode}::integer, ${next.reason}, ${next.isConfiguration},
          ${next.failures}::smallint, ${next.since}, ${next.until}::timestamptz, ${next.clearedAt}::timestamptz, ${next.rate}::float8)
        on conflict (cause, scope, subject, only_for) do update set source = excluded.source, error_code = excluded.error_code,
          reason = excluded.reason, is_configuration = excluded.is_configuration, failures = excluded.failures, since = excluded.since, until = excluded.until,
          cleared_at = excluded.cleared_at, rate = excluded.rate`;
    const needsPerson = (block: Block | null): boolean =>
      block !== null && block.failures > 0 && block.isConfiguration;
    if (next !== null && needsPerson(next) && !needsPerson(before) && scope === 'sender')
      await queueSenderBlockedAlert(connection, subject, onlyFor, next.reason);
    return next;
  });
}

/**
 * Whether what a message met is refuted: by itself or by a message of a later send that was begun later. The provider accepted it, or,
 * against what a receipt reports, it was delivered. An account with an app of its own signs receipts itself, so that those of its own
 * senders refute nothing beyond the sender.
 *
 * @param about all messages of the scope, or those in a language or to a country only
 */
export async function isSuperseded(
  { sql }: Database,
  about: Pick<BlockSubject, 'scope' | 'subject' | 'onlyFor'>,
  { sendId, startedAt, source }: Signal & { sendId: string },
): Promise<boolean> {
  const [row] = await sql.query<{ is: boolean }[]>`
    select exists (
      select from attempts a join sends s on s.id = a.send_id join senders r on r.id = a.sender_id
      where a.send_id >= ${sendId}::uuid and a.started_at >= ${startedAt} and a.outcome = 'accepted'
        and block_subject(${about.scope}, r.id, r.business_account_id) = ${about.subject}
        and ${about.onlyFor} in ('', s.locale, coalesce(s.country, 'ZZ'))
        and (${source} = 'answer' or (
          (s.delivered_at is not null or s.read_at is not null) and (${about.scope} = 'sender' or r.account_id is null)
        ))
    ) as is`;
  return row?.is ?? false;
}

/** Messages a second of all senders that a block is about, without it. */
export async function fullRate(
  { sql }: Database,
  { scope, subject }: Pick<BlockSubject, 'scope' | 'subject'>,
): Promise<number> {
  const [row] = await sql.query<{ rate: number | null }[]>`select full_rate(${scope}, ${subject}) as rate`;
  return row?.rate ?? 1;
}

/** Deletes what is known of blocks that are over, once nobody repeats reports from before: Meta does so for seven days. */
export async function deleteOldBlocks({ sql }: Database): Promise<number> {
  return sql.execute`delete from sender_blocks where failures = 0 and cleared_at < clock_timestamp() - interval '8 days'`;
}
