import { failure, simulate, type Decision, type Send, type SendSlot } from '@onecode/domain';
import { changeRoutedSend, changeSend, findAccount, newId, type Sender } from '@onecode/store';
import {
  buildCaller,
  buildSend,
  buildSender,
  until,
  useTestDatabase,
  type TestCaller,
} from '@onecode/testing';
import { accepted, CODE, sendActions, workerActions } from './sendActions.js';

const store = useTestDatabase();

describe('one door for changes', () => {
  let sender: Sender;
  beforeAll(async () => {
    sender = await buildSender(store.database);
  });

  const { read, version, attemptsOf, returnedOf } = sendActions(store);

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

describe('attempts', () => {
  let sender: Sender;
  beforeAll(async () => {
    sender = await buildSender(store.database);
  });

  const { version, attemptsOf } = sendActions(store);
  const { claimSend, settleSend } = workerActions(store, () => sender);

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

describe('a refund', () => {
  let sender: Sender;
  beforeAll(async () => {
    sender = await buildSender(store.database);
  });

  const { read, returnedOf, verify, fail } = sendActions(store);
  const { claimSend, settleSend } = workerActions(store, () => sender);

  it('is made once by 50 failures at once', async () => {
    const caller = await buildCaller(store.database, 'live', { freeQuota: 0, credits: 3 });
    const id = await buildSend(store.database, caller);
    const results = await Promise.all(Array.from({ length: 50 }, () => fail(id)));
    expect(results.filter((result) => result === 'failed now')).toHaveLength(1);
    expect(await returnedOf(id)).toHaveLength(1);
    expect(await findAccount(store.database, caller.accountId)).toMatchObject({ freeQuota: 0, credits: 3 });
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
    expect((await read(caller, id)).sealedCode).not.toBeNull();
    expect(await findAccount(store.database, caller.accountId)).toMatchObject({ freeQuota: 0 });
  });
});

describe('routing', () => {
  let caller: TestCaller;
  let sender: Sender;
  beforeAll(async () => {
    caller = await buildCaller(store.database, 'live', { freeQuota: 1000 });
  });
  beforeEach(async () => {
    await store.sql('truncate sends, senders, sender_recipient_windows, holds cascade');
    sender = await buildSender(store.database);
  });

  /** With what slot a send would be decided on, or undefined when there is no such send. */
  async function slotFor(id: string): Promise<SendSlot | null | undefined> {
    const changed = await changeRoutedSend(
      store.database,
      id,
      (_send: Send, _now: Date, slot): Decision<SendSlot | null> => ({ result: slot }),
    );
    return changed === null ? undefined : changed.result;
  }

  const slotsTaken = async (): Promise<number> =>
    (await store.sql('select from sender_recipient_windows')).length;
  /** As if all sends had been woken just now. */
  const PROMISED = `update sends set promised_until = now() + interval '10 seconds'`;
  /** As if the senders' slots of the next milliseconds were promised to sends that were woken. */
  const promisedFor = (ms: number) =>
    store.sql(
      `insert into send_slots (sender_id, promised_to)
       select id, clock_timestamp() + make_interval(secs => $1::float8 / 1000) from senders
       on conflict (sender_id) do update set promised_to = excluded.promised_to`,
      [ms],
    );
  const takeAll = ({ id }: Sender) =>
    store.sql(`update send_slots set free_at = clock_timestamp() + interval '1 hour' where sender_id = $1`, [
      id,
    ]);
  const set = (id: string, change: string) => store.sql(`update sends set ${change} where id = $1`, [id]);

  describe('a send that may go out', () => {
    it('comes with a send slot', async () => {
      const id = await buildSend(store.database, caller);
      expect(await slotFor(id)).toEqual({ sender: { id: sender.id, number: sender.number }, waitMs: 0 });
      expect(await slotsTaken()).toBe(1);
    });

    it('gets one of its own, whoever else asks at once, and none where there is no more', async () => {
      await store.sql('update senders set throughput = 10');
      const ids = await Promise.all(
        Array.from({ length: 24 }, (_, n) =>
          buildSend(store.database, caller, { recipient: `+55119876500${10 + n}` }),
        ),
      );
      await store.sql(PROMISED);
      const other = await buildSend(store.database, await buildCaller(store.database, 'test'));
      const [gone, test, ...slots] = await Promise.all([newId(), other, ...ids].map(slotFor));
      expect(gone).toBeUndefined();
      expect(test).toBeNull();
      const waits = slots.flatMap((slot) => slot?.waitMs ?? []);
      // A tenth at once, nine tenths in the second that slots may lie ahead.
      expect(waits.length).toBeGreaterThanOrEqual(9);
      expect(waits.length).toBeLessThanOrEqual(11);
      expect(new Set(waits).size).toBe(waits.length);
    });

    it('gets none while slots are promised to sends that waited, unless it is one of them', async () => {
      const [direct, woken] = [
        await buildSend(store.database, caller),
        await buildSend(store.database, caller, { recipient: '+5511987650002' }),
      ];
      await set(woken, `promised_until = now() + interval '10 seconds'`);
      await promisedFor(1_000);
      expect(await Promise.all([direct, woken].map(slotFor))).toEqual([
        null,
        { sender: { id: sender.id, number: sender.number }, waitMs: 0 },
      ]);
      await set(woken, `promised_until = now() - interval '1 second'`);
      expect(await slotFor(woken)).toBeNull();
    });

    it('gets one although slots are promised of one sender, when another is free', async () => {
      const id = await buildSend(store.database, caller);
      await promisedFor(1_000);
      const free = await buildSender(store.database);
      await takeAll(sender);
      expect(await slotFor(id)).toMatchObject({ sender: { id: free.id } });
    });

    it('waits for no slot that is further ahead than what is promised is filled up', async () => {
      await store.sql('update senders set throughput = 10');
      const ids = await Promise.all(
        Array.from({ length: 12 }, (_, n) =>
          buildSend(store.database, caller, { recipient: `+55119876500${10 + n}` }),
        ),
      );
      const waits = (await Promise.all(ids.map(slotFor))).flatMap((slot) => slot?.waitMs ?? []);
      expect(waits.length).toBeGreaterThan(0);
      expect(Math.max(...waits)).toBeLessThanOrEqual(250);
      expect(await slotFor(ids.at(-1)!)).toBeNull();
    });

    it('is decided on again, and with a slot, when somebody was faster', async () => {
      const id = await buildSend(store.database, caller);
      const seen: [attempts: number, hasSlot: boolean][] = [];
      const asked = [1, 2].map(() =>
        changeRoutedSend(store.database, id, (send, _now, slot) => {
          seen.push([send.attempts, slot !== null]);
          return { result: null, change: { attempts: send.attempts + 1 } };
        }),
      );
      const changed = await Promise.all(asked);
      expect(seen).toEqual([
        [0, true],
        [0, true],
        [1, true],
      ]);
      const attempts = changed.map((one) => one?.snapshot.send.attempts ?? 0);
      expect(attempts.toSorted((a, b) => a - b)).toEqual([1, 2]);
    });
  });

  describe('a send that may not go out', () => {
    it.each([
      [
        'waits for its time',
        `due_at = now() + interval '1 minute', next_enqueue_at = now() + interval '1 minute'`,
      ],
      [
        'has expired',
        `created_at = now() - interval '11 minutes', expires_at = now() - interval '1 minute', due_at = now(), next_enqueue_at = now()`,
      ],
      ['was verified', `verification = 'verified', verified_at = now()`],
      [
        'was sent',
        `status = 'sent', channel = 'whatsapp', from_number = '+15550783881', sender_id = (select id from senders),
         sent_at = now(), sealed_code = null, due_at = null, next_enqueue_at = null`,
      ],
      [
        'has failed',
        `status = 'failed', failed_at = now(), failure_reason = 'rejected_by_provider', sealed_code = null, due_at = null, next_enqueue_at = null`,
      ],
    ])('because it %s takes no slot', async (_, change) => {
      const id = await buildSend(store.database, caller);
      await set(id, change);
      expect(await slotFor(id)).toBeNull();
      expect(await slotsTaken()).toBe(0);
    });
  });
});
