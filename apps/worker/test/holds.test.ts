import { placeHold, pauseSender, releaseHold, resumeSender, type HoldTarget } from '@onecode/store';
import { TEST_ACTOR } from '@onecode/store/testing';
import { until } from '../../../test/harness/until.js';
import { useWorker } from './fixture.js';
import { allSettled, makeSends } from './manySends.js';

/** Hundreds of sends take a busy machine a while. */
const ALL_MS_MAX = 60_000;
const live: HoldTarget = { kind: 'live', target: '' };
const brazil: HoldTarget = { kind: 'country', target: 'BR' };

describe('while live delivery is held', () => {
  const t = useWorker({ env: { DELIVERY_BACKOFF_MS: '300' } });
  const account = (): HoldTarget => ({ kind: 'account', target: t.caller.accountId });

  const set = (what: HoldTarget) => placeHold(t.house.db.database, TEST_ACTOR, { ...what, reason: 'a test' });
  const end = (what: HoldTarget) => releaseHold(t.house.db.database, TEST_ACTOR, what);
  beforeEach(async () => {
    for (const what of [live, brazil]) await end(what);
  });

  const waits = (id: string) => t.house.until(id, (row) => row.awaiting_sender);

  it.each<[string, () => HoldTarget]>([
    ['all of it', () => live],
    ['to the country', () => brazil],
    ['of the account', account],
  ])('a send stays queued without a call, and leaves once at the release: %s', async (_, what) => {
    await set(what());
    const id = await t.house.send(t.caller);
    expect(await waits(id)).toMatchObject({ status: 'queued', channel: null, attempts: 0 });
    const before = await t.house.row(id);
    await t.house.enqueue('live', id, 99);
    for (let round = 0; round < 3; round++) await t.worker.sweep();
    expect(await t.house.row(id)).toEqual(before);
    expect(t.house.tap.requests).toEqual([]);
    await end(what());
    expect(await t.house.until(id, 'delivered')).toMatchObject({ attempts: 1 });
    expect(await t.house.calls(id)).toHaveLength(1);
  });

  it('of one account, another one’s leave', async () => {
    await set(account());
    const held = await t.house.send(t.caller);
    const other = await t.house.send(await t.house.caller());
    await t.house.until(other, 'delivered');
    await waits(held);
    expect(t.house.tap.requests).toHaveLength(1);
  });

  it('to one country, those to another one leave', async () => {
    await set({ kind: 'country', target: 'US' });
    await t.house.until(await t.house.send(t.caller), 'delivered');
    await end({ kind: 'country', target: 'US' });
  });

  it('a send between two attempts makes no other one, and goes on where it was', async () => {
    t.house.simulator.rules.add({ fault: { error: 131000 }, times: 1 });
    const id = await t.house.send(t.caller);
    await t.house.until(id, ({ attempts, attempt_id }) => attempts === 1 && attempt_id === null);
    await set(live);
    expect(await waits(id)).toMatchObject({ status: 'sending', attempts: 1 });
    expect(await t.house.calls(id)).toHaveLength(1);
    await end(live);
    expect(await t.house.until(id, 'delivered')).toMatchObject({ attempts: 2 });
  });

  it('a code that expires fails its send: it is erased and the unit goes back', async () => {
    await set(account());
    const id = await t.house.send(t.caller);
    await waits(id);
    await t.house.age(id, 601);
    expect(await t.house.until(id, 'failed')).toMatchObject({
      failure_reason: 'expired_before_delivery',
      sealed_code: null,
      awaiting_sender: false,
      due_at: null,
    });
    expect(await t.house.units(t.caller.accountId)).toMatchObject({
      free_quota: 1,
      returned: ['free_quota'],
    });
    await end(account());
    await t.worker.sweep();
    expect(t.house.tap.requests).toEqual([]);
  });

  it('test sends go on', async () => {
    await set(live);
    const tester = await t.house.caller('test');
    await t.house.until(await t.house.send(tester), 'read');
  });

  it(
    'hundreds wait and cost nothing, and all leave once each at the release',
    async () => {
      await set(live);
      const ids = await makeSends(t.house, 300, { awaitingSender: true });
      for (let round = 0; round < 3; round++) await t.worker.sweep();
      expect(t.house.tap.requests).toEqual([]);
      await t.house.db.sql('update senders set throughput = 1000 where paused_at is null');
      await end(live);
      await until('an end of all sends', () => allSettled(t.house), ALL_MS_MAX);
      await t.house.until(ids.at(-1)!, 'delivered');
      expect(t.house.tap.requests).toHaveLength(300);
    },
    2 * ALL_MS_MAX,
  );

  it('and the messages of a second before it have gone, no call begins any more', async () => {
    const calls = () => t.house.tap.requests.length;
    await t.house.db.sql('update senders set throughput = 50 where paused_at is null');
    await makeSends(t.house, 300, { awaitingSender: true });
    await until('calls', () => calls() > 20);
    await set(live);
    const heldAt = performance.now();
    // Every send waits again: those that had a slot have used it.
    await until('all others waiting', async () => {
      const [row] = await t.house.db.sql<{ busy: number }>(
        `select count(*)::integer as busy from sends where status in ('queued', 'sending') and not awaiting_sender`,
      );
      return row!.busy === 0;
    });
    const made = calls();
    const lastCallMs = performance.now() - heldAt;
    expect(made).toBeLessThan(300);
    // The horizon of a slot, and what a machine with other work takes to notice.
    expect(lastCallMs).toBeLessThan(1_000 + 2_000);
    for (let round = 0; round < 5; round++) await t.worker.sweep();
    expect(calls()).toBe(made);
  });
});

describe('a sender’s own switch', () => {
  const t = useWorker();

  it('is its pause: sends wait, and leave when it is resumed', async () => {
    const { database } = t.house.db;
    const [sender] = await t.house.db.sql<{ id: string }>('select id from senders where paused_at is null');
    await pauseSender(database, TEST_ACTOR, sender!.id);
    const id = await t.house.send(t.caller);
    expect(await t.house.until(id, (row) => row.awaiting_sender)).toMatchObject({ status: 'queued' });
    expect(t.house.tap.requests).toEqual([]);
    await resumeSender(database, TEST_ACTOR, sender!.id);
    await t.house.until(id, 'delivered');
  });
});
