import { failure, simulate, type Decision } from '@onecode/domain';
import { changeSend, findAccount, newId, type Sender } from '@onecode/store';
import { buildCaller, buildSend, buildSender, until, useTestDatabase } from '@onecode/testing';
import { sendActions } from './sendActions.js';

const store = useTestDatabase();
let sender: Sender;
beforeAll(async () => {
  sender = await buildSender(store.database);
});

const { read, version, attemptsOf, returnedOf } = sendActions(store);

describe('one door for changes', () => {
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

  it('enqueues a second after a send is due, and no more once nothing is', async () => {
    const caller = await buildCaller(store.database, 'test');
    const id = await buildSend(store.database, caller);
    const nextEnqueueSeconds = async () =>
      (
        await store.sql<{ after: number | null }>(
          'select extract(epoch from next_enqueue_at - due_at)::float8 as after from sends where id = $1',
          [id],
        )
      )[0]!.after;
    await changeSend(store.database, { id }, (_, now) => ({ result: null, change: { dueAt: now } }));
    expect(await nextEnqueueSeconds()).toBe(1);
    expect(await changeSend(store.database, { id }, simulate)).toBe('read');
    expect(await nextEnqueueSeconds()).toBeNull();
  });

  it('decides again, on the new row, when somebody was faster; what was decided on the old row is not written', async () => {
    const caller = await buildCaller(store.database, 'live', { freeQuota: 5 });
    const id = await buildSend(store.database, caller);
    const faster = await store.connect();
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
    await until('a session that waits for a lock', async () => (await store.countLockWaits()) > 0);
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
});
