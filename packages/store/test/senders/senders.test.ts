import { randomBytes } from 'node:crypto';
import { unseal, type Keyring } from '@onecode/domain';
import {
  addSender,
  blockCountry,
  coolDownSender,
  deleteOldSenderRecipientWindows,
  listSenders,
  pauseSender,
  recoverSender,
  resealTokens,
  resumeSender,
  setSenderToken,
  type ResealedToken,
  type Sender,
} from '@onecode/store';
import { buildSender, takeSlots, TEST_ACTOR, useTestDatabase, type SlotRequest } from '@onecode/testing';
import fc from 'fast-check';

const store = useTestDatabase();

describe('senders', () => {
  beforeEach(() => store.sql('truncate senders cascade'));

  const coolDown = (id: string, failuresBefore: number, seconds = 60, startedAt = new Date()) =>
    coolDownSender(
      store.database,
      { senderId: id, startedAt, isOfBusiness: false, source: 'answer' },
      { failuresBefore, seconds, sharedSeconds: [15, 30], reason: 'a failure (131042)' },
    );
  const block = (senderId: string, country: string, seconds = 60) =>
    blockCountry(store.database, { senderId, country, seconds, errorCode: 130497 });
  /** The senders that may message a country now: who gets slots when each has some. */
  const available = async (country = 'BR') => {
    await store.sql('delete from send_slots');
    await store.sql(`insert into send_slots (sender_id, free_at) select id, clock_timestamp() from senders`);
    const wants = Array.from({ length: 6 }, (_, n) => ({
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
      const fault = {
        senderId: failed.id,
        isOfBusiness: true,
        source: 'receipt',
      } as const;
      const terms = { failuresBefore: 0, seconds: 60, sharedSeconds: [15, 30], reason: 'payment (131042)' };
      expect(await coolDownSender(store.database, { ...fault, startedAt: new Date() }, terms)).toBe(true);
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
        await coolDownSender(
          store.database,
          { ...fault, startedAt: new Date() },
          { ...terms, failuresBefore: 99 },
        );
        expect(await pauseSecondsOf(sibling.id)).toBe(expected);
        await pausesEnd();
      }
    });
  });
});

describe('resealing', () => {
  const KEYS = new Map([1, 2].map((version) => [version, randomBytes(32)]));
  const OLD: Keyring = { current: 1, keys: new Map([[1, KEYS.get(1)!]]) };
  const BOTH: Keyring = { current: 2, keys: KEYS };

  beforeEach(() => store.sql('delete from senders'));

  let senders = 0;
  async function senderWith(keyring: Keyring, token: string): Promise<string> {
    senders += 1;
    const made = await addSender(store.database, TEST_ACTOR, keyring, {
      phoneNumberId: String(senders),
      number: '+15550783881',
      token,
      template: 'verification_code',
      englishTemplateLanguage: 'en',
    });
    return made!.id;
  }

  const sealedTokens = (): Promise<{ id: string; sealed_token: Buffer }[]> =>
    store.sql('select id, sealed_token from senders order by id');

  const statesOf = (resealed: ResealedToken[]): unknown =>
    resealed.map(({ senderId, token }) => [senderId, token]);

  it('leaves a token alone whose key is gone, names it, and goes on with the others', async () => {
    const lost = await senderWith({ current: 3, keys: new Map([[3, randomBytes(32)]]) }, 'lost');
    const impostor = await senderWith({ current: 2, keys: new Map([[2, randomBytes(32)]]) }, 'lost too');
    const good = await senderWith(OLD, 'token');
    const before = await sealedTokens();
    expect(statesOf(await resealTokens(store.database, TEST_ACTOR, BOTH))).toEqual([
      [lost, 'unreadable'],
      [impostor, 'unreadable'],
      [good, 'resealed'],
    ]);
    expect((await sealedTokens()).slice(0, 2)).toEqual(before.slice(0, 2));
  });

  it('does not bring an old token back over one that is set at the same time', async () => {
    for (let round = 0; round < 20; round++) {
      const id = await senderWith(OLD, 'old');
      await Promise.all([
        resealTokens(store.database, TEST_ACTOR, BOTH),
        setSenderToken(store.database, TEST_ACTOR, OLD, id, 'set meanwhile'),
      ]);
      const sealed = (await sealedTokens()).find((row) => row.id === id)!.sealed_token;
      expect(unseal(BOTH, id, sealed)).toBe('set meanwhile');
    }
  });
});

describe('send slots', () => {
  const HORIZON_MS = 1000;
  const RECIPIENT = '+5511987654321';

  beforeEach(() => store.sql('truncate senders, sender_recipient_windows, sends cascade'));

  /** Wants of different recipients, or of one. */
  const requests = (count: number, recipient?: string): SlotRequest[] =>
    Array.from({ length: count }, (_, n) => ({
      recipient: recipient ?? `+55119${String(n).padStart(8, '0')}`,
      country: 'BR',
    }));
  const take = (count: number, recipient?: string) =>
    takeSlots(store.database, requests(count, recipient), HORIZON_MS);

  /** The slots that one call gives, in milliseconds of the database's clock. */
  async function slotsOf(some: readonly SlotRequest[]): Promise<number[]> {
    const slots = await takeSlots(store.database, some, HORIZON_MS);
    return slots.flatMap((slot) => slot?.atMs ?? []);
  }

  /** As if so much time had passed since everything that was sent. */
  const passes = (ms: number) =>
    store.sql(
      `with slots as (update send_slots set free_at = free_at - make_interval(secs => $1::float8 / 1000)),
         pairs as (update sender_recipient_windows set free_at = free_at - make_interval(secs => $1::float8 / 1000))
       select`,
      [ms],
    );

  /** The most that any stretch of time of this length holds, its ends included. */
  function mostWithin(ms: number, times: readonly number[]): number {
    const sorted = times.toSorted((a, b) => a - b);
    let first = 0;
    return sorted.reduce((most, time, last) => {
      while (time - (sorted[first] as number) > ms) first += 1;
      return Math.max(most, last - first + 1);
    }, 0);
  }

  /** Any course of events: so many requests at once, and so much time until the next ones. */
  const course = fc.array(
    fc.record({
      count: fc.integer({ min: 1, max: 120 }),
      pauseMs: fc.constantFrom(0, 1, 7, 90, 400, 999, 5000),
    }),
    { minLength: 1, maxLength: 8 },
  );

  async function slotsOfCourse(
    rounds: readonly { count: number; pauseMs: number }[],
    recipient?: string,
  ): Promise<number[]> {
    const times: number[] = [];
    let passed = 0;
    for (const { count, pauseMs } of rounds) {
      for (const at of await slotsOf(requests(count, recipient))) times.push(at + passed);
      await passes(pauseMs);
      passed += pauseMs;
    }
    return times;
  }

  describe('a sender', () => {
    it('never gets more slots in a second than its throughput, however requests arrive', async () => {
      const { id } = await buildSender(store.database);
      await fc.assert(
        fc.asyncProperty(fc.integer({ min: 1, max: 1000 }), course, async (throughput, rounds) => {
          await store.sql('delete from send_slots');
          await store.sql('update senders set throughput = $2 where id = $1', [id, throughput]);
          expect(mostWithin(1000, await slotsOfCourse(rounds))).toBeLessThanOrEqual(throughput);
        }),
        { numRuns: 30 },
      );
    });

    it.each([1, 2, 10, 80, 1000])(
      'of %i a second gets nine tenths of them in every second',
      async (throughput) => {
        await buildSender(store.database, { throughput });
        for (const _ of [1, 2, 3]) {
          const slots = await slotsOf(requests(Math.ceil(throughput * 1.2)));
          expect(slots.length).toBeGreaterThanOrEqual(Math.floor(throughput * 0.9));
          await passes(HORIZON_MS);
        }
      },
    );

    it('that was idle gives a tenth at once, and the others one after the other', async () => {
      await buildSender(store.database, { throughput: 80 });
      const slots = await take(10);
      const waits = slots.map((slot) => slot?.waitMs);
      expect(waits).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 14, 28]);
    });

    it('gives none beyond the horizon', async () => {
      await buildSender(store.database, { throughput: 80 });
      const slots = await take(100);
      expect(slots.filter((slot) => slot !== null)).toHaveLength(79);
      expect(slots.slice(79).every((slot) => slot === null)).toBe(true);
      expect(Math.max(...slots.map((slot) => slot?.waitMs ?? 0))).toBeLessThanOrEqual(HORIZON_MS);
    });

    it('gives each slot once, however many take at once', async () => {
      await buildSender(store.database, { throughput: 1000 });
      const [begin = 0] = await slotsOf(requests(100));
      const calls = Array.from({ length: 40 }, (_, n) =>
        slotsOf(requests(20).map((request) => ({ ...request, recipient: `${request.recipient}${n}` }))),
      );
      // Of one call, several may go at once; of two calls, none at the same time.
      const times = (await Promise.all(calls)).map((slots) => new Set(slots));
      const all = times.flatMap((slots) => [...slots]).filter((time) => time > begin);
      expect(all.length).toBeGreaterThanOrEqual(calls.length);
      expect(new Set(all).size).toBe(all.length);
    });

    it('gives slots again after a crash that emptied what was remembered of them', async () => {
      const { id } = await buildSender(store.database);
      await take(80);
      await store.sql('truncate send_slots, sender_recipient_windows');
      expect(await take(1)).toMatchObject([{ senderId: id, waitMs: 0 }]);
    });
  });

  describe('a sender and a recipient', () => {
    it('never get more than 44 messages and one each six seconds', async () => {
      await buildSender(store.database, { throughput: 1000 });
      const courses = fc.array(
        fc.record({
          count: fc.integer({ min: 1, max: 60 }),
          pauseMs: fc.constantFrom(0, 500, 5999, 6001, 60_000, 280_000),
        }),
        { minLength: 1, maxLength: 8 },
      );
      await fc.assert(
        fc.asyncProperty(courses, async (rounds) => {
          await store.sql('truncate send_slots, sender_recipient_windows');
          const times = await slotsOfCourse(rounds, RECIPIENT);
          for (const seconds of [0, 6, 12, 60, 300, 600])
            expect(mostWithin(seconds * 1000 - 1, times)).toBeLessThanOrEqual(44 + Math.ceil(seconds / 6));
        }),
        { numRuns: 20 },
      );
    });

    it('at their limit delay neither other recipients nor another sender', async () => {
      await buildSender(store.database, { throughput: 1000 });
      expect((await take(50, RECIPIENT)).filter((slot) => slot !== null)).toHaveLength(44);
      expect(await take(1)).toEqual([expect.objectContaining({ waitMs: 0 })]);
      const other = await buildSender(store.database, { throughput: 1000 });
      expect(await take(1, RECIPIENT)).toMatchObject([{ senderId: other.id, waitMs: 0 }]);
    });

    it('have their window deleted once the whole burst is available again, and not before', async () => {
      await buildSender(store.database, { throughput: 1000 });
      await take(2, RECIPIENT);
      await take(1, '+5511987650001');
      await passes(6500);
      expect(await deleteOldSenderRecipientWindows(store.database, 10)).toBe(1);
      await passes(6500);
      expect(await deleteOldSenderRecipientWindows(store.database, 10)).toBe(1);
      expect(await store.sql('select from sender_recipient_windows')).toEqual([]);
    });

    it('have their windows deleted in batches', async () => {
      await buildSender(store.database, { throughput: 1000 });
      await take(5);
      await passes(10_000);
      expect(await deleteOldSenderRecipientWindows(store.database, 3)).toBe(3);
      expect(await deleteOldSenderRecipientWindows(store.database, 3)).toBe(2);
    });
  });

  describe('several senders', () => {
    const shares = (senders: readonly Sender[], slots: readonly ({ senderId: string } | null)[]): number[] =>
      senders.map(({ id }) => slots.filter((slot) => slot?.senderId === id).length);

    it('under load each get their share in proportion to their throughput', async () => {
      const senders = [];
      for (const throughput of [100, 200, 400])
        senders.push(await buildSender(store.database, { throughput }));
      const slots = await take(690);
      for (const [nth, share] of shares(senders, slots).entries())
        expect(Math.abs(share - [100, 200, 400][nth]!)).toBeLessThanOrEqual(10);
    });

    it('that are all idle are used alike', async () => {
      const senders = [await buildSender(store.database), await buildSender(store.database)];
      const slots = [];
      for (let round = 0; round < 60; round++) {
        slots.push(...(await take(1)));
        await passes(1000);
      }
      // One of them would have fewer than 10 once in millions of runs.
      expect(Math.min(...shares(senders, slots))).toBeGreaterThanOrEqual(10);
    });

    it('are passed over where they are stopped for the language, for that request only and until the stop ends', async () => {
      const [one, other] = [await buildSender(store.database), await buildSender(store.database)];
      await pauseSender(store.database, TEST_ACTOR, other.id);
      const stop = (until: string | null) =>
        store.sql(
          `insert into sender_language_stops (sender_id, locale, source, reason, stopped_until) values ($1, 'en', 'webhook', 'paused', now() + $2::interval)
           on conflict (sender_id, locale) do update set stopped_until = excluded.stopped_until`,
          [one.id, until],
        );
      let recipients = 0;
      const taken = async () => {
        const locales = ['en', 'pt-BR', 'en'] as const;
        const mixed = locales.map((locale) => ({
          recipient: `+551198765${1000 + (recipients += 1)}`,
          country: 'BR',
          locale,
        }));
        return (await takeSlots(store.database, mixed, HORIZON_MS)).map((slot) => slot?.senderId);
      };
      for (const until of ['1 minute', null]) {
        await stop(until);
        expect(await taken()).toEqual([undefined, one.id, undefined]);
      }
      await stop('-1 second');
      expect(await taken()).toEqual([one.id, one.id, one.id]);
    });
  });
});
