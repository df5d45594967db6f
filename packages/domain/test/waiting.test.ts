import {
  deliveryWait,
  holdMatches,
  isCountryTarget,
  isHeld,
  nextTurns,
  NO_COUNTRY,
  type DeliveryProgress,
  type HoldTarget,
  type Turn,
  type WaitingAccount,
} from '@onecode/domain';
import fc from 'fast-check';
import { at, LIFE_SECONDS, NOW } from './sendFixtures.js';

const ENDED = at(LIFE_SECONDS);
const ATTEMPT = { outcome: 'retry', finishedAt: NOW } as const;

const progress = (fields: Partial<DeliveryProgress>): DeliveryProgress => ({
  status: 'queued',
  verification: 'pending',
  awaitingSender: false,
  lostAt: null,
  dueAt: at(30),
  expiresAt: ENDED,
  attempts: [],
  ...fields,
});
const sending = (fields: Partial<DeliveryProgress>): DeliveryProgress =>
  progress({ status: 'sending', attempts: [ATTEMPT], ...fields });

describe('what a delivery waits for', () => {
  it.each([
    ['a worker', progress({}), { for: 'worker', until: null }],
    ['a sender', progress({ awaitingSender: true }), { for: 'sender', until: ENDED }],
    ['a sender once more', sending({ awaitingSender: true }), { for: 'sender', until: ENDED }],
    [
      'an answer',
      sending({ attempts: [ATTEMPT, { outcome: null, finishedAt: null }] }),
      { for: 'answer', until: null },
    ],
    ['the next attempt', sending({}), { for: 'next_attempt', until: at(30) }],
    [
      'a receipt of a message that may have gone',
      sending({ attempts: [ATTEMPT, ATTEMPT, { outcome: 'unknown', finishedAt: NOW }] }),
      { for: 'receipt', until: at(30) },
    ],
    [
      'the next attempt, though an earlier message may have gone',
      sending({ attempts: [{ outcome: 'unknown', finishedAt: NOW }, ATTEMPT] }),
      { for: 'next_attempt', until: at(30) },
    ],
    ['a first attempt', sending({ attempts: [] }), { for: 'next_attempt', until: at(30) }],
    ['a receipt', progress({ status: 'sent', dueAt: null }), { for: 'receipt', until: null }],
    [
      'a sender, instead of a lost message',
      progress({ status: 'sent', lostAt: NOW, awaitingSender: true, attempts: [ATTEMPT] }),
      { for: 'sender', until: ENDED },
    ],
  ] as const)('is %s', (_, send, wait) => {
    expect(deliveryWait(send, false)).toEqual(wait);
  });

  it.each(['delivered', 'read', 'failed'] as const)('is nothing once the send is %s', (status) => {
    expect(deliveryWait(progress({ status }), false)).toBeNull();
    expect(deliveryWait(progress({ status }), true)).toBeNull();
  });

  it.each(['verified', 'locked', 'expired'] as const)(
    'is nothing for a sent message whose code is %s',
    (verification) => {
      expect(deliveryWait(progress({ status: 'sent', verification }), false)).toBeNull();
    },
  );

  it('is the release of a hold, whatever else would be waited for but an answer', () => {
    for (const send of [progress({}), progress({ awaitingSender: true }), sending({})])
      expect(deliveryWait(send, true)).toEqual({ for: 'release', until: ENDED });
    const underWay = sending({ attempts: [{ outcome: null, finishedAt: null }] });
    expect(deliveryWait(underWay, true)).toEqual({ for: 'answer', until: null });
  });
});

const live: HoldTarget = { kind: 'live', target: '' };
const brazil: HoldTarget = { kind: 'country', target: 'BR' };
const nowhere: HoldTarget = { kind: 'country', target: NO_COUNTRY };
const ofAccount: HoldTarget = { kind: 'account', target: 'account-1' };

const TO_BRAZIL = { accountId: 'account-1', country: 'BR' };
const TO_PORTUGAL = { accountId: 'account-2', country: 'PT' };
const TO_NO_COUNTRY = { accountId: 'account-2', country: null };

describe('a hold', () => {
  it.each([
    ['all live sends', live, [true, true, true]],
    ['a country', brazil, [true, false, false]],
    ['numbers of no country', nowhere, [false, false, true]],
    ['an account', ofAccount, [true, false, false]],
  ])('of %s matches those and no others', (_, hold, matches) => {
    expect([TO_BRAZIL, TO_PORTUGAL, TO_NO_COUNTRY].map((send) => holdMatches(hold, send))).toEqual(matches);
  });

  it('of an account or a country does not match the other with the same name', () => {
    expect(holdMatches({ kind: 'account', target: 'BR' }, TO_BRAZIL)).toBe(false);
    expect(holdMatches({ kind: 'country', target: 'account-1' }, TO_BRAZIL)).toBe(false);
  });
});

describe('a send is held', () => {
  it('by any hold that matches', () => {
    expect(isHeld({ ...TO_BRAZIL, mode: 'live' }, [nowhere, brazil])).toBe(true);
    expect(isHeld({ ...TO_PORTUGAL, mode: 'live' }, [nowhere, brazil])).toBe(false);
    expect(isHeld({ ...TO_BRAZIL, mode: 'live' }, [])).toBe(false);
  });

  it('never in test mode', () => {
    expect(isHeld({ ...TO_BRAZIL, mode: 'test' }, [live, brazil, ofAccount])).toBe(false);
  });
});

it.each([
  ['BR', true],
  [NO_COUNTRY, true],
  ['br', false],
  ['XX', false],
  ['', false],
])('whether %j can be held as a country: %s', (target, isTarget) => {
  expect(isCountryTarget(target)).toBe(isTarget);
});

const account = (accountId: string, weight = 1, busyUntil: number | null = null): WaitingAccount => ({
  accountId,
  weight,
  busyUntil,
});
const idsOf = (turns: readonly Turn[]): string => turns.map(({ accountId }) => accountId).join('');

/** Gives turns in batches to accounts that always wait. @returns the ids in the order of their turns */
function givenTo(weights: Readonly<Record<string, number>>, batches: readonly number[]): string[] {
  const ends = new Map<string, number>();
  let now = 0;
  return batches.flatMap((count) => {
    const accounts = Object.entries(weights).map(([id, weight]) => account(id, weight, ends.get(id) ?? null));
    const turns = nextTurns(accounts, now, count);
    for (const { accountId, startsAt, endsAt } of turns) {
      ends.set(accountId, endsAt);
      now = Math.max(now, startsAt);
    }
    return turns.map(({ accountId }) => accountId);
  });
}

describe('turns', () => {
  it('go round among accounts of one weight', () => {
    expect(idsOf(nextTurns([account('a'), account('b'), account('c')], 0, 7))).toBe('abcabca');
  });

  it('are three for one with weight 3', () => {
    expect(idsOf(nextTurns([account('a', 3), account('b')], 0, 8))).toBe('abaaabaa');
  });

  it('are none without accounts, and none beyond the count', () => {
    expect(nextTurns([], 5, 10)).toEqual([]);
    expect(nextTurns([account('a')], 5, 0)).toEqual([]);
  });

  it('begin with an account that was quiet, however many turns another one had', () => {
    expect(idsOf(nextTurns([account('a', 1, 20_001), account('b')], 20_000, 3))).toBe('bab');
  });

  it('begin with an account that was quiet, however many others wait', () => {
    const others = Array.from({ length: 1_000 }, (_, n) => account(`a${n}`, 1, 5));
    const turns = nextTurns([...others, account('z', 1, 3), account('zz')], 5, 3);
    expect(turns.map(({ accountId }) => accountId)).toEqual(['zz', 'z', 'a0']);
  });

  it('are not saved up: an account that was quiet for long has one turn, then they go round', () => {
    expect(idsOf(nextTurns([account('a', 1, 20_001), account('b', 1, 3)], 20_000, 5))).toBe('babab');
  });

  it('last the inverse of the weight, from the end of the previous one', () => {
    expect(nextTurns([account('a', 4, 7.5)], 7, 2)).toEqual([
      { accountId: 'a', startsAt: 7.5, endsAt: 7.75 },
      { accountId: 'a', startsAt: 7.75, endsAt: 8 },
    ]);
  });

  it('are the same in batches of any size, and in proportion to the weights', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(1, 2, 4, 8), { minLength: 1, maxLength: 8 }),
        fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 20 }),
        (list, batches) => {
          const weights = Object.fromEntries(list.map((weight, n) => [String(n), weight]));
          const total = batches.reduce((sum, count) => sum + count, 0);
          const given = givenTo(weights, batches);
          expect(given).toEqual(givenTo(weights, [total]));
          const sum = list.reduce((one, other) => one + other, 0);
          for (const [n, weight] of list.entries()) {
            const share = given.filter((id) => id === String(n)).length;
            // Never more than a round away from its share.
            expect(Math.abs(share - (total * weight) / sum)).toBeLessThanOrEqual(weight + 1);
          }
        },
      ),
    );
  });
});
