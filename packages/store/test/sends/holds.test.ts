import { NO_COUNTRY, type HoldTarget } from '@onecode/domain';
import { placeHold, releaseHold } from '@onecode/store/holds';
import { listHoldsOf, readHeldSends } from '@onecode/store/reports';
import { eraseExpiredCodes } from '@onecode/store/sends';
import {
  buildCaller,
  buildSend,
  buildSender,
  takePermits,
  TEST_ACTOR,
  useTestDatabase,
  type TestCaller,
} from '@onecode/testing';
import { v7 as uuidv7 } from 'uuid';
import { sendActions } from './sendActions.js';

const store = useTestDatabase();

describe('eraseExpiredCodes', () => {
  const SENT = `status = 'sent', phase = 'unconfirmed', channel = 'whatsapp', from_number = '+15550783881', sender_id = :sender, sent_at = now(),
    due_at = null`;

  let senderId: string;
  let caller: TestCaller;
  beforeEach(async () => {
    await store.sql('truncate senders, accounts cascade');
    await store.sql(`update cursors set position = '00000000-0000-0000-0000-000000000000'`);
    senderId = (await buildSender(store.database)).id;
    caller = await buildCaller(store.database, 'live', { credits: 100 });
  });

  /** Creates a send this many seconds ago, with a code that is valid for ten minutes. */
  async function sendOf(secondsAgo: number, change = SENT, lifeSeconds = 600): Promise<string> {
    const createdAt = new Date(Date.now() - secondsAgo * 1000);
    const id = uuidv7({ msecs: createdAt.getTime() });
    await store.sql(
      `update sends set id = $2, created_at = $3::timestamptz, expires_at = $3::timestamptz + $4::interval,
         ${change.replace(':sender', `'${senderId}'`)}
       where id = $1`,
      [await buildSend(store.database, caller), id, createdAt, `${lifeSeconds} seconds`],
    );
    return id;
  }

  async function withCodes(): Promise<string[]> {
    const text = 'select id from sends where encrypted_code is not null order by id';
    return (await store.sql<{ id: string }>(text)).map(({ id }) => id);
  }

  /** Erases codes until no send is left to check. @returns the number of checked sends */
  async function eraseAll(limit = 500): Promise<number> {
    let all = 0;
    for (let looked = 1; looked > 0; all += looked) looked = await eraseExpiredCodes(store.database, limit);
    return all;
  }

  it('erases only expired codes of messages that are not sent again', async () => {
    const waiting = await sendOf(900, "phase = 'waiting'");
    const lost = await sendOf(890, SENT.replace('unconfirmed', 'ready').replace('= null', '= now()'));
    const expired = await sendOf(880);
    const living = await sendOf(300);
    await eraseAll();
    expect(await withCodes()).toEqual([waiting, lost, living]);
    const [row] = await store.sql('select status, phase, version from sends where id = $1', [expired]);
    expect(row).toEqual({ status: 'sent', phase: 'done', version: 1 });
  });

  it('stops at a send with an active code, and continues after it expires', async () => {
    await sendOf(2_000, SENT, 5_400);
    await sendOf(1_500);
    expect(await eraseAll()).toBe(0);
    await store.sql(`update sends set expires_at = now() - interval '1 second' where expires_at > now()`);
    expect(await eraseAll()).toBe(2);
    expect(await withCodes()).toEqual([]);
  });

  it('stops at a send that is being sent', async () => {
    const call = `attempt_number = 1, claimed_at = now(), claimed_until = now() + interval '1 minute'`;
    const calling = SENT.replace("'sent'", "'sending'").replace('unconfirmed', 'calling');
    const id = await sendOf(900, calling.replace('= null', `= now(), ${call}`));
    expect(await eraseAll()).toBe(0);
    await store.sql(
      `update sends set status = 'sent', phase = 'unconfirmed', due_at = null, claimed_at = null, claimed_until = null where id = $1`,
      [id],
    );
    expect(await eraseAll()).toBe(1);
    expect(await withCodes()).toEqual([]);
  });

  it('skips sends of the last two minutes, because another clock may have generated their ids long before they were stored', async () => {
    const young = await sendOf(100, SENT, 1);
    expect(await eraseAll()).toBe(0);
    expect(await withCodes()).toEqual([young]);
  });

  it('erases each code once for concurrent callers', async () => {
    for (let nth = 0; nth < 20; nth++) await sendOf(1_000 - nth);
    const looked = await Promise.all(Array.from({ length: 8 }, () => eraseAll(2)));
    expect(looked.reduce((sum, one) => sum + one)).toBe(20);
    expect(await withCodes()).toEqual([]);
    expect(await store.sql('select distinct version from sends')).toHaveLength(1);
    expect(await eraseAll()).toBe(0);
  });
});

describe('holds', () => {
  const HORIZON_MS = 1000;

  let caller: TestCaller;
  let other: TestCaller;
  beforeAll(async () => {
    caller = await buildCaller(store.database, 'live', { freeQuota: 1000 });
    other = await buildCaller(store.database, 'live', { freeQuota: 1000 });
  });
  beforeEach(async () => {
    await store.sql('truncate sends, senders, account_turns, holds cascade');
    await buildSender(store.database);
  });

  const { fail, takeDue, waiting } = sendActions(store);
  const holdFor = (what: HoldTarget) => placeHold(store.database, TEST_ACTOR, { ...what, reason: 'a test' });
  const live: HoldTarget = { kind: 'live', target: '' };
  const brazil: HoldTarget = { kind: 'country', target: 'BR' };
  const nowhere: HoldTarget = { kind: 'country', target: NO_COUNTRY };
  const account = (): HoldTarget => ({ kind: 'account', target: caller.accountId });

  /**
   * Returns whether each of four sends gets a permit: the caller's to Brazil and to a number without a country, the other account's to
   * Brazil and to the United States.
   */
  async function passed(): Promise<boolean[]> {
    const wants = [
      { accountId: caller.accountId, recipient: '+5511987650001', country: 'BR' },
      { accountId: caller.accountId, recipient: '+88312345', country: 'ZZ' },
      { accountId: other.accountId, recipient: '+5511987650002', country: 'BR' },
      { accountId: other.accountId, recipient: '+12025550123', country: 'US' },
    ];
    return (await takePermits(store.database, wants, HORIZON_MS)).map((permit) => permit !== null);
  }

  describe('a hold', () => {
    it.each<[string, () => HoldTarget, boolean[]]>([
      ['all live sends', () => live, [false, false, false, false]],
      ['sends to a country', () => brazil, [false, true, false, true]],
      ['sends to numbers without a country', () => nowhere, [true, false, true, true]],
      ['sends of an account', account, [false, false, true, true]],
    ])('withholds permits only from %s, until it is released', async (_, what, expected) => {
      await holdFor(what());
      expect(await passed()).toEqual(expected);
      await releaseHold(store.database, TEST_ACTOR, what());
      expect(await passed()).toEqual([true, true, true, true]);
    });

    it('is listed for its unfinished live sends only', async () => {
      const test = await buildCaller(store.database, 'test', { id: caller.accountId });
      const toBrazil = await buildSend(store.database, caller, { recipient: '+5511987650001' });
      const toNowhere = await buildSend(store.database, other);
      await store.sql(`update sends set country = 'ZZ' where id = $1`, [toNowhere]);
      const inTestMode = await buildSend(store.database, test, { recipient: '+5511987650001' });
      const done = await buildSend(store.database, caller, { recipient: '+5511987650001' });
      await fail(done);
      for (const what of [live, brazil, nowhere, account()]) await holdFor(what);
      const targetsOf = async (id: string) =>
        (await listHoldsOf(store.database, id)).map(({ target }) => target);
      expect(await targetsOf(toBrazil)).toEqual(['', 'BR', caller.accountId]);
      expect(await targetsOf(toNowhere)).toEqual(['', NO_COUNTRY]);
      expect(await targetsOf(inTestMode)).toEqual([]);
      expect(await targetsOf(done)).toEqual([]);
    });

    it('is placed once, with its last reason and the operator who gave it', async () => {
      const placed = await placeHold(store.database, TEST_ACTOR, { ...brazil, reason: 'first' });
      expect(placed).toMatchObject({ ...brazil, reason: 'first', setBy: TEST_ACTOR.name });
      const another = { ...TEST_ACTOR, name: 'another operator' };
      const changed = { ...brazil, reason: 'second', setBy: another.name, since: placed?.since };
      expect(await placeHold(store.database, another, { ...brazil, reason: 'second' })).toEqual(changed);
      // A repetition with the same reason changes nothing.
      expect(await placeHold(store.database, TEST_ACTOR, { ...brazil, reason: 'second' })).toEqual(changed);
      expect((await readHeldSends(store.database)).holds).toMatchObject([changed]);
      const entries = await store.sql(
        `select details ->> 'reason' as reason from audit_entries where action = 'hold.set' order by id desc limit 2`,
      );
      expect(entries).toEqual([{ reason: 'second' }, { reason: 'first' }]);
      expect(await releaseHold(store.database, TEST_ACTOR, brazil)).toEqual(changed);
      expect(await releaseHold(store.database, TEST_ACTOR, brazil)).toBeNull();
      expect((await readHeldSends(store.database)).holds).toEqual([]);
    });
  });

  it.each([
    ['of an account', account],
    ['of a country', () => brazil],
  ])('let other sends continue, and let held sends continue after the release: %s', async (_, what) => {
    const held = await waiting(caller);
    for (let n = 0; n < 2; n++) await waiting(caller);
    const free = await waiting(other);
    await store.sql(`update sends set country = 'PT' where id = $1`, [free]);
    await holdFor(what());
    expect((await takeDue(1)).map(({ id }) => id)).toEqual([free]);
    expect(await takeDue()).toEqual([]);
    await releaseHold(store.database, TEST_ACTOR, what());
    expect((await takeDue()).map(({ id }) => id)).toContain(held);
  });
});
