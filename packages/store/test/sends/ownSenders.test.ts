import type { Send } from '@onecode/domain';
import {
  assignSender,
  changeAccount,
  closeDatabase,
  createSend,
  openDatabase,
  openDeliveries,
  pauseSender,
  resumeSender,
  type Database,
  type Sender,
  type SenderPolicy,
} from '@onecode/store';
import {
  buildCaller,
  buildSend,
  buildSender,
  newSend,
  stopSender,
  TEST_ACTOR,
  useTestDatabase,
  type TestCaller,
} from '@onecode/testing';
import fc from 'fast-check';

const store = useTestDatabase();

const TERMS = { policy: { attemptsMax: 5, backoffMs: 1000 }, leaseMs: 15_000 };

beforeEach(() =>
  store.sql('truncate sends, senders, stops, sender_recipient_windows, account_turns, holds cascade'),
);

/** An account with a live application, which sends by these senders. */
async function account(senders: SenderPolicy, more: { id?: string } = {}): Promise<TestCaller> {
  const caller = await buildCaller(store.database, 'live', { freeQuota: 10_000, ...more });
  await changeAccount(store.database, TEST_ACTOR, caller.accountId, { senders });
  return caller;
}

/** A sender of an account, or of one application of it. */
async function own(
  { accountId, applicationId }: TestCaller,
  { throughput = 1000, isOfApplication = false } = {},
): Promise<Sender> {
  const applicationIds = isOfApplication ? [applicationId] : [];
  return buildSender(store.database, { throughput, owner: { accountId, applicationIds } });
}

let recipients = 0;

/** Makes so many sends that wait for a sender, each for another recipient, one a millisecond. */
async function waiting(
  { accountId, applicationId }: TestCaller,
  count: number,
  locale = 'pt-BR',
): Promise<void> {
  recipients += count;
  await store.sql(
    `insert into sends (id, request_id, account_id, application_id, mode, application_number, recipient, recipient_key,
       country, locale, charged_from, code_hash, sealed_code, awaiting_sender, due_at, created_at, expires_at)
     select gen_random_uuid(), gen_random_uuid(), $1, $2, 'live', m.latest + n, '+55119' || ($4 + n), '1:' || lpad('55119' || ($4 + n), 22, '0'),
       'BR', $5, 'free_quota', decode(repeat('01', 33), 'hex'), 'x', true, made + interval '10 minutes', made, made + interval '10 minutes'
     from generate_series(1, $3::integer) n,
       lateral (select coalesce(max(application_number), 0) as latest from sends where application_id = $2) m,
       lateral (select clock_timestamp() - interval '1 minute' + n * interval '1 millisecond' as made) t`,
    [accountId, applicationId, count, 20_000_000 + recipients, locale],
  );
}

/** The sends that were claimed. */
async function takeDue(limit = 100, database = store.database): Promise<Send[]> {
  const taken = await openDeliveries(database, TERMS).takeDue(limit, 2_000);
  return taken.flatMap((one) => (one.outcome === 'claimed' ? [one.send] : []));
}

const take = (id: string) => openDeliveries(store.database, TERMS).take(id);

/** How many of these sends are of this account and leave by this sender. */
const count = (sends: readonly Send[], caller: TestCaller, sender?: Sender): number =>
  sends.filter(
    (send) => send.accountId === caller.accountId && (sender === undefined || send.senderId === sender.id),
  ).length;

/** Takes all slots of the shared senders for the next minute. */
const busy = (sender: Sender): Promise<unknown> =>
  store.sql(
    `insert into send_slots (sender_id, free_at) values ($1, clock_timestamp() + interval '1 minute')
     on conflict (sender_id) do update set free_at = excluded.free_at`,
    [sender.id],
  );

describe('an account that is own', () => {
  it('leaves by its own senders only, and another by none of them', async () => {
    const [mine, other] = [await account('own'), await account('shared')];
    const shared = await buildSender(store.database);
    const id = await buildSend(store.database, mine);
    expect(await take(id)).toMatchObject({ outcome: 'waits' });
    const sender = await own(mine);
    expect((await takeDue()).map((send) => [send.id, send.senderId])).toEqual([[id, sender.id]]);
    const waits = await buildSend(store.database, other);
    await pauseSender(store.database, TEST_ACTOR, shared.id);
    expect(await take(waits)).toMatchObject({ outcome: 'waits' });
    expect(await takeDue()).toEqual([]);
  });

  it('leaves by a sender of an application only what that application sends', async () => {
    const mine = await account('own');
    const second = await buildCaller(store.database, 'live', { id: mine.accountId });
    const sender = await own(mine, { isOfApplication: true });
    for (const caller of [mine, second]) await waiting(caller, 5);
    const ids = [await buildSend(store.database, mine), await buildSend(store.database, second)];
    expect(await Promise.all(ids.map(take))).toMatchObject([
      { outcome: 'claimed', send: { senderId: sender.id } },
      { outcome: 'waits' },
    ]);
    expect((await takeDue()).map(({ applicationId }) => applicationId)).toEqual(
      Array.from({ length: 5 }, () => mine.applicationId),
    );
    await assignSender(store.database, TEST_ACTOR, sender.id, {
      accountId: mine.accountId,
      applicationIds: [],
    });
    expect((await takeDue()).map(({ applicationId }) => applicationId)).toEqual(
      Array.from({ length: 6 }, () => second.applicationId),
    );
  });

  it('neither waits behind the queue of the shared senders, nor takes turns from it', async () => {
    const [mine, flood, quiet] = [await account('own'), await account('shared'), await account('shared')];
    const shared = await buildSender(store.database, { throughput: 1000 });
    const sender = await own(mine);
    for (const caller of [mine, flood, quiet]) await waiting(caller, 60);
    const taken: Send[] = [];
    for (let round = 0; round < 6; round++) taken.push(...(await takeDue(20)));
    // Of the sends that may be taken, the accounts with senders of their own have as many as all others together.
    expect([count(taken, mine, sender), count(taken, flood, shared), count(taken, quiet, shared)]).toEqual([
      60, 30, 30,
    ]);
    const turns = await store.sql<{ account_id: string }>('select account_id from account_turns');
    expect(turns.map(({ account_id: id }) => id).toSorted()).toEqual(
      [flood.accountId, quiet.accountId].toSorted(),
    );
    await busy(shared);
    await waiting(mine, 1);
    expect(count(await takeDue(), mine, sender)).toBe(1);
  });

  it('has new sends that go out at once while the shared senders are taken, and wait while its own are', async () => {
    const [mine, other] = [await account('own'), await account('shared')];
    const shared = await buildSender(store.database);
    const sender = await own(mine);
    const isAwaiting = async (caller: TestCaller): Promise<boolean> => {
      const creation = await createSend(store.database, newSend(caller));
      if (creation.outcome !== 'created') throw new Error(creation.outcome);
      return creation.send.awaitingSender;
    };
    await busy(shared);
    expect(await Promise.all([mine, other, mine].map(isAwaiting))).toEqual([false, true, false]);
    await store.sql('delete from send_slots');
    await busy(sender);
    expect(await Promise.all([mine, other, mine].map(isAwaiting))).toEqual([true, false, true]);
  });

  it('waits in a language for which its own senders are stopped, while others leave', async () => {
    const [mine, other] = [await account('own'), await account('shared')];
    await buildSender(store.database);
    const sender = await own(mine);
    await stopSender(store.database, sender, { onlyFor: 'en' });
    for (const caller of [mine, other]) {
      await waiting(caller, 2, 'en');
      await waiting(caller, 2);
    }
    const taken = await takeDue();
    expect(taken.filter(({ locale }) => locale === 'en').map(({ accountId }) => accountId)).toEqual([
      other.accountId,
      other.accountId,
    ]);
    expect(count(taken, mine, sender)).toBe(2);
  });

  it('and whose sender is stopped holds up nobody', async () => {
    const [mine, other] = [await account('own'), await account('shared')];
    await buildSender(store.database);
    await pauseSender(store.database, TEST_ACTOR, (await own(mine)).id);
    await waiting(mine, 300);
    await waiting(other, 3);
    expect(count(await takeDue(10), other)).toBe(3);
    expect(await takeDue(10)).toEqual([]);
  });
});

describe('an account that is own-first', () => {
  it('leaves by its own senders, and by the shared ones while those are stopped', async () => {
    const mine = await account('own-first');
    const shared = await buildSender(store.database);
    const sender = await own(mine);
    const senderOfNext = async () => (await take(await buildSend(store.database, mine)))!.send.senderId;
    for (let n = 0; n < 5; n++) expect(await senderOfNext()).toBe(sender.id);
    await pauseSender(store.database, TEST_ACTOR, sender.id);
    expect(await senderOfNext()).toBe(shared.id);
    await resumeSender(store.database, TEST_ACTOR, sender.id);
    expect(await senderOfNext()).toBe(sender.id);
    await busy(sender);
    expect(await senderOfNext()).toBe(shared.id);
  });

  it('overtakes no turn at the shared senders: it has its own slots, and then takes turns', async () => {
    const [mine, other] = [await account('own-first'), await account('shared')];
    const shared = await buildSender(store.database, { throughput: 1000 });
    const sender = await own(mine, { throughput: 10 });
    for (const caller of [mine, other]) await waiting(caller, 60);
    // The second has fewer slots of its own than sends that it may have.
    const first = [...(await takeDue(8)), ...(await takeDue(8))];
    expect(count(first, mine, shared)).toBe(0);
    expect([5, 6]).toContain(count(first, mine, sender));
    expect(count(first, other, shared)).toBe(8);
    await busy(sender);
    const second = await takeDue(20);
    expect(count(second, mine, shared) + count(second, other, shared)).toBe(20);
    expect(Math.abs(count(second, mine) - count(second, other))).toBeLessThanOrEqual(2);
  });

  it('is served by the shared senders where it has none', async () => {
    const mine = await account('own-first');
    await waiting(mine, 3);
    expect(await takeDue()).toEqual([]);
    const shared = await buildSender(store.database);
    expect(count(await takeDue(), mine, shared)).toBe(3);
  });
});

it('an account that is shared leaves by none of its own senders', async () => {
  const mine = await account('shared');
  await own(mine);
  await waiting(mine, 3);
  expect(await take(await buildSend(store.database, mine))).toMatchObject({ outcome: 'waits' });
  expect(await takeDue()).toEqual([]);
});

it('accounts with senders of their own each have some of what may be taken at once, however many there are', async () => {
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

it('many takers at once claim each send once, by a sender that may serve it, and within that sender’s throughput', async () => {
  const callers = [
    await account('own'),
    await account('own'),
    await account('own-first'),
    await account('shared'),
  ];
  const [first, second, third] = callers as [TestCaller, TestCaller, TestCaller, TestCaller];
  const shared = [await buildSender(store.database, { throughput: 1000 }), await buildSender(store.database)];
  const slow = await own(first, { throughput: 10 });
  const servedBy = new Map([
    [first.accountId, [slow]],
    [second.accountId, [await own(second), await own(second, { isOfApplication: true })]],
    [third.accountId, [await own(third, { throughput: 20 }), ...shared]],
    [callers[3]!.accountId, shared],
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
    const door = openDeliveries(database, TERMS);
    const mine = direct.filter((_, position) => position % databases.length === n);
    const jobs = await Promise.all(mine.map((id) => door.take(id)));
    taken.push(...jobs.flatMap((one) => (one?.outcome === 'claimed' ? [one.send] : [])));
    // All but those of the slow sender.
    while (count(taken, second) + count(taken, third) + count(taken, callers[3]!) < 3 * 65)
      taken.push(...(await takeDue(9, database)));
  };
  const startedAt = performance.now();
  await Promise.all(databases.map(takeAll));
  const seconds = (performance.now() - startedAt) / 1000;
  await Promise.all(databases.map(closeDatabase));
  expect(new Set(taken.map(({ id }) => id)).size).toBe(taken.length);
  for (const send of taken)
    expect(servedBy.get(send.accountId)!.map(({ id }) => id)).toContain(send.senderId);
  // Nine a second, of this time and of the half second ahead.
  expect(count(taken, first)).toBeGreaterThanOrEqual(5);
  expect(count(taken, first)).toBeLessThanOrEqual(1 + 9 * (seconds + 0.5));
});

it('whatever belongs to whom, a send leaves by a sender that may serve it, and waits only without one', async () => {
  const POLICIES = ['shared', 'own', 'own-first'] as const;
  const applications = await Promise.all(
    [0, 1].map(async () => {
      const one = await buildCaller(store.database, 'live', { freeQuota: 10_000 });
      return [one, await buildCaller(store.database, 'live', { id: one.accountId })];
    }),
  );
  const anySender = fc.record({
    account: fc.constantFrom(null, 0, 1),
    applications: fc.constantFrom([], [0], [1], [0, 1]),
    isStopped: fc.boolean(),
  });
  const isServed = (
    {
      account: at,
      applications: only,
      isStopped,
    }: { account: number | null; applications: readonly number[]; isStopped: boolean },
    policy: SenderPolicy,
    [n, application]: [number, number],
  ): boolean =>
    !isStopped &&
    (at === null
      ? policy !== 'own'
      : policy !== 'shared' && at === n && (only.length === 0 || only.includes(application)));
  await fc.assert(
    fc.asyncProperty(
      fc.array(anySender, { maxLength: 6 }),
      fc.tuple(fc.constantFrom(...POLICIES), fc.constantFrom(...POLICIES)),
      fc.boolean(),
      async (wanted, policies, isDirect) => {
        await store.sql('truncate sends, senders, stops, sender_recipient_windows, account_turns cascade');
        const made: Sender[] = [];
        for (const { account: at, applications: only, isStopped } of wanted) {
          const sender = await buildSender(store.database, {
            owner:
              at === null
                ? 'shared'
                : {
                    accountId: applications[at]![0]!.accountId,
                    applicationIds: only.map((one) => applications[at]![one]!.applicationId),
                  },
          });
          made.push(sender);
          if (isStopped) await pauseSender(store.database, TEST_ACTOR, sender.id);
        }
        for (const [n, senders] of policies.entries())
          await changeAccount(store.database, TEST_ACTOR, applications[n]![0]!.accountId, { senders });
        const places = [0, 1].flatMap((n) => [0, 1].map((application): [number, number] => [n, application]));
        const taken: Send[] = [];
        for (const [n, application] of places) {
          const caller = applications[n]![application]!;
          if (!isDirect) await waiting(caller, 3);
          else
            for (let send = 0; send < 3; send++) {
              const one = await take(await buildSend(store.database, caller));
              if (one?.outcome === 'claimed') taken.push(one.send);
            }
        }
        for (let more = await takeDue(); more.length > 0; more = await takeDue()) taken.push(...more);
        for (const [n, application] of places) {
          const { applicationId } = applications[n]![application]!;
          const may = made.filter((_, position) =>
            isServed(wanted[position]!, policies[n]!, [n, application]),
          );
          const mayOwn = may.filter(
            ({ id }) => wanted[made.findIndex((one) => one.id === id)]!.account !== null,
          );
          const allowed = (mayOwn.length > 0 ? mayOwn : may).map(({ id }) => id);
          const by = taken
            .filter((send) => send.applicationId === applicationId)
            .map(({ senderId }) => senderId!);
          expect(by).toHaveLength(allowed.length > 0 ? 3 : 0);
          for (const id of by) expect(allowed).toContain(id);
        }
      },
    ),
    { numRuns: 25 },
  );
});
