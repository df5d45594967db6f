import { setTimeout as pause } from 'node:timers/promises';
import { isMasked, maskRecipient } from '@onecode/domain';
import type { Connection, Database } from '../client/database.js';
import { CLOCKS_APART_MS } from '../client/ids.js';
import { readSettings, type Settings } from '../accounts/settings.js';
import { Prisma } from '../generated/prisma/client.js';
import { FINAL_AFTER_DAYS, aggregateDays } from '../reports/dailyStatistics.js';
import { chargedPoints } from './guessBudgets.js';

/** Sends per transaction, which locks the sends that it changes. */
const PAGE = 200;
/** After each page, a caller pauses for this multiple of the page's duration, to leave the database free for requests. */
const PAUSE_FACTOR = 4;
const TEST_SEND_DAYS = 30;

/** The steps, in order: numbers are masked before any send is deleted. */
type Step = 'numbers' | 'test_sends' | 'sends';

/** Returns the steps under the current settings. If `retainSendsDays` is set, one step deletes live and test sends alike. */
const listSteps = ({ retainNumbersDays, retainSendsDays }: Settings): [Step, number][] => [
  ...(retainNumbersDays === null ? [] : [['numbers', retainNumbersDays] as [Step, number]]),
  retainSendsDays === null ? ['test_sends', TEST_SEND_DAYS] : ['sends', retainSendsDays],
];

/**
 * Aggregates finished days, then masks the numbers and deletes the sends that have passed their retention by `created_at`. Walks through
 * the sends once, in the order of their ids (which is the order of creation), up to the first that is too young. Concurrent callers take
 * turns by page.
 *
 * @param signal ends the run after the current page
 * @returns how many numbers were masked, and how many sends deleted
 */
export async function applyRetention(
  database: Database,
  signal: AbortSignal,
): Promise<{ numbersReplaced: number; sendsDeleted: number }> {
  const retained = { numbersReplaced: 0, sendsDeleted: 0 };
  await aggregateDays(database, signal);
  for (const [step, days] of listSteps(await readSettings(database)))
    while (!signal.aborted) {
      const beganAt = performance.now();
      const page = await database.transaction((connection) => retainPage(connection, step, days));
      retained[step === 'numbers' ? 'numbersReplaced' : 'sendsDeleted'] += page.changed;
      if (page.isLast) break;
      await pause(PAUSE_FACTOR * (performance.now() - beganAt), undefined, { signal }).catch(() => {});
    }
  return retained;
}

/** Processes the sends after the position of a step, and moves the position. A send is deleted only after its day has been aggregated. */
async function retainPage(
  connection: Connection,
  step: Step,
  days: number,
): Promise<{ changed: number; isLast: boolean }> {
  const { sql } = connection;
  const [{ position }] = await sql.query<[{ position: string }]>`
    select position from cursors where name = ${step} for update`;
  const page = await sql.query<{ id: string; mode: string; recipient: string; is_old: boolean }[]>`
    select id, mode, recipient, created_at < statement_timestamp() - make_interval(days => ${days}::integer)
      and (${step} = 'numbers' or id < (select position from cursors where name = 'statistics')) as is_old
    from sends where id > ${position}::uuid order by id limit ${PAGE}::integer`;
  const young = page.findIndex(({ is_old }) => !is_old);
  const old = young < 0 ? page : page.slice(0, young);
  const last = old.at(-1);
  if (last === undefined) return { changed: 0, isLast: true };
  const deleted = step === 'test_sends' ? old.filter(({ mode }) => mode === 'test') : old;
  const changed =
    step === 'numbers'
      ? await replaceNumbers(connection, old)
      : await deleteSends(
          connection,
          deleted.map(({ id }) => id),
        );
  await sql.execute`update cursors set position = ${last.id}::uuid where name = ${step}`;
  return { changed, isLast: old.length < PAGE };
}

/** Returns by how many seconds the most overdue step is late; negative if none is late, null if there is nothing to do. */
export async function readRetention(database: Connection): Promise<{ seconds: number | null }> {
  const steps = [['statistics', FINAL_AFTER_DAYS + 1] as const, ...listSteps(await readSettings(database))];
  const [row] = await database.sql.query<[{ seconds: number | null }]>`
    select max(extract(epoch from statement_timestamp() - s.created_at - make_interval(days => k.days)))::float8 as seconds
    from unnest(${steps.map(([step]) => step)}::text[], ${steps.map(([, days]) => days)}::integer[]) as k (step, days)
    join cursors c on c.name = k.step
    cross join lateral (select created_at from sends where id > c.position order by id limit 1) s`;
  return row;
}

/** Masks the numbers of sends. Their codes have expired, or expire in the caller's transaction. @returns how many sends changed */
export async function replaceNumbers(
  { sql }: Connection,
  sends: readonly { id: string; recipient: string }[],
): Promise<number> {
  const clear = sends.filter(({ recipient }) => !isMasked(recipient));
  if (clear.length === 0) return 0;
  return sql.execute`
    with masked as materialized (
      select * from unnest(
        ${clear.map(({ id }) => id)}::uuid[], ${clear.map(({ recipient }) => maskRecipient(recipient))}::text[]
      ) as m (id, recipient)
    ), locked as materialized (
      -- Every statement locks sends in the order of their ids.
      select s.id from (select * from masked order by id) m
      cross join lateral (select id from sends where id = m.id and recipient <> m.recipient for no key update) s
    )
    update sends s set recipient = m.recipient, version = s.version + 1
    from masked m where s.id = any(array(select id from locked)) and s.id = m.id`;
}

/** Deletes finished sends with all their data except ledger entries. Skips live sends that a worker still has to act on. */
export async function deleteSends({ sql }: Connection, ids: readonly string[]): Promise<number> {
  if (ids.length === 0) return 0;
  return sql.execute`
    with gone as materialized (
      -- Every statement locks sends in the order of their ids.
      select s.* from (select id from unnest(${[...ids]}::uuid[]) as u (id) order by id) u
      cross join lateral (
        select id, account_id, mode, recipient_key from sends where id = u.id and (due_at is null or mode = 'test') for update
      ) s
    ), of_attempts as (
      delete from attempts where send_id = any(array(select id from gone))
    ), of_identities as (
      delete from send_identities where send_id = any(array(select id from gone))
    ), of_budgets as (
      delete from guess_budgets b using (select distinct account_id, recipient_key from gone where mode = 'live') g
      where b.account_id = g.account_id and b.recipient_key = g.recipient_key
        and ${chargedPoints(Prisma.sql`statement_timestamp()`)} = 0
    )
    delete from sends where id = any(array(select id from gone))`;
}

/**
 * Ends sends in `unconfirmed` after their codes have expired, and erases their encrypted codes. (The change that ends any other delivery
 * erases the code.) Walks through the sends once, in the order of their ids, which is the order of creation. There is no index of these
 * codes, because every receipt would have to update it.
 *
 * The walk stops at the first send with a code that is active or being sent. It skips ids of the last `CLOCKS_APART_MS`: the API's clock
 * makes the ids, so a send may be inserted that long after its id's time.
 *
 * @param limit the most sends to look at
 * @returns how many sends it passed; 0 also while another caller is running
 */
export async function eraseExpiredCodes(database: Database, limit: number): Promise<number> {
  const [row] = await database.sql.query<[{ count: number }]>`
    with begun as materialized (
      select position from cursors where name = 'codes' for update skip locked
    ), page as materialized (
      select s.id, s.expires_at > statement_timestamp() or coalesce(s.claimed_until > statement_timestamp(), false) as lives,
        s.phase = 'unconfirmed' as has_code
      from begun cross join lateral (
        select * from sends where id > begun.position and id < first_id_at(statement_timestamp() - make_interval(secs => ${CLOCKS_APART_MS / 1000}::float8)) order by id limit ${limit}
      ) s
    ), expired as materialized (
      select id, has_code from page
      where id < coalesce(
        (select id from page where lives order by id limit 1), 'ffffffff-ffff-ffff-ffff-ffffffffffff'
      )
    ), locked as materialized (
      select s.id from (select id from expired where has_code order by id) e
      cross join lateral (select id from sends where id = e.id and phase = 'unconfirmed' for no key update) s
    ), erased as (
      update sends set phase = 'done', encrypted_code = null, version = version + 1 where id = any(array(select id from locked))
    ), moved as (
      update cursors set position = (select id from expired order by id desc limit 1) where name = 'codes' and exists (select from expired)
    )
    select count(*)::integer as count from expired`;
  return row.count;
}
