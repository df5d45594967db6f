import { DONE, failure, type Decision } from '@onecode/domain';
import { findAccount } from '@onecode/store/accounts';
import type { Sender } from '@onecode/store/senders';
import { changeSend } from '@onecode/store/sends';
import { buildCaller, buildSend, buildSender, until, useTestDatabase } from '@onecode/testing';
import { accepted, CODE, sendActions, workerActions } from './sendActions.js';

const store = useTestDatabase();

describe('changeSend', () => {
  let sender: Sender;
  beforeAll(async () => {
    sender = await buildSender(store.database);
  });

  const { read, version, attemptsOf, returnedOf } = sendActions(store);

  it('writes nothing without a change, or if the decision throws', async () => {
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

  it('writes and reads back every field that a decision may change', async () => {
    const caller = await buildCaller(store.database, 'live');
    const id = await buildSend(store.database, caller);
    /** Columns of the row that differ in each read. */
    const READ = { version: expect.any(Number), now: expect.any(Date) };
    const before = await read(caller, id);
    const at = (seconds: number) => new Date(before.createdAt.getTime() + seconds * 1000);
    const change = {
      status: 'sending',
      phase: 'calling',
      channel: 'whatsapp',
      from: sender.number,
      senderId: sender.id,
      attempts: 4,
      attemptNumber: 5,
      claimedAt: at(0),
      claimedUntil: at(15),
      receiptUntil: at(40),
      dueAt: at(20),
      sentAt: at(1),
      deliveredAt: at(2),
      readAt: at(3),
    } as const;
    await changeSend(store.database, { id }, () => ({ result: null, change }));
    expect(await read(caller, id)).toEqual({ ...before, ...change, ...READ });
    await changeSend(store.database, { id }, () => ({
      result: null,
      change: failure('attempts_exhausted', at(30)),
    }));
    expect(await read(caller, id)).toEqual({
      ...before,
      ...change,
      ...failure('attempts_exhausted', at(30)),
      ...READ,
    });
    expect(await version(id)).toBe(2);
  });

  it('fails soon if a send without a call is to fail while its account is locked, and writes nothing', async () => {
    const caller = await buildCaller(store.database, 'live', { freeQuota: 5 });
    const id = await buildSend(store.database, caller);
    const other = await store.connect();
    await other.query('begin');
    await other.query('select from accounts where id = $1 for no key update', [caller.accountId]);
    const startTime = performance.now();
    const fail = () =>
      changeSend(store.database, { id }, (_, now) => ({
        result: null,
        change: failure('attempts_exhausted', now),
      }));
    await expect(fail()).rejects.toMatchObject({ code: 'SQLSTATE_55P03' });
    expect(performance.now() - startTime).toBeLessThan(3_000);
    await other.query('commit');
    await other.end();
    expect(await returnedOf(id)).toEqual([]);
    await fail();
    expect(await returnedOf(id)).toHaveLength(1);
  });

  it('decides again on the new row if another process changes the row first', async () => {
    const caller = await buildCaller(store.database, 'live', { freeQuota: 5 });
    const id = await buildSend(store.database, caller);
    const faster = await store.connect();
    await faster.query('begin');
    await faster.query('update sends set attempts = 3, version = version + 1 where id = $1', [id]);

    const seen: number[] = [];
    const slower = changeSend(store.database, { id }, (send, now): Decision<string> => {
      seen.push(send.attempts);
      // For the old row, decides a failure with its refund and an attempt; for the new row, nothing.
      return send.attempts === 3
        ? { result: 'too late' }
        : {
            result: 'failed',
            change: failure('rejected_by_provider', now),
            attempts: [
              {
                number: 1,
                senderId: null,
                startedAt: now,
                outcome: 'recipient',
                errorCode: null,
                messageId: null,
              },
            ],
          };
    });
    await until('a session that waits for a lock', async () => (await store.countLockWaits()) > 0);
    expect(seen).toEqual([0]);
    await faster.query('commit');
    await faster.end();

    expect(await slower).toBe('too late');
    expect(seen).toEqual([0, 3]);
    expect(await read(caller, id)).toMatchObject({ status: 'queued', attempts: 3 });
    expect(await attemptsOf(id)).toEqual([]);
    expect(await returnedOf(id)).toEqual([]);
    expect(await findAccount(store.database, caller.accountId)).toMatchObject({ freeQuota: 4 });
  });

  it('applies all of 60 concurrent changes', async () => {
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
});

describe('attempts', () => {
  let sender: Sender;
  beforeAll(async () => {
    sender = await buildSender(store.database);
  });

  const { version, attemptsOf } = sendActions(store);
  const { claimSend, settleSend } = workerActions(store, () => sender);
  const reportLoss = (id: string, report = { at: new Date(), errorCode: 131026 }) =>
    changeSend(store.database, { id }, () => ({
      result: null,
      attempts: [
        {
          number: 1,
          senderId: sender.id,
          startedAt: new Date(),
          outcome: 'recipient',
          errorCode: report.errorCode,
          messageId: null,
          report,
        },
      ],
    }));

  it('are started by only one of many concurrent workers', async () => {
    const caller = await buildCaller(store.database, 'live');
    const id = await buildSend(store.database, caller);
    const claims = await Promise.all(Array.from({ length: 30 }, () => claimSend(id)));
    expect(claims.filter((end) => end === 'claimed')).toHaveLength(1);
    expect(claims.filter((end) => end === 'waiting')).toHaveLength(29);
    expect(await attemptsOf(id)).toEqual([]);
  });

  it('become unknown after their lease, and a late outcome changes nothing', async () => {
    const caller = await buildCaller(store.database, 'live');
    const id = await buildSend(store.database, caller);
    await claimSend(id);
    await store.sql(`update sends set claimed_until = claimed_until - interval '15 seconds' where id = $1`, [
      id,
    ]);
    expect(await claimSend(id)).toBe('retry');
    expect(await attemptsOf(id)).toMatchObject([{ number: 1, outcome: 'unknown' }]);
    const before = await version(id);
    expect(await settleSend(id, 1, accepted('wamid.late'))).toBe('stale');
    expect(await version(id)).toBe(before);
    expect(await attemptsOf(id)).toMatchObject([{ number: 1, outcome: 'unknown', message_id: null }]);
  });

  it('keep the end of the call, and the first report of a failure', async () => {
    const caller = await buildCaller(store.database, 'live');
    const id = await buildSend(store.database, caller);
    await claimSend(id);
    await settleSend(id, 1, accepted('wamid.lost'));
    await store.sql(`update attempts set finished_at = '2026-01-02 03:04:05Z' where send_id = $1`, [id]);
    const readReport = () =>
      store.sql('select finished_at, reported_at, reported_code from attempts where send_id = $1', [id]);
    await reportLoss(id);
    const [first] = await readReport();
    expect(first).toMatchObject({ finished_at: new Date('2026-01-02T03:04:05Z'), reported_code: 131026 });
    await reportLoss(id, { at: new Date(0), errorCode: 131000 });
    expect(await readReport()).toMatchObject([{ reported_at: first!['reported_at'], reported_code: 131026 }]);
  });

  it('end when a receipt shows that the provider accepted them', async () => {
    const id = await buildSend(store.database, await buildCaller(store.database, 'live'));
    await claimSend(id);
    await settleSend(id, 1, { kind: 'unknown', errorCode: null, reason: 'no answer' });
    await store.sql(`update attempts set finished_at = '2026-01-02 03:04:05Z' where send_id = $1`, [id]);
    const attempt = { number: 1, senderId: sender.id, startedAt: new Date(), errorCode: null };
    await changeSend(store.database, { id }, () => ({
      result: null,
      change: { ...DONE, status: 'delivered', deliveredAt: new Date() },
      attempts: [{ ...attempt, outcome: 'accepted', messageId: 'wamid.reported' }],
    }));
    const ended = `select from attempts where send_id = $1 and finished_at > now() - interval '1 minute'`;
    expect(await store.sql(ended, [id])).toHaveLength(1);
  });

  it('stay accepted if a receipt arrived before the call failed', async () => {
    const caller = await buildCaller(store.database, 'live');
    const id = await buildSend(store.database, caller);
    await claimSend(id);
    const attempt = { number: 1, senderId: sender.id, startedAt: new Date(), errorCode: null };
    await changeSend(store.database, { id }, () => ({
      result: null,
      change: { ...DONE, status: 'delivered', deliveredAt: new Date() },
      attempts: [{ ...attempt, outcome: 'accepted', messageId: 'wamid.reported' }],
    }));
    await settleSend(id, 1, { kind: 'unknown', errorCode: null, reason: 'no answer' });
    expect(await attemptsOf(id)).toMatchObject([{ outcome: 'accepted', message_id: 'wamid.reported' }]);
  });
});

describe('a refund', () => {
  let sender: Sender;
  beforeAll(async () => {
    sender = await buildSender(store.database);
  });

  const { read, returnedOf, verify, fail } = sendActions(store);
  const { claimSend, settleSend } = workerActions(store, () => sender);

  it('is made once for 50 concurrent failures', async () => {
    const caller = await buildCaller(store.database, 'live', { freeQuota: 0, credits: 3 });
    const id = await buildSend(store.database, caller);
    const results = await Promise.all(Array.from({ length: 50 }, () => fail(id)));
    expect(results.filter((result) => result === 'failed now')).toHaveLength(1);
    expect(await returnedOf(id)).toHaveLength(1);
    expect(await findAccount(store.database, caller.accountId)).toMatchObject({ freeQuota: 0, credits: 3 });
  });

  it('is made only when a send becomes failed', async () => {
    const caller = await buildCaller(store.database, 'live', { freeQuota: 1 });
    const id = await buildSend(store.database, caller, { code: CODE });
    await claimSend(id);
    await settleSend(id, 1, accepted('wamid.kept'));
    await verify(caller, id, '999999');
    expect(await returnedOf(id)).toEqual([]);
    expect(await findAccount(store.database, caller.accountId)).toMatchObject({ freeQuota: 0 });
    await fail(id);
    await verify(caller, id, CODE);
    expect(await returnedOf(id)).toHaveLength(1);
    expect(await read(caller, id)).toMatchObject({ status: 'failed', verification: 'verified' });
  });

  it('is written atomically with the failure', async () => {
    const caller = await buildCaller(store.database, 'live', { freeQuota: 1 });
    const id = await buildSend(store.database, caller);
    await store.sql(
      `insert into ledger_entries (account_id, send_id, kind, bucket, units) values ($1, $2, 'returned', 'free_quota', 1)`,
      [caller.accountId, id],
    );
    await expect(fail(id)).rejects.toThrow();
    expect(await read(caller, id)).toMatchObject({ status: 'queued', failedAt: null });
    expect((await read(caller, id)).encryptedCode).not.toBeNull();
    expect(await findAccount(store.database, caller.accountId)).toMatchObject({ freeQuota: 0 });
  });
});
