import type { Send } from '@onecode/domain';
import { changeAccount, type SenderPolicy } from '@onecode/store/accounts';
import { closeDatabase, openDatabase, type Database } from '@onecode/store/client';
import { pauseSender, type Sender, type SenderOwner } from '@onecode/store/senders';
import { createSend, openDeliveries } from '@onecode/store/sends';
import {
  blockSender,
  buildCaller,
  buildSend,
  buildSender,
  newSend,
  TEST_ACTOR,
  useTestDatabase,
  type TestCaller,
} from '@onecode/testing';
import fc from 'fast-check';
import { sendActions, TERMS } from './sendActions.js';

const isLong = process.env['ALL_TESTS'] === '1';
const store = useTestDatabase();

const { manyWaiting: waiting, take, takeDue } = sendActions(store);

beforeEach(() => store.sql('truncate sends, senders, sender_blocks, account_turns, holds cascade'));

/** An account with a live application that uses these senders. */
async function account(senders: SenderPolicy): Promise<TestCaller> {
  const caller = await buildCaller(store.database, 'live', { freeQuota: 10_000 });
  await changeAccount(store.database, TEST_ACTOR, caller.accountId, { senders });
  return caller;
}

/** A sender of an account, or of one of its applications. */
async function own(
  { accountId, applicationId }: TestCaller,
  { throughput = 1000, isOfApplication = false } = {},
): Promise<Sender> {
  const applicationIds = isOfApplication ? [applicationId] : [];
  return buildSender(store.database, { throughput, owner: { accountId, applicationIds } });
}

/** Counts the sends of this account that were sent by this sender. */
const count = (sends: readonly Send[], caller: TestCaller, sender?: Sender): number =>
  sends.filter(
    (send) => send.accountId === caller.accountId && (sender === undefined || send.senderId === sender.id),
  ).length;

/** Takes all permits of the shared senders for the next minute. */
const busy = (sender: Sender): Promise<unknown> =>
  store.sql(
    `insert into sender_permits (sender_id, free_at) values ($1, clock_timestamp() + interval '1 minute')
     on conflict (sender_id) do update set free_at = excluded.free_at`,
    [sender.id],
  );

describe('an account with its own senders', () => {
  it('does not wait for the queue of the shared senders', async () => {
    const [mine, flood, quiet] = [await account('own'), await account('shared'), await account('shared')];
    const shared = await buildSender(store.database, { throughput: 1000 });
    const sender = await own(mine);
    for (const caller of [mine, flood, quiet]) await waiting(caller, 60);
    const taken: Send[] = [];
    for (let round = 0; round < 6; round++) taken.push(...(await takeDue(20)));
    expect([count(taken, mine, sender), count(taken, flood, shared), count(taken, quiet, shared)]).toEqual([
      40, 40, 40,
    ]);
    await busy(shared);
    const rest = await takeDue();
    expect([count(rest, mine, sender), rest.length]).toEqual([20, 20]);
  });

  it('sends immediately while the shared senders are busy, and waits while its own senders are busy', async () => {
    const [mine, other] = [await account('own'), await account('shared')];
    const shared = await buildSender(store.database);
    const sender = await own(mine);
    const isAwaiting = async (caller: TestCaller): Promise<boolean> => {
      const creation = await createSend(store.database, newSend(caller));
      if (creation.outcome !== 'created') throw new Error(creation.outcome);
      return (await take(creation.send.id))?.phase === 'waiting';
    };
    await busy(shared);
    expect(await Promise.all([mine, other, mine].map(isAwaiting))).toEqual([false, true, false]);
    await store.sql('delete from sender_permits');
    await store.sql('truncate sends cascade');
    await busy(sender);
    expect(await Promise.all([mine, other].map(isAwaiting))).toEqual([true, false]);
  });

  it('waits only in a language for which its senders are blocked', async () => {
    const [mine, other] = [await account('own'), await account('shared')];
    await buildSender(store.database);
    const sender = await own(mine);
    await blockSender(store.database, sender, { onlyFor: 'en' });
    for (const caller of [mine, other]) {
      await waiting(caller, 2, { locale: 'en' });
      await waiting(caller, 2);
    }
    const taken = await takeDue();
    expect(taken.filter(({ locale }) => locale === 'en').map(({ accountId }) => accountId)).toEqual([
      other.accountId,
      other.accountId,
    ]);
    expect(count(taken, mine, sender)).toBe(2);
  });

  it('does not block other accounts if its sender is blocked', async () => {
    const [mine, other] = [await account('own'), await account('shared')];
    await buildSender(store.database);
    await pauseSender(store.database, TEST_ACTOR, (await own(mine)).id);
    await waiting(mine, 300);
    await waiting(other, 10);
    expect(count(await takeDue(10), other)).toBe(10);
    expect(await takeDue(10)).toEqual([]);
  });
});

it('takeDue gives every account with its own senders a share of a batch, for any number of accounts', async () => {
  const callers = await Promise.all(Array.from({ length: 12 }, () => account('own')));
  for (const caller of callers) {
    await own(caller);
    await waiting(caller, 20);
  }
  const first = await takeDue(12);
  expect(callers.map((caller) => count(first, caller))).toEqual(callers.map(() => 1));
  const all = [...first];
  for (let more = first; more.length > 0; all.push(...more)) more = await takeDue(7);
  expect(callers.map((caller) => count(all, caller))).toEqual(callers.map(() => 20));
});

it('take and takeDue claim each send once for concurrent callers, by an allowed sender within its throughput', async () => {
  const callers = [await account('own'), await account('own'), await account('shared')];
  const [first, second, third] = callers as [TestCaller, TestCaller, TestCaller];
  const shared = [await buildSender(store.database, { throughput: 1000 }), await buildSender(store.database)];
  const slow = await own(first, { throughput: 10 });
  const servedBy = new Map([
    [first.accountId, [slow]],
    [second.accountId, [await own(second), await own(second, { isOfApplication: true })]],
    [third.accountId, shared],
  ]);
  for (const caller of callers) await waiting(caller, 60);
  const direct = await Promise.all(
    callers.flatMap((caller) => Array.from({ length: 5 }, () => buildSend(store.database, caller))),
  );
  const databases = Array.from({ length: 4 }, () =>
    openDatabase(store.url, { connectionsMax: 3, byIndexOnly: true }),
  );
  const taken: Send[] = [];
  const takeAll = async (database: Database, n: number): Promise<void> => {
    const deliveries = openDeliveries(database, TERMS.leaseMs);
    const mine = direct.filter((_, position) => position % databases.length === n);
    const jobs = await Promise.all(mine.map((id) => deliveries.take(id)));
    taken.push(...jobs.flatMap((one) => (typeof one?.waitMs === 'number' ? [one] : [])));
    // Takes all sends except those of the slow sender.
    while (count(taken, second) + count(taken, third) < 2 * 65) taken.push(...(await takeDue(9, database)));
  };
  const startedAt = performance.now();
  await Promise.all(databases.map(takeAll));
  const seconds = (performance.now() - startedAt) / 1000;
  await Promise.all(databases.map(closeDatabase));
  expect(new Set(taken.map(({ id }) => id)).size).toBe(taken.length);
  for (const send of taken)
    expect(servedBy.get(send.accountId)!.map(({ id }) => id)).toContain(send.senderId);
  // The slow sender has nine permits per second, for the elapsed time and half a second ahead.
  expect(count(taken, first)).toBeGreaterThanOrEqual(5);
  expect(count(taken, first)).toBeLessThanOrEqual(1 + 9 * (seconds + 0.5));
});

it('take and takeDue use any allowed sender, and let a send wait only if there is none', async () => {
  const callers: TestCaller[] = [];
  for (const _ of [1, 2]) {
    const one = await buildCaller(store.database, 'live', { freeQuota: 10_000 });
    callers.push(one, await buildCaller(store.database, 'live', { id: one.accountId }));
  }
  const accountIds = [...new Set(callers.map(({ accountId }) => accountId))];
  const owners = callers.flatMap(({ accountId, applicationId }): SenderOwner[] => [
    { accountId, applicationIds: [] },
    { accountId, applicationIds: [applicationId] },
  ]);
  const anyOwner = fc.constantFrom<SenderOwner>('shared', 'shared', ...owners);
  const anySenders = fc.array(fc.record({ owner: anyOwner, isBlocked: fc.boolean() }), { maxLength: 6 });
  const anyPolicy = fc.constantFrom<SenderPolicy>('shared', 'own');
  const isServed = (caller: TestCaller, policy: SenderPolicy, owner: SenderOwner): boolean =>
    owner === 'shared'
      ? policy === 'shared'
      : policy === 'own' &&
        owner.accountId === caller.accountId &&
        (owner.applicationIds.length === 0 || owner.applicationIds.includes(caller.applicationId));
  const run = async (
    wanted: readonly { owner: SenderOwner; isBlocked: boolean }[],
    policies: readonly SenderPolicy[],
    isDirect: boolean,
  ): Promise<void> => {
    await store.sql('truncate sends, senders, sender_blocks, account_turns cascade');
    const going: { id: string; owner: SenderOwner }[] = [];
    for (const { owner, isBlocked } of wanted) {
      const { id } = await buildSender(store.database, { owner });
      if (isBlocked) await pauseSender(store.database, TEST_ACTOR, id);
      else going.push({ id, owner });
    }
    for (const [n, senders] of policies.entries())
      await changeAccount(store.database, TEST_ACTOR, accountIds[n]!, { senders });
    const taken: Send[] = [];
    for (const caller of callers)
      if (!isDirect) await waiting(caller, 3);
      else
        for (let send = 0; send < 3; send++) {
          const one = await take(await buildSend(store.database, caller));
          if (typeof one?.waitMs === 'number') taken.push(one);
        }
    for (let more = await takeDue(); more.length > 0; more = await takeDue()) taken.push(...more);
    for (const caller of callers) {
      const policy = policies[accountIds.indexOf(caller.accountId)]!;
      const allowed = going.filter(({ owner }) => isServed(caller, policy, owner)).map(({ id }) => id);
      const by = taken.filter(({ applicationId }) => applicationId === caller.applicationId);
      expect(by).toHaveLength(allowed.length > 0 ? 3 : 0);
      for (const { senderId } of by) expect(allowed).toContain(senderId);
    }
  };
  const property = fc.asyncProperty(anySenders, fc.tuple(anyPolicy, anyPolicy), fc.boolean(), run);
  await fc.assert(property, { numRuns: isLong ? 25 : 8 });
});
