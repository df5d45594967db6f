import type { AttemptChange, Decision, Send } from '@onecode/domain';
import type { Database } from '../client/database.js';
import { Prisma } from '../generated/prisma/client.js';
import { oncePerClient, createBatcher } from '../client/batcher.js';

/** A send as it is to be, if its row still has the version that was decided on. */
interface Change {
  before: Send;
  after: Send;
  version: number;
  attempts: readonly AttemptChange[];
}

/** Changes of one call at the most: their rows are locked while it lasts. */
const CHANGES_MAX = 100;
/** What waits for a lock, or for a slow disk, holds up the others for so long only. */
const RELEASE_AFTER_MS = 20;
const CALLS_MAX = 3;

/** Writes a decision if the row still has the version that was decided on. @returns whether it had */
export function writeDecision(
  database: Database,
  before: Send,
  version: number,
  decision: Decision<unknown>,
): Promise<boolean> {
  const after: Send = { ...before, ...decision.change };
  const change = { before, after, version, attempts: decision.attempts ?? [] };
  return fails(change) ? writeAlone(database, change) : writer(database)(change);
}

const fails = ({ before, after }: Change): boolean => before.status !== 'failed' && after.status === 'failed';
const guessedWrong = ({ before, after }: Change): boolean => after.wrongGuesses > before.wrongGuesses;
const guessedRight = ({ before, after }: Change): boolean =>
  before.verification !== 'verified' && after.verification === 'verified';

const hasAttempts = ({ attempts }: Change): boolean => attempts.length > 0;
const isGuess = (change: Change): boolean => guessedWrong(change) || guessedRight(change);

/** A refund locks an account besides: several of them at once would lock sends and accounts in no order. */
async function writeAlone(database: Database, change: Change): Promise<boolean> {
  const [written] = await writeChanges(database, [change]);
  return written === true;
}

const writer = oncePerClient((database: Database) =>
  createBatcher((changes: Change[]) => writeChanges(database, changes), {
    batchSizeMax: CHANGES_MAX,
    releaseAfterMs: RELEASE_AFTER_MS,
    concurrentBatchesMax: CALLS_MAX,
  }),
);

/** A failure's part of the statement: the unit goes back. */
const REFUND = Prisma.sql`
  , returned as (
    -- Before its ledger entry, which so gets its id under the account's lock: in the order in which entries count.
    update accounts set
      free_quota = free_quota + (changed.charged_from = 'free_quota')::integer,
      credits = credits + (changed.charged_from = 'credit')::integer
    from changed where changed.fails and accounts.id = changed.account_id and changed.charged_from is not null
    returning changed.account_id, changed.id, changed.charged_from
  ), refund as (
    insert into ledger_entries (account_id, send_id, kind, bucket, units)
    select account_id, id, 'returned', charged_from, 1 from returned
  )`;

/** The sends of several changes, locked one after the other: one probe for each. */
const LOCKED = Prisma.sql`
  , locked as materialized (
    select s.id from (select id, version from wanted order by id) w
    cross join lateral (select id from sends where id = w.id and version = w.version for no key update) s
  )`;

/** What attempts of the changes have come to. */
const ATTEMPTS = Prisma.sql`
  , calls as (
    insert into attempts (id, send_id, sender_id, outcome, error_code, message_id, finished_at)
    select a.id, changed.id, a.sender_id, a.outcome, a.error_code, a.message_id,
      case when a.outcome is not null then clock_timestamp() end
    from changed, json_to_recordset(changed.calls)
      as a (id uuid, sender_id uuid, outcome text, error_code integer, message_id text)
    on conflict (id) do update set
      outcome = excluded.outcome, error_code = excluded.error_code, finished_at = excluded.finished_at,
      message_id = coalesce(excluded.message_id, attempts.message_id)
  )`;

/** Right guesses at each recipient, and what the wrong ones cost. */
const GUESSES = Prisma.sql`
  , guessed_at as materialized (
    select account_id, mode, recipient, count(*) filter (where guessed_wrong) as wrong,
      sum(guess_cost) filter (where guessed_wrong) as points, max(guess_cost) filter (where guessed_wrong) as guess_cost,
      bool_or(guessed_right) as is_right
    from changed where guessed_wrong or guessed_right group by account_id, mode, recipient
  )`;
/** The recipients' counts of wrong ones, locked: what follows would take those of right guesses in no order. */
const BUDGETS = Prisma.sql`
  , budgets as materialized (
    select b.*, g.is_right from (select * from guessed_at order by account_id, mode, recipient) g
    cross join lateral (
      -- One probe for each: lists of accounts and of recipients would be tried all with all.
      select account_id, mode, recipient from guess_budgets
      where account_id = g.account_id and mode = g.mode and recipient = g.recipient for update
    ) b
  )`;
const RIGHT_GUESSES = Prisma.sql`
  , forgiven as (
    delete from guess_budgets b using budgets f
    where f.is_right and b.account_id = any(array(select account_id from budgets where is_right))
      and b.recipient = any(array(select recipient from budgets where is_right))
      and b.account_id = f.account_id and b.mode = f.mode and b.recipient = f.recipient
  )`;
/** Takes the counts in their order by itself, but after all of them are locked where right guesses need that. */
const wrongGuesses = (afterBudgets: boolean): Prisma.Sql => Prisma.sql`
  , counted as (
    insert into guess_budgets as b (account_id, mode, recipient, wrong_in_a_row, guess_points, guess_cost, last_wrong_at)
    select account_id, mode, recipient, wrong, points, guess_cost, clock_timestamp() from guessed_at
    where not is_right ${afterBudgets ? Prisma.sql`and (select count(*) from budgets) >= 0` : Prisma.empty}
    order by account_id, mode, recipient
    on conflict (account_id, mode, recipient) do update
      set wrong_in_a_row = ceil(guesses_left_at(b.wrong_in_a_row, b.last_wrong_at, excluded.last_wrong_at))::integer
          + excluded.wrong_in_a_row,
        guess_points = ceil(guesses_left_at(b.guess_points, b.last_wrong_at, excluded.last_wrong_at))::integer + excluded.guess_points,
        guess_cost = greatest(b.guess_cost, excluded.guess_cost),
        last_wrong_at = excluded.last_wrong_at
  )`;

/**
 * Writes changes in one statement, each guarded by its row's version. Sends are locked in the order of their ids and then the
 * recipients' counts in the order of theirs, whoever writes them. Of two changes of one send the first is tried; the other has been
 * overtaken then. Where guesses at one recipient come together, a right one comes last: it forgives the wrong ones.
 */
async function writeChanges(database: Database, changes: readonly Change[]): Promise<boolean[]> {
  const first = new Map<string, Change>();
  for (const change of changes) if (!first.has(change.before.id)) first.set(change.before.id, change);
  const isAlone = first.size === 1;
  const records = JSON.stringify([...first.values()].map(recordOf));
  // What none of them needs would be made ready by PostgreSQL all the same.
  const part = (sql: Prisma.Sql, isNeeded: (change: Change) => boolean): Prisma.Sql =>
    changes.some(isNeeded) ? sql : Prisma.empty;
  const rows = await database.$queryRaw<{ id: string }[]>`
    with wanted as materialized (
      select * from json_to_recordset(${records}::json) as w (
        id uuid, version integer, status text, verification text, wrong_guesses smallint, channel text, from_number text,
        sender_id uuid, sealed_code text, attempts smallint, attempt_id uuid, receipt_until timestamptz, awaiting_sender boolean,
        due_at timestamptz, sent_at timestamptz, delivered_at timestamptz, read_at timestamptz, verified_at timestamptz,
        locked_at timestamptz, failed_at timestamptz, failure_reason text, fails boolean, guessed_wrong boolean,
        guessed_right boolean, calls json
      )
    ) ${isAlone ? Prisma.empty : LOCKED}, changed as (
      update sends s set
        status = w.status, verification = w.verification, wrong_guesses = w.wrong_guesses, channel = w.channel,
        from_number = w.from_number, sender_id = w.sender_id, sealed_code = decode(w.sealed_code, 'hex'), attempts = w.attempts,
        attempt_id = w.attempt_id, receipt_until = w.receipt_until, awaiting_sender = w.awaiting_sender,
        due_at = w.due_at, next_enqueue_at = w.due_at + interval '1 second', sent_at = w.sent_at, delivered_at = w.delivered_at,
        read_at = w.read_at, verified_at = w.verified_at, locked_at = w.locked_at, failed_at = w.failed_at,
        failure_reason = w.failure_reason,
        wrong_guess_times = case when w.guessed_wrong
          then array_append(s.wrong_guess_times, clock_timestamp()::timestamptz(3)) else s.wrong_guess_times end,
        version = s.version + 1
      from wanted w
      where s.id = any(array(select id from ${Prisma.raw(isAlone ? 'wanted' : 'locked')})) and w.id = s.id and w.version = s.version
      returning s.id, s.account_id, s.mode, s.canonical_recipient as recipient, s.guess_cost, s.charged_from, w.fails, w.guessed_wrong, w.guessed_right, w.calls
    ) ${part(ATTEMPTS, hasAttempts)} ${part(REFUND, fails)}
    ${part(GUESSES, isGuess)} ${part(BUDGETS, guessedRight)}
    ${part(wrongGuesses(changes.some(guessedRight)), guessedWrong)} ${part(RIGHT_GUESSES, guessedRight)}
    select id from changed`;
  const written = new Set(rows.map(({ id }) => id));
  return changes.map((change) => first.get(change.before.id) === change && written.has(change.before.id));
}

function recordOf(change: Change): object {
  const { after, version, attempts } = change;
  return {
    id: after.id,
    version,
    status: after.status,
    verification: after.verification,
    wrong_guesses: after.wrongGuesses,
    channel: after.channel,
    from_number: after.from,
    sender_id: after.senderId,
    sealed_code: after.sealedCode === null ? null : Buffer.from(after.sealedCode).toString('hex'),
    attempts: after.attempts,
    attempt_id: after.attemptId,
    receipt_until: after.receiptUntil,
    awaiting_sender: after.awaitingSender,
    due_at: after.dueAt,
    sent_at: after.sentAt,
    delivered_at: after.deliveredAt,
    read_at: after.readAt,
    verified_at: after.verifiedAt,
    locked_at: after.lockedAt,
    failed_at: after.failedAt,
    failure_reason: after.failureReason,
    fails: fails(change),
    guessed_wrong: guessedWrong(change),
    guessed_right: guessedRight(change),
    calls: attempts.map((attempt) => ({
      id: attempt.id,
      sender_id: attempt.senderId,
      outcome: attempt.outcome,
      error_code: attempt.errorCode,
      message_id: attempt.messageId,
    })),
  };
}
