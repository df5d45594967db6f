import { LEAST_LIFE, nextTurns, type Turn, type WaitingAccount } from '@onecode/domain';
import type { Connection, Database } from '../client/database.js';
import { Prisma } from '../generated/prisma/client.js';
import { ENQUEUE_AGAIN_SECONDS, type DueSend } from './dueSends.js';

/** A send that was woken, with its new version. */
export type WokenSend = Pick<DueSend, 'id' | 'version'>;

/** Any fixed number. Only the caller that holds the lock wakes sends; the others return without any. */
const WAKE_LOCK = 7_165_203;

/** How long a woken send may take a slot before those that wait. It comes within moments unless the workers cannot keep up. */
const PROMISE_SECONDS = 10;

/**
 * Wakes sends that wait for a sender: makes those due that can have a send slot within the horizon. Accounts take turns
 * (`nextTurns`); of an account's sends, the one whose code lives longest is first: the newest, whose person is still there. The slots are
 * promised to the sends, so that any number of callers wakes no more than there are slots.
 *
 * Sends that no sender may serve now (their country is blocked, or a hold matches them) take no turn and are not read. One whose
 * recipient may get no message for now waits for the end of the sender–recipient window instead, and then takes a turn if it has to.
 * An expired send stays for the sweeper. The caller enqueues the sends; if it dies before that, the sweeper does.
 *
 * @param limit of sends at a time, because the senders' slots are locked while they are woken
 * @param wokenJobs how many woken sends still wait in the queue for a worker: they take slots before those that are woken now
 */
export async function wakeAwaitingSends(
  database: Database,
  limit: number,
  horizonMs: number,
  wokenJobs = 0,
): Promise<WokenSend[]> {
  const [{ awaits }] = await database.sql.query<[{ awaits: boolean }]>`
    select exists (select from sends where awaiting_sender) as awaits`;
  if (!awaits) return [];
  for (;;) {
    const { woken, postponed } = await database.transaction((connection) =>
      wakeInTurn(connection, limit, horizonMs, wokenJobs),
    );
    if (woken.length > 0 || postponed === 0) return woken;
  }
}

/** Deletes turns that are over: without them, those accounts' next turns start at the same time. */
export async function deletePastTurns(database: Database): Promise<void> {
  await database.sql.execute`
    delete from account_turns where ends_at <= (select max(starts_at) from account_turns)`;
}

/** Sends of one account that the same senders may serve, as far as it is not about their recipients. */
interface WaitingGroup {
  accountId: string;
  /** `ZZ` for numbers of no country. */
  country: string;
  locale: string;
}

async function wakeInTurn(
  connection: Connection,
  limit: number,
  horizonMs: number,
  wokenJobs: number,
): Promise<{ woken: WokenSend[]; postponed: number }> {
  // A statement of its own: one that took the lock and read would read as of before it had the lock, and give turns twice.
  const [lock] = await connection.sql.query<[{ isTaken: boolean }]>`
    select pg_try_advisory_xact_lock(${WAKE_LOCK}) as "isTaken"`;
  if (!lock.isTaken) return { woken: [], postponed: 0 };
  const waiting = await readWaitingGroups(connection, horizonMs);
  const accounts = [...new Map(waiting.groups.map((group) => [group.accountId, group])).values()];
  const turns = nextTurns(accounts, waiting.now, Math.min(limit, waiting.freeSlots - wokenJobs));
  if (turns.length === 0) return { woken: [], postponed: 0 };
  const rows = await promiseSlots(connection, waiting.groups, turns, horizonMs);
  const woken = rows.filter(({ isWoken }) => isWoken).map(({ id, version }) => ({ id, version }));
  return { woken, postponed: rows.length - woken.length };
}

/** The senders that have a slot within the horizon, with how many of those slots nobody has taken. */
const available = (horizonMs: number): Prisma.Sql => Prisma.sql`
  available as materialized (
    select r.id, 1 + floor(0.9 * r.throughput * greatest(0, extract(epoch from
        statement_timestamp() + make_interval(secs => ${horizonMs} / 1000.0) - greatest(s.free_at, statement_timestamp())
      ))) as slots
    from senders r left join send_slots s on s.sender_id = r.id
    where (r.paused_at is null or r.paused_until <= statement_timestamp())
      and coalesce(greatest(s.free_at, s.promised_to) <= statement_timestamp() + make_interval(secs => ${horizonMs} / 1000.0), true)
      and not exists (
        select from active_throttles(statement_timestamp()) t
        where t.subject = sender_throttle_subject(t.scope, r.id, r.business_account_id)
          and greatest(t.free_at, t.promised_to) > statement_timestamp() + make_interval(secs => ${horizonMs} / 1000.0)
      )
  )`;

/** Whether sender `a` may message this country in this language. */
const isOpenTo = (country: Prisma.Sql, locale: Prisma.Sql): Prisma.Sql => Prisma.sql`
  not exists (
    select from sender_country_blocks b
    where b.sender_id = a.id and b.country = ${country} and b.blocked_until > statement_timestamp()
  ) and not exists (
    select from sender_language_stops l
    where l.sender_id = a.id and l.locale = ${locale} and coalesce(l.stopped_until, 'infinity') > statement_timestamp()
  )`;

/**
 * Whether a waiting send `w` still has the life at its slot that `isWorthSending` asks for: less would waste the slot. The first condition
 * is for the index, which then ends before what has expired.
 */
const isWorthWaking = (horizonMs: number): Prisma.Sql => Prisma.sql`
  w.expires_at > statement_timestamp() + make_interval(secs => ${horizonMs} / 1000.0) and w.expires_at - least(
    make_interval(secs => ${LEAST_LIFE.seconds}), (w.expires_at - w.created_at) * ${LEAST_LIFE.share}::double precision
  ) > statement_timestamp() + make_interval(secs => ${horizonMs} / 1000.0)`;

/**
 * What waits and may be served now, with the turns of its accounts. Jumps along the index from
 * group to group and reads the first send of each. Reads none while no sender has a slot or everything is held.
 */
async function readWaitingGroups(
  { sql }: Connection,
  horizonMs: number,
): Promise<{ groups: (WaitingGroup & WaitingAccount)[]; now: number; freeSlots: number }> {
  const rows = await sql.query<(WaitingGroup & WaitingAccount & { now: number; freeSlots: number })[]>`
    with recursive held as materialized (
      select active_holds() as holds
    ), ${available(horizonMs)}, groups as (
      (
        select w.account_id, coalesce(w.country, 'ZZ') as country, w.locale, ${isWorthWaking(horizonMs)} as is_worth from sends w
        where (select count(*) from available) > 0 and not (select (holds).all_live from held)
          and w.awaiting_sender
        order by w.account_id, coalesce(w.country, 'ZZ'), w.locale, w.expires_at desc limit 1
      ) union all
      select n.* from groups g cross join lateral (
        select w.account_id, coalesce(w.country, 'ZZ') as country, w.locale, ${isWorthWaking(horizonMs)} as is_worth from sends w
        where w.awaiting_sender and (w.account_id, coalesce(w.country, 'ZZ'), w.locale) > (g.account_id, g.country, g.locale)
        order by w.account_id, coalesce(w.country, 'ZZ'), w.locale, w.expires_at desc limit 1
      ) n
    )
    select g.account_id as "accountId", g.country, g.locale, c.weight, t.ends_at as "busyUntil",
      coalesce((select max(starts_at) from account_turns), 0) as now, (select sum(slots)::float8 from available) as "freeSlots"
    from groups g cross join held join accounts c on c.id = g.account_id left join account_turns t on t.account_id = g.account_id
    where g.is_worth and not is_held(held.holds, g.account_id, g.country)
      and exists (select from available a where ${isOpenTo(Prisma.sql`g.country`, Prisma.sql`g.locale`)})`;
  return { groups: rows, now: rows[0]?.now ?? 0, freeSlots: rows[0]?.freeSlots ?? 0 };
}

/**
 * Promises slots to the first sends of the accounts, in the order of their turns, and makes the sends due. Those turns are over then;
 * the others are not given. @returns the sends that were woken, in that order, and those that wait for the end of a sender–recipient window now
 */
async function promiseSlots(
  { sql }: Connection,
  groups: readonly WaitingGroup[],
  turns: readonly Turn[],
  horizonMs: number,
): Promise<(WokenSend & { isWoken: boolean })[]> {
  const turnsOf = new Map<string, number>();
  for (const { accountId } of turns) turnsOf.set(accountId, (turnsOf.get(accountId) ?? 0) + 1);
  const served = groups.filter(({ accountId }) => turnsOf.has(accountId));
  const inOrder = (column: string): Prisma.Sql =>
    Prisma.raw(`array(select ${column} from requests order by ordinal)`);
  return sql.query<(WokenSend & { isWoken: boolean })[]>`
    with ${available(horizonMs)}, turns as materialized (
      select *, row_number() over (partition by account_id order by position) as nth from unnest(
        ${turns.map(({ accountId }) => accountId)}::uuid[], ${turns.map(({ startsAt }) => startsAt)}::double precision[],
        ${turns.map(({ endsAt }) => endsAt)}::double precision[]
      ) with ordinality as t (account_id, starts_at, ends_at, position)
    ), longest as materialized (
      select w.* from unnest(
        ${served.map(({ accountId }) => accountId)}::uuid[], ${served.map(({ country }) => country)}::text[],
        ${served.map(({ locale }) => locale)}::text[],
        ${served.map(({ accountId }) => turnsOf.get(accountId))}::integer[]
      ) as g (account_id, country, locale, turns) cross join lateral (
        select w.id, w.account_id, w.country, w.locale, w.canonical_recipient as recipient, w.expires_at from sends w
        where w.awaiting_sender and w.account_id = g.account_id and coalesce(w.country, 'ZZ') = g.country and w.locale = g.locale
          and ${isWorthWaking(horizonMs)}
        order by w.expires_at desc limit g.turns for update skip locked
      ) w
    ), judged as materialized (
      select w.*, (
        -- When the first of these senders may write to the recipient.
        select min(coalesce(p.free_at, '-infinity')) from available a
        left join sender_recipient_windows p on p.sender_id = a.id and p.recipient_hash = hashtextextended(w.recipient, 0)
        where ${isOpenTo(Prisma.sql`w.country`, Prisma.sql`w.locale`)}
      ) as window_at from longest w
    ), open as materialized (
      select *, row_number() over (partition by account_id order by expires_at desc, id desc) as nth from judged
      where window_at <= statement_timestamp() + make_interval(secs => ${horizonMs} / 1000.0)
    ), requests as materialized (
      select o.id, o.account_id, o.recipient, o.country, o.locale, t.starts_at, t.ends_at, row_number() over (order by t.position) as ordinal
      from open o join turns t on t.account_id = o.account_id and t.nth = o.nth
    ), promised as materialized (
      select r.* from take_send_slots(
        ${inOrder('account_id')}, ${inOrder('recipient')}, ${inOrder('country')}, ${inOrder('locale')},
        ${horizonMs}::integer, true
      ) s join requests r using (ordinal) where s.sender_id is not null
    ), given as (
      insert into account_turns as t (account_id, starts_at, ends_at)
      select account_id, max(starts_at), max(ends_at) from promised group by account_id order by account_id
      on conflict (account_id) do update set starts_at = excluded.starts_at, ends_at = excluded.ends_at
    ), woken as (
      update sends set awaiting_sender = false, due_at = clock_timestamp(), version = version + 1,
        promised_until = clock_timestamp() + make_interval(secs => ${PROMISE_SECONDS}),
        next_enqueue_at = clock_timestamp() + make_interval(secs => ${ENQUEUE_AGAIN_SECONDS})
      where id in (select id from promised) returning id, version
    ), postponed as (
      -- One after the other, as the window lets them through.
      update sends s set awaiting_sender = false, due_at = c.at, next_enqueue_at = c.at, version = s.version + 1
      from (
        select id, least(expires_at, window_at + recipient_window_spacing() * (row_number() over (
          partition by recipient order by expires_at desc, id desc
        ) - 1)) as at from judged
        where window_at > statement_timestamp() + make_interval(secs => ${horizonMs} / 1000.0)
      ) c where s.id = c.id returning s.id, s.version
    )
    select id, version, ordinal is not null as "isWoken"
    from (select * from woken union all select * from postponed) s left join promised using (id) order by ordinal`;
}
