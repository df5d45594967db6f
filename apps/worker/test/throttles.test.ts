import type { Fault } from '@onecode/simulator';
import { buildSender, until } from '@onecode/testing';
import { useWorker } from './testWorker.js';

interface ThrottleRow {
  scope: string;
  refusals: number;
  wait_ms: number;
}

describe('a limit of the provider', () => {
  const t = useWorker({ senders: 0, env: { DELIVERY_BACKOFF_MS: '20' } });

  const sender = (businessAccountId: string) => buildSender(t.database, { businessAccountId });
  const throttles = (): Promise<ThrottleRow[]> =>
    t.sql<ThrottleRow>(
      `select scope, failures as refusals, (extract(epoch from until - since) * 1000)::integer as wait_ms from sender_blocks where cause = 'limit'`,
    );
  const endWaits = async (): Promise<void> => {
    await t.endBlocks();
    await t.sql(`update sender_blocks set free_at = now() - interval '1 second'`);
  };
  const isWaiting = (id: string) =>
    t.until(id, ({ phase, attempts }) => phase === 'waiting' && attempts === 0);

  it.each([
    ['4', { error: 4 }, 'business', 2_000],
    ['130429 with Retry-After', { error: 130429, http: 429, retryAfter: 7 }, 'sender', 7_000],
  ] as [string, Fault, string, number][])(
    'uses no attempt, and lets the send wait for the sender: %s',
    async (_what, fault, scope, waitMs) => {
      await sender('11');
      t.simulator.rules.add({ fault, times: 1 });
      const id = await t.send(await t.newCaller());
      await isWaiting(id);
      expect(await t.attempts(id)).toMatchObject([{ outcome: 'retry', error_code: fault.error ?? null }]);
      const [throttle, ...others] = await throttles();
      expect(others).toEqual([]);
      expect(throttle).toEqual({ scope, refusals: 1, wait_ms: waitMs });

      await endWaits();
      expect(await t.until(id, 'delivered')).toMatchObject({ attempts: 1 });
      await until('a cleared limit', async () => (await throttles())[0]?.refusals === 0);
    },
  );

  it('of one sender and one recipient delays that send by 4^n seconds, uses no attempt, and blocks no other recipient', async () => {
    const { id: senderId } = await buildSender(t.database);
    const caller = await t.newCaller('live', { credits: 5 });
    t.simulator.rules.add({ fault: { error: 131056 }, recipient: '+5511987650001', times: 2 });
    const id = await t.send(caller, { recipient: '+5511987650001' });
    for (const seconds of [4, 16]) {
      const waiting = await t.until(
        id,
        ({ claimed_until, due_at }) => claimed_until === null && due_at !== null && due_at > new Date(),
      );
      expect(waiting).toMatchObject({ phase: 'backing_off', attempts: 0 });
      const limited = (await t.attempts(id)).at(-1)!;
      expect(limited).toMatchObject({ outcome: 'retry', error_code: 131056 });
      const delayMs = waiting.due_at!.getTime() - limited.finished_at!.getTime();
      expect(delayMs).toBeGreaterThanOrEqual(seconds * 1_000);
      expect(delayMs).toBeLessThanOrEqual(seconds * 1_500);
      const other = await t.send(caller, { recipient: `+551198765010${seconds % 10}` });
      await t.until(other, 'delivered');
      expect((await t.row(id)).due_at).toEqual(waiting.due_at);
      await t.makeDue(id);
    }
    expect(await t.until(id, 'delivered')).toMatchObject({ attempts: 1 });
    expect(await t.blocks(senderId)).toEqual([]);
    expect(await throttles()).toEqual([]);
  });

  it('of a business account blocks only its senders, and another sender takes over immediately', async () => {
    for (const _ of [1, 2]) {
      const { phoneNumberId } = await sender('1');
      t.simulator.rules.add({ fault: { error: 80007 }, sender: phoneNumberId });
    }
    const free = await sender('2');
    const caller = await t.newCaller('live', { credits: 30 });
    const ids: string[] = [];
    for (let nth = 0; nth < 30; nth++) ids.push(await t.send(caller));
    for (const id of ids) expect(await t.until(id, 'delivered')).toMatchObject({ from_number: free.number });
  });

  it('causes only a few refused calls and no failed send, and all sends are sent when it ends', async () => {
    await sender('11');
    const rule = t.simulator.rules.add({ fault: { error: 80007 } });
    const caller = await t.newCaller('live', { credits: 100 });
    const ids: string[] = [];
    for (let nth = 0; nth < 100; nth++) ids.push(await t.send(caller));
    await until('a third refusal', async () => ((await throttles())[0]?.refusals ?? 0) >= 3);
    // Only the calls in progress when the limit was reached, and one probe per wait.
    expect(t.tap.requests.length).toBeLessThan(40);
    t.simulator.rules.remove(rule.id);
    const end = async (): Promise<boolean> => {
      // A probe that is in progress when the limit ends is also refused, and starts another wait.
      if (((await throttles())[0]?.refusals ?? 0) > 0) await endWaits();
      const [left] = await t.sql(
        `select id from sends where account_id = $1 and status not in ('delivered', 'failed') limit 1`,
        [caller.accountId],
      );
      return left === undefined;
    };
    await until('the end of all', end, 40_000);
    for (const id of ids) expect(await t.row(id)).toMatchObject({ status: 'delivered', attempts: 1 });
  });
});
