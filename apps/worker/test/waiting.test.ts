import type { HoldTarget } from '@onecode/domain';
import { placeHold, releaseHold } from '@onecode/store/holds';
import { buildSender, keysOf, TEST_ACTOR, until } from '@onecode/testing';
import { isNothingDue, enqueueAll, makeSends } from './manySends.js';
import { useWorker, type UsedWorker } from './testWorker.js';

// A busy machine takes seconds for hundreds of calls, and after a timeout a message may be sent twice.
const t = useWorker({ senders: 0, env: { DELIVERY_BACKOFF_MS: '300', PROVIDER_TIMEOUT_MS: '30000' } });

describe('a send without an available sender', () => {
  const waitingSend = async (): Promise<string> => {
    const id = await t.send(t.caller);
    expect(await t.until(id, (row) => row.phase === 'waiting')).toMatchObject({
      status: 'queued',
      channel: null,
      from_number: null,
      attempts: 0,
    });
    return id;
  };

  it('stays queued without a call in every job and sweep, and is sent when a sender is added', async () => {
    const id = await waitingSend();
    const before = await t.row(id);
    await t.enqueue('live', id);
    for (let sweep = 0; sweep < 3; sweep++) await t.sweep();
    expect(await t.row(id)).toEqual(before);
    expect(t.tap.requests).toEqual([]);
    const sender = await buildSender(t.database);
    expect(await t.until(id, 'delivered')).toMatchObject({ from_number: sender.number, attempts: 1 });
  });

  it('fails when its code expires: the code is erased and the unit is refunded', async () => {
    const id = await waitingSend();
    await t.age(id, 601);
    const row = await t.until(id, 'failed');
    expect(row).toMatchObject({
      failure_reason: 'expired_before_delivery',
      channel: null,
      encrypted_code: null,
      phase: 'done',
      due_at: null,
    });
    expect(await t.units(t.caller.accountId)).toMatchObject({ free_quota: 1, returned: ['free_quota'] });
    await buildSender(t.database);
    await t.sweep();
    expect(await t.row(id)).toEqual(row);
    expect(t.tap.requests).toEqual([]);
  });
});

/** Long, because hundreds of sends take a while on a busy machine. */
const ALL_MS_MAX = 60_000;
const live: HoldTarget = { kind: 'live', target: '' };

describe('a hold of live delivery', () => {
  const account = (): HoldTarget => ({ kind: 'account', target: t.caller.accountId });

  const set = (what: HoldTarget) => placeHold(t.database, TEST_ACTOR, { ...what, reason: 'a test' });
  const end = (what: HoldTarget) => releaseHold(t.database, TEST_ACTOR, what);
  beforeEach(async () => {
    await buildSender(t.database);
    await end(live);
  });

  const waits = (id: string) => t.until(id, (row) => row.phase === 'waiting');

  it('keeps a send queued without a call, and lets it be sent once after the hold ends', async () => {
    await set(account());
    const id = await t.send(t.caller);
    expect(await waits(id)).toMatchObject({ status: 'queued', attempts: 0 });
    expect(t.tap.requests).toEqual([]);
    await end(account());
    expect(await t.until(id, 'delivered')).toMatchObject({ attempts: 1 });
    expect(t.calls(id)).toHaveLength(1);
  });

  it('prevents another attempt of a send between two attempts until the hold ends', async () => {
    t.simulator.rules.add({ fault: { error: 131000 }, times: 1 });
    const id = await t.send(t.caller);
    await t.until(id, ({ attempts, claimed_until }) => attempts === 1 && claimed_until === null);
    await set(live);
    expect(await waits(id)).toMatchObject({ status: 'sending', attempts: 1 });
    expect(t.calls(id)).toHaveLength(1);
    await end(live);
    expect(await t.until(id, 'delivered')).toMatchObject({ attempts: 2 });
  });

  it('does not affect test sends', async () => {
    await set(live);
    const tester = await t.newCaller('test');
    await t.until(await t.send(tester), 'read');
  });

  it('keeps hundreds of sends without jobs, and lets each be sent once after the hold ends', async () => {
    const keysBefore = (await keysOf(t.redis, t.prefix)).length;
    await t.sql(
      'update senders set throughput = 1000 where id::text not in (select subject from sender_blocks)',
    );
    await set(live);
    await makeSends(t.environment, 180, { phase: 'waiting' });
    const late = await makeSends(t.environment, 20);
    await enqueueAll(t.environment, late);
    for (const id of late) await waits(id);
    for (let sweep = 0; sweep < 3; sweep++) await t.sweep();
    expect(t.tap.requests).toEqual([]);
    await until('a queue without their jobs', async () => (await countUnfinishedJobs(t)) === 0);
    // Only the finished jobs of the late sends and the queues' own keys are left.
    expect((await keysOf(t.redis, t.prefix)).length - keysBefore).toBeLessThan(60);
    await end(live);
    await until('the end of all sends', () => isNothingDue(t.environment), ALL_MS_MAX);
    expect(t.tap.requests).toHaveLength(200);
  });

  it('prevents every call after the messages with a permit were sent', async () => {
    const calls = () => t.tap.requests.length;
    await t.sql(
      'update senders set throughput = 50 where id::text not in (select subject from sender_blocks)',
    );
    await makeSends(t.environment, 150, { phase: 'waiting' });
    await until('calls', () => calls() > 20);
    await set(live);
    const before = calls();
    // After every permit is used, all other sends wait again.
    await until('all others waiting', async () => {
      const [row] = await t.sql<{ busy: number }>(
        `select count(*)::integer as busy from sends where due_at is not null and phase <> 'waiting'`,
      );
      return row!.busy === 0;
    });
    const made = calls();
    expect(made).toBeLessThan(150);
    // Permits start at most half a second ahead: 23 of them, and the tenth of the throughput that may start at once. A busy worker calls
    // late.
    expect(made - before).toBeLessThanOrEqual(50);
    for (let sweep = 0; sweep < 5; sweep++) await t.sweep();
    expect(calls()).toBe(made);
  });
});

/** Returns the number of unfinished delivery jobs. */
async function countUnfinishedJobs({ redis, prefix }: UsedWorker): Promise<number> {
  const queue = `${prefix}:deliver`;
  const counts = await Promise.all([redis.llen(`${queue}:wait`), redis.llen(`${queue}:active`)]);
  return counts.reduce((sum, count) => sum + count);
}
