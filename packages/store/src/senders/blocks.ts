import type { Block, BlockKind, Signal } from '@onecode/domain';
import type { Connection, Database } from '../client/database.js';
import { Prisma } from '../generated/prisma/client.js';

/** The columns of a block `b`. */
const COLUMNS = Prisma.sql`b.cause, b.scope, b.only_for as "onlyFor", b.source, b.error_code as "errorCode", b.reason,
  b.is_configuration as "isConfiguration", b.failures, b.since, b.until`;

/** Returns the current blocks of each sender, its business account and its portfolio, by scope, language or country, and cause. */
export async function listBlocks({ sql }: Connection): Promise<(Block & { senderId: string })[]> {
  return sql.query<(Block & { senderId: string })[]>`
    select r.id as "senderId", ${COLUMNS}
    from sender_blocks b join senders r on b.subject = block_subject(b.scope, r.id, r.business_account_id, r.portfolio_id)
    where b.failures > 0 order by b.scope, b.only_for, b.cause`;
}

/**
 * Changes a block of a sender, its business account or its portfolio with a rule: reads the block, decides, and writes only if the block is
 * still the same. Otherwise it reads and decides again, so concurrent failures count once. The loop ends, because the rules ignore signals
 * older than a block's last change. No lock is held meanwhile, so a worker that freezes blocks no claim.
 *
 * @param rule gets the current block, or null, and the database's time; returns null to change nothing
 * @returns the written block, or null
 */
export async function changeBlock(
  database: Database,
  senderId: string,
  { cause, scope, onlyFor }: BlockKind,
  rule: (last: Block | null, now: Date) => Block | null | Promise<Block | null>,
): Promise<Block | null> {
  for (;;) {
    const [{ now, subject, ...read }] = await database.sql.query<[Current]>`
      select clock_timestamp()::timestamptz(3) as now, t.subject, ${COLUMNS}
      from (
        select block_subject(${scope}, id, business_account_id, portfolio_id) as subject from senders where id = ${senderId}::uuid
      ) t left join sender_blocks b
        on b.cause = ${cause} and b.scope = ${scope} and b.subject = t.subject and b.only_for = ${onlyFor}`;
    const last = read.cause === null ? null : read;
    const next = await rule(last, now);
    if (next === null || (await writeBlock(database, { ...next, subject }, last))) return next;
  }
}

/** The columns of the block are null if there is none. */
type Current = { now: Date; subject: string } & (Block | { [Column in keyof Block]: null });

/** Writes a block. @returns false if another change replaced `last` */
async function writeBlock(
  { prisma }: Connection,
  next: Block & { subject: string },
  last: Block | null,
): Promise<boolean> {
  if (last === null)
    return (await prisma.senderBlock.createMany({ data: next, skipDuplicates: true })).count === 1;
  const { cause, scope, subject, onlyFor } = next;
  // Every change of a block changes one of these.
  const { failures, since } = last;
  const where = { cause, scope, subject, onlyFor, failures, since };
  return (await prisma.senderBlock.updateMany({ where, data: next })).count === 1;
}

/**
 * Returns whether a newer success shows that a failure is over: the provider accepted a message that meets these conditions.
 *
 * - It was started at the same time or later.
 * - It is from this sender or, depending on the scope, from one with the same business account or portfolio.
 * - If a receipt reported the failure, the message was delivered. Then only this sender and shared ones count: an account could forge
 *   receipts.
 *
 * @param about the scope of the failure, and its language or country
 */
export async function isSuperseded(
  { sql }: Database,
  senderId: string,
  { scope, onlyFor }: Pick<BlockKind, 'scope' | 'onlyFor'>,
  { startedAt, source }: Signal,
): Promise<boolean> {
  const [{ is }] = await sql.query<[{ is: boolean }]>`
    select exists (
      select from senders o join senders r
        on block_subject(${scope}, r.id, r.business_account_id, r.portfolio_id) = block_subject(${scope}, o.id, o.business_account_id, o.portfolio_id)
        and (r.id = o.id or r.account_id is null or ${source} = 'answer')
      cross join lateral (
        select from attempts a cross join lateral (select * from sends where id = a.send_id limit 1) s
        -- A call ends after it has started, so this range of the index has all calls that have started since.
        where a.sender_id = r.id and a.outcome = 'accepted' and a.finished_at >= ${startedAt} and a.started_at >= ${startedAt}
          and ${onlyFor} in ('', s.locale, s.country)
          and (${source} = 'answer' or s.delivered_at is not null or s.read_at is not null)
        order by a.finished_at limit 1
      ) l
      where o.id = ${senderId}::uuid
    ) as is`;
  return is;
}

/**
 * Ends blocks of a sender, its business account or its portfolio. Deletes those of an operator or the provider. Clears those of failures,
 * so that results of messages started earlier do not start them again. The caller has locked the sender.
 *
 * @param which a condition on the blocks `b`
 * @returns the reasons of the ended blocks
 */
export async function endBlocks({ sql }: Connection, senderId: string, which: Prisma.Sql): Promise<string[]> {
  const ended = await sql.query<{ reason: string }[]>`
    with ended as materialized (
      -- In the order in which \`take_permits\` locks them.
      select b.cause, b.scope, b.subject, b.only_for, b.reason
      from sender_blocks b join senders r on b.subject = block_subject(b.scope, r.id, r.business_account_id, r.portfolio_id)
      where r.id = ${senderId}::uuid and b.failures > 0 and ${which}
      order by b.cause, b.scope, b.subject, b.only_for for update of b
    ), deleted as (
      delete from sender_blocks b using ended e
      where (b.cause, b.scope, b.subject, b.only_for) = (e.cause, e.scope, e.subject, e.only_for) and b.cause in ('operator', 'provider')
    ), cleared as (
      update sender_blocks b set failures = 0, since = clock_timestamp() from ended e
      where (b.cause, b.scope, b.subject, b.only_for) = (e.cause, e.scope, e.subject, e.only_for) and b.cause in ('fault', 'limit')
    )
    select reason from ended`;
  return ended.map(({ reason }) => reason);
}
