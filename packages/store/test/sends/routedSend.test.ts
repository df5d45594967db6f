import type { Decision, Send, SendSlot } from '@onecode/domain';
import { changeRoutedSend, newId, type Sender } from '@onecode/store';
import { buildCaller, buildSend, buildSender, useTestDatabase, type TestCaller } from '@onecode/testing';

const store = useTestDatabase();
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
