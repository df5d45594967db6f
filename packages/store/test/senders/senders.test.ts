import {
  blockCountry,
  listSenders,
  newId,
  pauseSender,
  recoverSender,
  coolDownSender,
  resumeSender,
} from '@onecode/store';
import { buildSender, takeSlots, TEST_ACTOR, useTestDatabase } from '@onecode/testing';

const store = useTestDatabase();
beforeEach(() => store.sql('truncate senders cascade'));

const coolDown = (id: string, failuresBefore: number, seconds = 60) =>
  coolDownSender(
    store.database,
    { senderId: id, attemptId: newId(), isOfBusiness: false, source: 'answer' },
    { failuresBefore, seconds, sharedSeconds: [15, 30], reason: 'a failure (131042)' },
  );
const block = (senderId: string, country: string, seconds = 60) =>
  blockCountry(store.database, { senderId, country, seconds, errorCode: 130497 });
/** The senders that may message a country now: who gets slots when each has some. */
const available = async (country = 'BR') => {
  await store.sql('delete from send_slots');
  await store.sql(`insert into send_slots (sender_id, free_at) select id, clock_timestamp() from senders`);
  const wants = Array.from({ length: 6 }, (_, n) => ({
    accountId: newId(),
    recipient: `+551198765432${n}`,
    country,
  }));
  const slots = await takeSlots(store.database, wants, 1000);
  return [...new Set(slots.flatMap((slot) => slot?.senderId ?? []))].toSorted();
};
const stateOf = async (id: string) => (await listSenders(store.database)).find((one) => one.id === id)!;
const pauseSecondsOf = async (id: string) => {
  const { pausedAt, pausedUntil } = await stateOf(id);
  return (pausedUntil!.getTime() - pausedAt!.getTime()) / 1000;
};
const pausesEnd = () =>
  store.sql(
    `update senders set paused_until = now() - interval '1 millisecond' where paused_until is not null`,
  );

describe('a sender', () => {
  it('that the table cannot hold is an error, not taken for a twin', async () => {
    await expect(buildSender(store.database, { number: 'none' })).rejects.toThrow();
  });
});

describe('an operator', () => {
  it('ends a cool-down and the country blocks by resuming', async () => {
    const { id } = await buildSender(store.database);
    await coolDown(id, 0, 3600);
    await block(id, 'BR');
    await resumeSender(store.database, TEST_ACTOR, id);
    expect(await stateOf(id)).toMatchObject({ consecutiveFailures: 0, pausedAt: null });
    expect(await available()).toEqual([id]);
  });

  it('wins over a cool-down, before and after', async () => {
    const { id } = await buildSender(store.database);
    await pauseSender(store.database, TEST_ACTOR, id);
    expect(await coolDown(id, 0)).toBe(false);
    expect(await stateOf(id)).toMatchObject({ pausedUntil: null, consecutiveFailures: 0 });
    await resumeSender(store.database, TEST_ACTOR, id);
    await coolDown(id, 0);
    await pauseSender(store.database, TEST_ACTOR, id);
    await pausesEnd();
    await recoverSender(store.database, id);
    expect(await available()).toEqual([]);
    expect(await stateOf(id)).toMatchObject({ pausedUntil: null, pauseReason: 'paused by an operator' });
  });
});

describe('a sender that failed', () => {
  it('counts failures once that arrive together', async () => {
    const { id } = await buildSender(store.database);
    const begun = await Promise.all(Array.from({ length: 20 }, () => coolDown(id, 0)));
    expect(begun.filter(Boolean)).toHaveLength(1);
    expect(await stateOf(id)).toMatchObject({ consecutiveFailures: 1 });
  });

  it('does not count a failure that was known before the last cool-down', async () => {
    const { id } = await buildSender(store.database);
    await coolDown(id, 0);
    await pausesEnd();
    expect(await coolDown(id, 0)).toBe(false);
    expect(await available()).toEqual([id]);
  });

  it('is reset by a success after its cool-down, and not during it', async () => {
    const { id } = await buildSender(store.database);
    await coolDown(id, 0);
    await recoverSender(store.database, id);
    expect(await available()).toEqual([]);
    await pausesEnd();
    await recoverSender(store.database, id);
    expect(await stateOf(id)).toMatchObject({
      consecutiveFailures: 0,
      pausedAt: null,
      pausedUntil: null,
      pauseReason: null,
    });
  });
});

describe('a country block', () => {
  it('stops one sender’s messages to one country, until its time is over', async () => {
    const [one, two] = [await buildSender(store.database), await buildSender(store.database)];
    expect(await block(one.id, 'BR')).toBe(true);
    expect([await available('BR'), await available('US')]).toEqual([[two.id], [one.id, two.id]]);
    expect(await block(two.id, 'US')).toBe(true);
    expect([await available('BR'), await available('US')]).toEqual([[two.id], [one.id]]);
    await store.sql(
      `update sender_country_blocks set blocked_until = now() - interval '1 second' where country = 'BR'`,
    );
    expect([await available('BR'), await available('US')]).toEqual([[one.id, two.id], [one.id]]);
  });

  it('is new once, also when several begin it at once, and new again after its end', async () => {
    const { id } = await buildSender(store.database);
    const begun = await Promise.all(Array.from({ length: 20 }, () => block(id, 'BR')));
    expect(begun.filter(Boolean)).toHaveLength(1);
    await store.sql(`update sender_country_blocks set blocked_until = now() - interval '1 second'`);
    expect(await block(id, 'BR')).toBe(true);
  });
});

describe('a fault of a business account', () => {
  it('stops its senders, the others for less time, and no sender of another account', async () => {
    const [failed, sibling, paused, foreign, unknown] = [
      await buildSender(store.database),
      await buildSender(store.database),
      await buildSender(store.database),
      await buildSender(store.database),
      await buildSender(store.database),
    ];
    await store.sql(
      `update senders set business_account_id = case when id = $1 then '22' else '11' end where id <> $2`,
      [foreign.id, unknown.id],
    );
    await pauseSender(store.database, TEST_ACTOR, paused.id, 'maintenance');
    const fault = { senderId: failed.id, attemptId: newId(), isOfBusiness: true, source: 'receipt' } as const;
    const terms = { failuresBefore: 0, seconds: 60, sharedSeconds: [15, 30], reason: 'payment (131042)' };
    expect(await coolDownSender(store.database, fault, terms)).toBe(true);
    expect(await pauseSecondsOf(failed.id)).toBe(60);
    expect(await pauseSecondsOf(sibling.id)).toBe(15);
    expect(await stateOf(sibling.id)).toMatchObject({
      pauseReason: 'payment (131042)',
      pauseSource: 'receipt',
    });
    expect(await stateOf(paused.id)).toMatchObject({ pauseReason: 'maintenance', pauseSource: 'operator' });
    for (const { id } of [foreign, unknown]) expect((await stateOf(id)).pausedAt).toBeNull();

    await pausesEnd();
    for (const expected of [30, 30]) {
      await coolDownSender(store.database, fault, { ...terms, failuresBefore: 99 });
      expect(await pauseSecondsOf(sibling.id)).toBe(expected);
      await pausesEnd();
    }
  });
});
