import {
  failure,
  matchesCode,
  settle,
  type AttemptName,
  type AttemptOutcome,
  type Decision,
  type Judgement,
  type Locale,
  type Outcome,
  type Send,
} from '@onecode/domain';
import { claim, type ClaimOffer } from '@onecode/testing/claim-model';
import type { Sender } from '@onecode/store/senders';
import { changeSend, findSend, openDeliveries, verifySend, type Guess } from '@onecode/store/sends';
import {
  buildSend,
  judgementOf,
  TEST_PEPPER,
  type SendOptions,
  type TestCaller,
  type TestDatabase,
} from '@onecode/testing';

export const CODE = '042913';
export const TERMS = { policy: { attemptsMax: 5, backoffMs: 1000 }, leaseMs: 15_000 };

type Store = Pick<TestDatabase, 'database' | 'sql'>;

interface InsertedAttempt {
  number?: number;
  senderId?: string | null;
  outcome?: AttemptOutcome;
  messageId?: string | null;
  startedAt?: Date;
}

export const guessOf = ({ accountId, keyId }: TestCaller, id: string, code: string): Guess => ({
  id,
  accountId,
  keyId,
  matches: (codeHash) => matchesCode(TEST_PEPPER, id, code, codeHash),
});

export const accepted = (messageId: string): Outcome => ({ kind: 'accepted', messageId });

let recipients = 0;

/** The actions on sends that several tests share. */
export function sendActions(store: Store) {
  const read = async (caller: TestCaller, id: string): Promise<Send> =>
    (await findSend(store.database, { id, accountId: caller.accountId }))!;
  const version = async (id: string): Promise<number> =>
    (await store.sql<{ version: number }>('select version from sends where id = $1', [id]))[0]!.version;
  const attemptsOf = (id: string) =>
    store.sql(
      'select number, sender_id, outcome, error_code, message_id from attempts where send_id = $1 order by number',
      [id],
    );
  /** Inserts an ended attempt. @returns its name */
  async function insertAttempt(
    sendId: string,
    {
      number = 1,
      senderId = null,
      outcome = 'accepted',
      messageId = null,
      startedAt = new Date(),
    }: InsertedAttempt = {},
  ): Promise<AttemptName> {
    await store.sql(
      `insert into attempts (send_id, number, sender_id, outcome, message_id, started_at, finished_at)
       values ($1, $2, $3, $4, $5, $6, $6)`,
      [sendId, number, senderId, outcome, messageId, startedAt],
    );
    return { sendId, number };
  }
  const returnedOf = (id: string) =>
    store.sql(`select bucket, units from ledger_entries where send_id = $1 and kind = 'returned'`, [id]);

  const verify = async (caller: TestCaller, id: string, guess: string): Promise<Judgement> =>
    judgementOf(await verifySend(store.database, guessOf(caller, id, guess)));

  /** The points of an account's guess budgets, by recipient. */
  async function counts({ accountId }: TestCaller): Promise<Record<string, number>> {
    const rows = await store.sql<{ key: string; count: number }>(
      `select s.recipient as key, points as count from guess_budgets b cross join lateral (
         select recipient from sends where recipient_key = b.recipient_key limit 1
       ) s where account_id = $1 and points > 0`,
      [accountId],
    );
    return Object.fromEntries(rows.map(({ key, count }) => [key, count]));
  }

  const fail = (id: string) =>
    changeSend(store.database, { id }, (send, now): Decision<string> =>
      send.status === 'failed'
        ? { result: 'failed before' }
        : { result: 'failed now', change: failure('rejected_by_provider', now) },
    );

  /** Moves the send's creation into the past by this much. */
  const age = (id: string, seconds: number) =>
    store.sql(
      `update sends set created_at = created_at - make_interval(secs => $2), expires_at = expires_at - make_interval(secs => $2)
       where id = $1`,
      [id, seconds],
    );

  /** Creates a send that waits for a sender. @returns its id */
  async function waiting(caller: TestCaller, wishes: SendOptions = {}): Promise<string> {
    const id = await buildSend(store.database, caller, wishes);
    await changeSend(store.database, { id }, (send) => ({
      result: null,
      change: { phase: 'waiting', dueAt: send.expiresAt },
    }));
    return id;
  }

  /** Creates this many sends that wait for a sender, to different recipients, a millisecond apart. */
  async function manyWaiting(
    { accountId, applicationId }: TestCaller,
    count: number,
    { country = 'BR', locale = 'pt-BR' }: { country?: string; locale?: Locale } = {},
  ): Promise<void> {
    recipients += count;
    await store.sql(
      `insert into sends (id, request_id, account_id, application_id, mode, application_number, recipient, recipient_key,
         country, locale, charged_from, code_hash, encrypted_code, phase, due_at, created_at, expires_at)
       select gen_random_uuid(), gen_random_uuid(), $1, $2, 'live', m.latest + n, '+55119' || ($4 + n),
         '1:' || lpad('55119' || ($4 + n), 22, '0'), $5, $6, 'free_quota', decode(repeat('01', 33), 'hex'), 'x', 'waiting',
         made + interval '10 minutes', made, made + interval '10 minutes'
       from generate_series(1, $3::integer) n,
         lateral (select coalesce(max(application_number), 0) as latest from sends where application_id = $2) m,
         lateral (select clock_timestamp() - interval '1 minute' + n * interval '1 millisecond' as made) t`,
      [accountId, applicationId, count, 10_000_000 + recipients, country, locale],
    );
  }

  /** Takes the send of a job. */
  const take = (id: string) => openDeliveries(store.database, TERMS.leaseMs).take(id);
  /** Takes due sends without a job. @returns the claimed sends, in the order of their permits */
  async function takeDue(limit = 100, database = store.database): Promise<Send[]> {
    const taken = await openDeliveries(database, TERMS.leaseMs).takeDue(limit);
    return taken.flatMap((one) => (one.waitMs === null ? [] : [one]));
  }

  return {
    read,
    version,
    attemptsOf,
    insertAttempt,
    returnedOf,
    verify,
    counts,
    fail,
    age,
    waiting,
    manyWaiting,
    take,
    takeDue,
  };
}

/** A worker that claims sends for one sender and writes the outcomes of its attempts. */
export function workerActions(store: Store, sender: () => Sender) {
  const offer = (): ClaimOffer => ({
    ...TERMS,
    permit: { sender: sender(), waitMs: 0 },
  });
  const claimSend = (id: string) =>
    changeSend(store.database, { id }, (send, now) => claim(send, now, offer()));
  const settleSend = (id: string, attempt: number, outcome: Outcome) =>
    changeSend(store.database, { id }, (send, now) => settle(send, now, attempt, outcome, TERMS.policy));

  return { claimSend, settleSend };
}
