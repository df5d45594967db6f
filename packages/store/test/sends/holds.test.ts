import { NO_COUNTRY, type HoldTarget } from '@onecode/domain';
import { placeHold, listHolds, releaseHold, wakeAwaitingSends } from '@onecode/store';
import {
  buildCaller,
  buildSender,
  takeSlots,
  TEST_ACTOR,
  useTestDatabase,
  type TestCaller,
} from '@onecode/testing';
import { sendActions } from './sendActions.js';

const HORIZON_MS = 1000;

const store = useTestDatabase();
let caller: TestCaller;
let other: TestCaller;
beforeAll(async () => {
  caller = await buildCaller(store.database, 'live', { freeQuota: 1000 });
  other = await buildCaller(store.database, 'live', { freeQuota: 1000 });
});
beforeEach(async () => {
  await store.sql('truncate sends, senders, sender_recipient_windows, holds cascade');
  await buildSender(store.database);
});

const { waiting } = sendActions(store);
const holdFor = (what: HoldTarget) => placeHold(store.database, TEST_ACTOR, { ...what, reason: 'a test' });
const live: HoldTarget = { kind: 'live', target: '' };
const brazil: HoldTarget = { kind: 'country', target: 'BR' };
const nowhere: HoldTarget = { kind: 'country', target: NO_COUNTRY };
const account = (): HoldTarget => ({ kind: 'account', target: caller.accountId });

/** Who gets a slot of: the caller in Brazil, the caller in no country, the other one in Brazil and in the United States. */
async function passed(): Promise<boolean[]> {
  const wants = [
    { accountId: caller.accountId, recipient: '+5511987650001', country: 'BR' },
    { accountId: caller.accountId, recipient: '+88312345', country: null },
    { accountId: other.accountId, recipient: '+5511987650002', country: 'BR' },
    { accountId: other.accountId, recipient: '+12025550123', country: 'US' },
  ];
  return (await takeSlots(store.database, wants, HORIZON_MS)).map((slot) => slot !== null);
}

describe('a hold', () => {
  it.each<[string, () => HoldTarget, boolean[]]>([
    ['everything', () => live, [false, false, false, false]],
    ['a country', () => brazil, [false, true, false, true]],
    ['numbers of no country', () => nowhere, [true, false, true, true]],
    ['an account', account, [false, false, true, true]],
  ])(
    'of %s keeps slots from that, and from nothing else, until it is released',
    async (_, what, expected) => {
      await holdFor(what());
      expect(await passed()).toEqual(expected);
      await releaseHold(store.database, TEST_ACTOR, what());
      expect(await passed()).toEqual([true, true, true, true]);
    },
  );

  it('is one of several', async () => {
    await holdFor(nowhere);
    await holdFor({ kind: 'account', target: other.accountId });
    expect(await passed()).toEqual([true, false, false, false]);
    await releaseHold(store.database, TEST_ACTOR, nowhere);
    expect(await passed()).toEqual([true, true, false, false]);
  });

  it('is there once, with its first reason and who set it', async () => {
    expect(await placeHold(store.database, TEST_ACTOR, { ...brazil, reason: 'first' })).toMatchObject({
      ...brazil,
      reason: 'first',
      setBy: TEST_ACTOR.name,
    });
    expect(await placeHold(store.database, TEST_ACTOR, { ...brazil, reason: 'second' })).toMatchObject({
      reason: 'first',
    });
    expect(await listHolds(store.database)).toHaveLength(1);
    expect(await releaseHold(store.database, TEST_ACTOR, brazil)).toMatchObject({
      ...brazil,
      reason: 'first',
    });
    expect(await releaseHold(store.database, TEST_ACTOR, brazil)).toBeNull();
    expect(await listHolds(store.database)).toEqual([]);
  });
});

describe('sends that wait', () => {
  const woken = async (limit = 100) =>
    (await wakeAwaitingSends(store.database, limit, HORIZON_MS)).map(({ id }) => id);

  it.each<[string, () => HoldTarget]>([
    ['everything', () => live],
    ['their country', () => brazil],
    ['their account', account],
  ])('are not woken while %s is held, and are at its release', async (_, what) => {
    const id = await waiting(caller);
    await holdFor(what());
    expect(await woken()).toEqual([]);
    await releaseHold(store.database, TEST_ACTOR, what());
    expect(await woken()).toEqual([id]);
  });

  it('of no country are held by their own name', async () => {
    const id = await waiting(caller);
    await store.sql('update sends set country = null where id = $1', [id]);
    await holdFor(nowhere);
    expect(await woken()).toEqual([]);
    await releaseHold(store.database, TEST_ACTOR, nowhere);
    await holdFor(brazil);
    expect(await woken()).toEqual([id]);
  });

  it('and are held stand in nobody’s way', async () => {
    for (let n = 0; n < 3; n++) await waiting(caller);
    const free = await waiting(other);
    await holdFor(account());
    expect(await woken(1)).toEqual([free]);
  });
});
