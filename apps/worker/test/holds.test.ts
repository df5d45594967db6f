import type { HoldTarget } from '@onecode/domain';
import { placeHold, pauseSender, releaseHold, resumeSender } from '@onecode/store';
import { TEST_ACTOR, until } from '@onecode/testing';
import { useWorker } from './testWorker.js';
import { allSettled, makeSends } from './manySends.js';

/** Hundreds of sends take a while on a busy machine. */
const ALL_MS_MAX = 60_000;
const live: HoldTarget = { kind: 'live', target: '' };
const brazil: HoldTarget = { kind: 'country', target: 'BR' };

describe('while live delivery is held', () => {
  const t = useWorker({ env: { DELIVERY_BACKOFF_MS: '300' } });
  const account = (): HoldTarget => ({ kind: 'account', target: t.caller.accountId });

  const set = (what: HoldTarget) =>
    placeHold(t.environment.db.database, TEST_ACTOR, { ...what, reason: 'a test' });
  const end = (what: HoldTarget) => releaseHold(t.environment.db.database, TEST_ACTOR, what);
  beforeEach(async () => {
    for (const what of [live, brazil]) await end(what);
  });

  const waits = (id: string) => t.environment.until(id, (row) => row.awaiting_sender);

  it.each<[string, () => HoldTarget]>([
    ['all of it', () => live],
    ['to the country', () => brazil],
    ['of the account', account],
  ])('a send stays queued without a call, and goes out once after the release: %s', async (_, what) => {
    await set(what());
    const id = await t.environment.send(t.caller);
    expect(await waits(id)).toMatchObject({ status: 'queued', channel: null, attempts: 0 });
    const before = await t.environment.row(id);
    await t.environment.enqueue('live', id, 99);
    for (let round = 0; round < 3; round++) await t.worker.sweep();
    expect(await t.environment.row(id)).toEqual(before);
    expect(t.environment.tap.requests).toEqual([]);
    await end(what());
    expect(await t.environment.until(id, 'delivered')).toMatchObject({ attempts: 1 });
    expect(await t.environment.calls(id)).toHaveLength(1);
  });

  it('for one account, the sends of others go out', async () => {
    await set(account());
    const held = await t.environment.send(t.caller);
    const other = await t.environment.send(await t.environment.caller());
    await t.environment.until(other, 'delivered');
    await waits(held);
    expect(t.environment.tap.requests).toHaveLength(1);
  });

  it('to one country, sends to others go out', async () => {
    await set({ kind: 'country', target: 'US' });
    await t.environment.until(await t.environment.send(t.caller), 'delivered');
    await end({ kind: 'country', target: 'US' });
  });

  it('a send between two attempts makes no further attempt, and continues after the release', async () => {
    t.environment.simulator.rules.add({ fault: { error: 131000 }, times: 1 });
    const id = await t.environment.send(t.caller);
    await t.environment.until(id, ({ attempts, attempt_id }) => attempts === 1 && attempt_id === null);
    await set(live);
    expect(await waits(id)).toMatchObject({ status: 'sending', attempts: 1 });
    expect(await t.environment.calls(id)).toHaveLength(1);
    await end(live);
    expect(await t.environment.until(id, 'delivered')).toMatchObject({ attempts: 2 });
  });

  it('a send whose code expires fails: the code is erased and the unit is refunded', async () => {
    await set(account());
    const id = await t.environment.send(t.caller);
    await waits(id);
    await t.environment.age(id, 601);
    expect(await t.environment.until(id, 'failed')).toMatchObject({
      failure_reason: 'expired_before_delivery',
      sealed_code: null,
      awaiting_sender: false,
      due_at: null,
    });
    expect(await t.environment.units(t.caller.accountId)).toMatchObject({
      free_quota: 1,
      returned: ['free_quota'],
    });
    await end(account());
    await t.worker.sweep();
    expect(t.environment.tap.requests).toEqual([]);
  });

  it('test sends are delivered', async () => {
    await set(live);
    const tester = await t.environment.caller('test');
    await t.environment.until(await t.environment.send(tester), 'read');
  });

  it(
    'hundreds wait without work, and each goes out once after the release',
    async () => {
      await set(live);
      const ids = await makeSends(t.environment, 300, { awaitingSender: true });
      for (let round = 0; round < 3; round++) await t.worker.sweep();
      expect(t.environment.tap.requests).toEqual([]);
      await t.environment.db.sql('update senders set throughput = 1000 where paused_at is null');
      await end(live);
      await until('the end of all sends', () => allSettled(t.environment), ALL_MS_MAX);
      await t.environment.until(ids.at(-1)!, 'delivered');
      expect(t.environment.tap.requests).toHaveLength(300);
    },
    2 * ALL_MS_MAX,
  );

  it('no call begins once the messages of the second before it have gone', async () => {
    const calls = () => t.environment.tap.requests.length;
    await t.environment.db.sql('update senders set throughput = 50 where paused_at is null');
    await makeSends(t.environment, 300, { awaitingSender: true });
    await until('calls', () => calls() > 20);
    await set(live);
    const before = calls();
    // Every other send waits again: those with a send slot have used it.
    await until('all others waiting', async () => {
      const [row] = await t.environment.db.sql<{ busy: number }>(
        `select count(*)::integer as busy from sends where status in ('queued', 'sending') and not awaiting_sender`,
      );
      return row!.busy === 0;
    });
    const made = calls();
    expect(made).toBeLessThan(300);
    // Send slots lie at most a second ahead: 45 of them, and the tenth of the throughput that may go at once.
    expect(made - before).toBeLessThanOrEqual(50);
    for (let round = 0; round < 5; round++) await t.worker.sweep();
    expect(calls()).toBe(made);
  });
});

describe('a paused sender', () => {
  const t = useWorker();

  it('holds sends back until it is resumed', async () => {
    const { database } = t.environment.db;
    const [sender] = await t.environment.db.sql<{ id: string }>(
      'select id from senders where paused_at is null',
    );
    await pauseSender(database, TEST_ACTOR, sender!.id);
    const id = await t.environment.send(t.caller);
    expect(await t.environment.until(id, (row) => row.awaiting_sender)).toMatchObject({ status: 'queued' });
    expect(t.environment.tap.requests).toEqual([]);
    await resumeSender(database, TEST_ACTOR, sender!.id);
    await t.environment.until(id, 'delivered');
  });
});
