import {
  claim,
  codeMatches,
  failure,
  judge,
  settle,
  simulate,
  type AvailableSender,
  type ClaimOffer,
  type Decision,
  type Judgement,
  type Outcome,
  type Send,
} from '@onecode/domain';
import { changeSend, findAccount, findSend, newId, type Sender } from '@onecode/store';
import {
  buildCaller,
  buildSend,
  buildSender,
  createTestDatabase,
  TEST_PEPPER,
  type TestCaller,
  type TestDatabase,
} from '@onecode/store/testing';
import pg from 'pg';
import { until } from '../../../test/harness/until.js';

const CODE = '042913';
const POLICY = { attemptsMax: 5, backoffMs: 1000 };
const LEASE_MS = 15_000;

let store: TestDatabase;
let sender: Sender;
beforeAll(async () => {
  store = await createTestDatabase();
  sender = await buildSender(store.database);
});
afterAll(() => store.drop());

const read = async (caller: TestCaller, id: string): Promise<Send> =>
  (await findSend(store.database, caller.accountId, id))!.send;
const version = async (id: string): Promise<number> =>
  (await store.sql<{ version: number }>('select version from sends where id = $1', [id]))[0]!.version;
const attemptsOf = (id: string) =>
  store.sql(
    `select id, sender_id, outcome, error_code, message_id, finished_at is not null as finished
     from attempts where send_id = $1 order by started_at, id`,
    [id],
  );
const returnedOf = (id: string) =>
  store.sql(`select bucket, units from ledger_entries where send_id = $1 and kind = 'returned'`, [id]);

const verify = async (caller: TestCaller, id: string, guess: string): Promise<Judgement> =>
  (await changeSend(store.database, { id, accountId: caller.accountId }, (send, now) =>
    judge(send, now, () => codeMatches(TEST_PEPPER, send.id, send.codeHash, guess)),
  ))!;

const fail = (id: string) =>
  changeSend(store.database, { id }, (send, now): Decision<string> =>
    send.status === 'failed'
      ? { result: 'failed before' }
      : { result: 'failed now', change: failure('rejected_by_provider', now) },
  );

const offer = (attemptId: string): ClaimOffer => ({
  attemptId,
  leaseMs: LEASE_MS,
  policy: POLICY,
  sender: () => ({ id: sender.id, number: sender.number }) as AvailableSender,
});
const claimSend = (id: string, attemptId: string) =>
  changeSend(store.database, { id }, (send, now) => claim(send, now, offer(attemptId)));
const settleSend = (id: string, attemptId: string, outcome: Outcome) =>
  changeSend(store.database, { id }, (send, now) => settle(send, now, attemptId, outcome, POLICY, 0));
const accepted = (messageId: string): Outcome => ({ kind: 'accepted', messageId });

describe('verification', () => {
  it('gives exactly one of 80 right guesses at once a valid answer', async () => {
    const caller = await buildCaller(store.database, 'test');
    const id = await buildSend(store.database, caller, { code: CODE });
    const answers = await Promise.all(Array.from({ length: 80 }, () => verify(caller, id, CODE)));
    expect(answers.filter((answer) => answer.valid)).toHaveLength(1);
    for (const { verification, attemptsLeft } of answers)
      expect({ verification, attemptsLeft }).toEqual({ verification: 'verified', attemptsLeft: 0 });
    expect(await read(caller, id)).toMatchObject({ verification: 'verified', wrongGuesses: 0 });
    expect((await read(caller, id)).verifiedAt).not.toBeNull();
  });

  it('judges exactly five of 200 wrong guesses at once', async () => {
    const caller = await buildCaller(store.database, 'test');
    const id = await buildSend(store.database, caller, { code: CODE });
    const answers = await Promise.all(Array.from({ length: 200 }, () => verify(caller, id, '042914')));
    const pending = answers.filter((answer) => answer.verification === 'pending');
    expect(pending.map((answer) => answer.attemptsLeft).toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4]);
    const locked = answers.filter((answer) => answer.verification === 'locked');
    expect(locked).toHaveLength(196);
    expect(locked.every((answer) => answer.attemptsLeft === 0)).toBe(true);
    expect(answers.some((answer) => answer.valid)).toBe(false);
    expect(await read(caller, id)).toMatchObject({
      verification: 'locked',
      wrongGuesses: 5,
      verifiedAt: null,
    });
    expect(await verify(caller, id, CODE)).toEqual({ valid: false, verification: 'locked', attemptsLeft: 0 });
  });

  it('lets right and wrong guesses at once end in one way only', async () => {
    const caller = await buildCaller(store.database, 'test');
    for (let round = 0; round < 5; round++) {
      const id = await buildSend(store.database, caller, { code: CODE });
      const guesses = Array.from({ length: 60 }, (_, n) => (n % 5 === round ? CODE : '000001'));
      const answers = await Promise.all(guesses.map((guess) => verify(caller, id, guess)));
      const { verification, wrongGuesses } = await read(caller, id);
      const wrongJudged = answers.filter((answer) => answer.verification === 'pending').length;
      expect(answers.filter((answer) => answer.valid)).toHaveLength(verification === 'verified' ? 1 : 0);
      if (verification === 'verified') expect(wrongGuesses).toBe(wrongJudged);
      else expect([verification, wrongGuesses, wrongJudged]).toEqual(['locked', 5, 4]);
      expect(answers.filter((answer) => answer.verification === 'locked').length > 0).toBe(
        verification === 'locked',
      );
    }
  });

  it('is judged by the database’s clock: one moment before and at the deadline', async () => {
    const caller = await buildCaller(store.database, 'test');
    const id = await buildSend(store.database, caller, { code: CODE });
    await store.sql(
      `update sends set created_at = created_at - interval '601 seconds', expires_at = expires_at - interval '601 seconds'
       where id = $1`,
      [id],
    );
    expect(await verify(caller, id, CODE)).toEqual({
      valid: false,
      verification: 'expired',
      attemptsLeft: 0,
    });
    expect(await read(caller, id)).toMatchObject({ verification: 'pending', wrongGuesses: 0 });
    expect(await version(id)).toBe(0);
  });
});

describe('one door for changes', () => {
  it('finds no send with an unknown id, and asks nobody', async () => {
    const never = () => {
      throw new Error('there was something to decide on');
    };
    expect(await changeSend(store.database, { id: newId() }, never)).toBeNull();
  });

  it('finds no send of another account, and asks nobody', async () => {
    const [owner, other] = [
      await buildCaller(store.database, 'test'),
      await buildCaller(store.database, 'test'),
    ];
    const id = await buildSend(store.database, owner, { code: CODE });
    let asked = 0;
    const decide = (): Decision<string> => {
      asked += 1;
      return { result: 'decided', change: { wrongGuesses: 1 } };
    };
    expect(await changeSend(store.database, { id, accountId: other.accountId }, decide)).toBeNull();
    expect(await findSend(store.database, other.accountId, id)).toBeNull();
    expect(asked).toBe(0);
    expect(await changeSend(store.database, { id, accountId: owner.accountId }, decide)).toBe('decided');
    expect(asked).toBe(1);
  });

  it('writes nothing when nothing is to change, or when deciding fails', async () => {
    const caller = await buildCaller(store.database, 'test');
    const id = await buildSend(store.database, caller);
    expect(await changeSend(store.database, { id }, () => ({ result: 'seen' }))).toBe('seen');
    expect(await changeSend(store.database, { id }, () => ({ result: 'seen', attempts: [] }))).toBe('seen');
    await expect(
      changeSend(store.database, { id }, () => {
        throw new Error('undecided');
      }),
    ).rejects.toThrow('undecided');
    expect(await version(id)).toBe(0);
  });

  it('writes every field that a decision may change, and reads it back', async () => {
    const caller = await buildCaller(store.database, 'live');
    const id = await buildSend(store.database, caller);
    const before = await read(caller, id);
    const at = (seconds: number) => new Date(before.createdAt.getTime() + seconds * 1000);
    const attemptId = newId();
    const change = {
      status: 'sending',
      verification: 'verified',
      wrongGuesses: 3,
      channel: 'whatsapp',
      from: sender.number,
      senderId: sender.id,
      attempts: 4,
      attemptId,
      receiptUntil: at(40),
      awaitingSender: true,
      dueAt: at(20),
      sentAt: at(1),
      deliveredAt: at(2),
      readAt: at(3),
      verifiedAt: at(4),
    } as const;
    await changeSend(store.database, { id }, () => ({ result: null, change }));
    expect(await read(caller, id)).toEqual({ ...before, ...change });
    await changeSend(store.database, { id }, () => ({
      result: null,
      change: failure('attempts_exhausted', at(30)),
    }));
    expect(await read(caller, id)).toEqual({
      ...before,
      ...change,
      ...failure('attempts_exhausted', at(30)),
    });
    expect(await version(id)).toBe(2);
  });

  it('rings a second after a send is due, and no more once nothing is', async () => {
    const caller = await buildCaller(store.database, 'test');
    const id = await buildSend(store.database, caller);
    const ring = async () =>
      (
        await store.sql<{ after: number | null }>(
          'select extract(epoch from ring_at - due_at)::float8 as after from sends where id = $1',
          [id],
        )
      )[0]!.after;
    await changeSend(store.database, { id }, (_, now) => ({ result: null, change: { dueAt: now } }));
    expect(await ring()).toBe(1);
    expect(await changeSend(store.database, { id }, simulate)).toBe('read');
    expect(await ring()).toBeNull();
  });

  it('decides again, on the new row, when somebody was faster; what was decided on the old row is not written', async () => {
    const caller = await buildCaller(store.database, 'live', { freeQuota: 5 });
    const id = await buildSend(store.database, caller);
    const faster = new pg.Client({ connectionString: store.url });
    await faster.connect();
    await faster.query('begin');
    await faster.query('update sends set wrong_guesses = 3, version = version + 1 where id = $1', [id]);

    const seen: number[] = [];
    const slower = changeSend(store.database, { id }, (send, now): Decision<string> => {
      seen.push(send.wrongGuesses);
      // On the old row: a failure with its refund and an attempt. On the new one: nothing.
      return send.wrongGuesses === 3
        ? { result: 'too late' }
        : {
            result: 'failed',
            change: failure('rejected_by_provider', now),
            attempts: [
              { id: newId(), senderId: null, outcome: 'recipient', errorCode: null, messageId: null },
            ],
          };
    });
    await untilSomebodyWaits();
    expect(seen).toEqual([0]);
    await faster.query('commit');
    await faster.end();

    expect(await slower).toBe('too late');
    expect(seen).toEqual([0, 3]);
    expect(await read(caller, id)).toMatchObject({ status: 'queued', wrongGuesses: 3 });
    expect(await attemptsOf(id)).toEqual([]);
    expect(await returnedOf(id)).toEqual([]);
    expect(await findAccount(store.database, caller.accountId)).toMatchObject({ freeQuota: 4 });
  });

  it('loses none of 60 changes at once', async () => {
    const caller = await buildCaller(store.database, 'test');
    const id = await buildSend(store.database, caller);
    const results = await Promise.all(
      Array.from({ length: 60 }, () =>
        changeSend(store.database, { id }, (send) => ({
          result: send.attempts,
          change: { attempts: send.attempts + 1 },
        })),
      ),
    );
    expect(results.toSorted((a, b) => a! - b!)).toEqual(Array.from({ length: 60 }, (_, n) => n));
    expect(await read(caller, id)).toMatchObject({ attempts: 60 });
  });

  async function untilSomebodyWaits(): Promise<void> {
    await until('a session that waits for a lock', async () => {
      const waiting = await store.sql(
        `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      );
      return waiting.length > 0;
    });
  }
});

describe('a refund', () => {
  it('goes to the bucket that the unit came from', async () => {
    const caller = await buildCaller(store.database, 'live', { freeQuota: 1, credits: 1 });
    const first = await buildSend(store.database, caller);
    const second = await buildSend(store.database, caller);
    await fail(second);
    expect(await findAccount(store.database, caller.accountId)).toMatchObject({ freeQuota: 0, credits: 1 });
    expect(await returnedOf(second)).toEqual([{ bucket: 'credit', units: 1 }]);
    await fail(first);
    expect(await findAccount(store.database, caller.accountId)).toMatchObject({ freeQuota: 1, credits: 1 });
    expect(await returnedOf(first)).toEqual([{ bucket: 'free_quota', units: 1 }]);
  });

  it('is made once by 50 failures at once', async () => {
    const caller = await buildCaller(store.database, 'live', { freeQuota: 0, credits: 3 });
    const id = await buildSend(store.database, caller);
    const results = await Promise.all(Array.from({ length: 50 }, () => fail(id)));
    expect(results.filter((result) => result === 'failed now')).toHaveLength(1);
    expect(await returnedOf(id)).toHaveLength(1);
    expect(await findAccount(store.database, caller.accountId)).toMatchObject({ freeQuota: 0, credits: 3 });
  });

  it('loses no unit when many sends of one account fail at once', async () => {
    const caller = await buildCaller(store.database, 'live', { freeQuota: 20, credits: 20 });
    const ids = await Promise.all(Array.from({ length: 40 }, () => buildSend(store.database, caller)));
    await Promise.all(ids.map(fail));
    expect(await findAccount(store.database, caller.accountId)).toMatchObject({ freeQuota: 20, credits: 20 });
  });

  it('is not made for any other change, nor for a change of a failed send', async () => {
    const caller = await buildCaller(store.database, 'live', { freeQuota: 1 });
    const id = await buildSend(store.database, caller, { code: CODE });
    const attemptId = newId();
    await claimSend(id, attemptId);
    await settleSend(id, attemptId, accepted('wamid.kept'));
    await verify(caller, id, '999999');
    expect(await returnedOf(id)).toEqual([]);
    expect(await findAccount(store.database, caller.accountId)).toMatchObject({ freeQuota: 0 });
    await fail(id);
    await verify(caller, id, CODE);
    expect(await returnedOf(id)).toHaveLength(1);
    expect(await read(caller, id)).toMatchObject({ status: 'failed', verification: 'verified' });
  });

  it('and its failure are written together or not at all', async () => {
    const caller = await buildCaller(store.database, 'live', { freeQuota: 1 });
    const id = await buildSend(store.database, caller);
    await store.sql(
      `insert into ledger_entries (account_id, send_id, kind, bucket, units) values ($1, $2, 'returned', 'free_quota', 1)`,
      [caller.accountId, id],
    );
    await expect(fail(id)).rejects.toThrow();
    expect(await read(caller, id)).toMatchObject({ status: 'queued', failedAt: null });
    expect((await read(caller, id)).codeBox).not.toBeNull();
    expect(await findAccount(store.database, caller.accountId)).toMatchObject({ freeQuota: 0 });
  });
});

describe('attempts', () => {
  it('are begun by a claim and finished by their outcome', async () => {
    const caller = await buildCaller(store.database, 'live');
    const id = await buildSend(store.database, caller);
    const attemptId = newId();
    expect(await claimSend(id, attemptId)).toEqual({ kind: 'claimed', attempt: 1 });
    const begun = { id: attemptId, sender_id: sender.id, error_code: null, message_id: null };
    expect(await attemptsOf(id)).toEqual([{ ...begun, outcome: null, finished: false }]);
    expect(await read(caller, id)).toMatchObject({ status: 'sending', from: sender.number, attemptId });

    await settleSend(id, attemptId, accepted('wamid.begun'));
    expect(await attemptsOf(id)).toEqual([
      { ...begun, outcome: 'accepted', message_id: 'wamid.begun', finished: true },
    ]);
    expect(await read(caller, id)).toMatchObject({ status: 'sent', attemptId: null, codeBox: null });
  });

  it('keep the provider’s error code', async () => {
    const caller = await buildCaller(store.database, 'live');
    const id = await buildSend(store.database, caller);
    const attemptId = newId();
    await claimSend(id, attemptId);
    await settleSend(id, attemptId, { kind: 'recipient', errorCode: 131026, reason: 'undeliverable' });
    expect(await attemptsOf(id)).toMatchObject([
      { outcome: 'recipient', error_code: 131026, finished: true },
    ]);
    expect(await read(caller, id)).toMatchObject({
      status: 'failed',
      failureReason: 'rejected_by_provider',
    });
  });

  it('go to one of many workers that claim at once', async () => {
    const caller = await buildCaller(store.database, 'live');
    const id = await buildSend(store.database, caller);
    const claims = await Promise.all(Array.from({ length: 30 }, () => claimSend(id, newId())));
    expect(claims.filter((end) => end!.kind === 'claimed')).toHaveLength(1);
    expect(claims.filter((end) => end!.kind === 'not_due')).toHaveLength(29);
    expect(await attemptsOf(id)).toHaveLength(1);
  });

  it('whose lease has ended are taken over as unknown, and the worker that wakes up late changes nothing', async () => {
    const caller = await buildCaller(store.database, 'live');
    const id = await buildSend(store.database, caller);
    const [lost, next] = [newId(), newId()];
    await claimSend(id, lost);
    await store.sql(`update sends set due_at = due_at - interval '15 seconds' where id = $1`, [id]);
    expect(await claimSend(id, next)).toEqual({ kind: 'claimed', attempt: 2 });
    expect(await attemptsOf(id)).toMatchObject([
      { id: lost, outcome: 'unknown', finished: true },
      { id: next, outcome: null, finished: false },
    ]);
    const before = await version(id);
    expect(await settleSend(id, lost, accepted('wamid.late'))).toEqual({ kind: 'stale' });
    expect(await version(id)).toBe(before);
    expect(await attemptsOf(id)).toMatchObject([{ outcome: 'unknown', message_id: null }, { outcome: null }]);
  });

  it('keep a message id that a later outcome does not know', async () => {
    const caller = await buildCaller(store.database, 'live');
    const id = await buildSend(store.database, caller);
    const attemptId = newId();
    await claimSend(id, attemptId);
    await settleSend(id, attemptId, accepted('wamid.known'));
    await changeSend(store.database, { id }, () => ({
      result: null,
      attempts: [
        {
          id: attemptId,
          senderId: sender.id,
          outcome: 'recipient',
          errorCode: 131026,
          messageId: null,
        },
      ],
    }));
    expect(await attemptsOf(id)).toMatchObject([{ outcome: 'recipient', message_id: 'wamid.known' }]);
  });
});
