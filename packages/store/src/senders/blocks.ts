import type { Block, BlockSubject, Signal } from '@onecode/domain';
import type { Connection, Database } from '../client/database.js';
import { queueSenderBlockedAlert } from '../mails/senderBlocks.js';

/** Returns all current blocks, by scope, subject, language or country, and cause. */
export async function listBlocks({ prisma }: Connection): Promise<Block[]> {
  return (await prisma.senderBlock.findMany({
    where: { failures: { gt: 0 } },
    orderBy: [{ scope: 'asc' }, { subject: 'asc' }, { onlyFor: 'asc' }, { cause: 'asc' }],
    omit: { freeAt: true },
  })) as Block[];
}

/** A lost race ends with the next try, because the rules ignore signals older than a block's last change. More tries indicate a fault. */
const TRIES_MAX = 100;

/**
 * Changes a block with a rule, so that concurrent faults count once: reads the block without a lock, and writes it only if it is still the
 * same; otherwise, reads and decides again. A worker that freezes in between blocks no claim. Mails the sender's owner about the first
 * fault in a row that only a person can end.
 *
 * @param rule gets the current block, or null, and the database's time; returns null to change nothing
 * @returns the written block, or null
 */
export async function changeBlock(
  database: Database,
  { cause, scope, subject, onlyFor }: BlockSubject,
  rule: (last: Block | null, now: Date) => Block | null,
): Promise<Block | null> {
  const where = { cause_scope_subject_onlyFor: { cause, scope, subject, onlyFor } };
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const last = (await database.prisma.senderBlock.findUnique({
      where,
      omit: { freeAt: true },
    })) as Block | null;
    const [{ now }] = await database.sql.query<
      [{ now: Date }]
    >`select clock_timestamp()::timestamptz(3) as now`;
    const next = rule(last, now);
    if (next === null) return null;
    const isAlert = next.scope === 'sender' && needsPerson(next) && !(last && needsPerson(last));
    const write = async (connection: Connection): Promise<boolean> => {
      const isWritten = await writeBlock(connection, next, last);
      if (isWritten && isAlert)
        await queueSenderBlockedAlert(connection, next.subject, next.onlyFor, next.reason);
      return isWritten;
    };
    if (await (isAlert ? database.transaction(write) : write(database))) return next;
  }
  throw new Error(`could not change a block: it changed during each of ${TRIES_MAX} tries`);
}

const needsPerson = (block: Block): boolean => block.failures > 0 && block.isConfiguration;

/** Writes a block. @returns false if another change replaced `last` */
async function writeBlock({ prisma }: Connection, next: Block, last: Block | null): Promise<boolean> {
  if (last === null)
    return (await prisma.senderBlock.createMany({ data: next, skipDuplicates: true })).count === 1;
  const { cause, scope, subject, onlyFor, failures, since, clearedAt } = last;
  // Every change of a block changes one of the last three.
  const where = { cause, scope, subject, onlyFor, failures, since, clearedAt };
  return (await prisma.senderBlock.updateMany({ where, data: next })).count === 1;
}

/**
 * Returns whether a newer success clears a failure. The success is this message, or one of a later send that was started no earlier. The
 * provider must have accepted it and, for a failure from a receipt, also delivered it.
 *
 * @param about the senders of the messages, and their language or country; empty for all
 */
export async function isSuperseded(
  { sql }: Database,
  about: { senderIds: readonly string[]; onlyFor: string },
  { sendId, startedAt, source }: Signal & { sendId: string },
): Promise<boolean> {
  const [row] = await sql.query<{ is: boolean }[]>`
    select exists (
      select from unnest(${about.senderIds}::uuid[]) as r (id) cross join lateral (
        select from attempts a cross join lateral (select * from sends where id = a.send_id limit 1) s
        -- A call ends after it has started, so this range of the index has all calls that have started since. "is true" prevents the use of
        -- the primary key.
        where a.sender_id = r.id and a.outcome = 'accepted' and a.finished_at >= ${startedAt}
          and a.started_at >= ${startedAt} and (a.send_id >= ${sendId}::uuid) is true
          and ${about.onlyFor} in ('', s.locale, coalesce(s.country, 'ZZ'))
          and (${source} = 'answer' or s.delivered_at is not null or s.read_at is not null)
        order by a.finished_at limit 1
      ) l
    ) as is`;
  return row?.is ?? false;
}
