import {
  deliveryWait,
  holdMatches,
  isCountryTarget,
  isHeld,
  NO_COUNTRY,
  PHASES,
  type DeliveryProgress,
  type HoldTarget,
  type Phase,
} from '@onecode/domain';
import { at, LIFE_SECONDS } from './sendFixtures.js';

const progress = (phase: Phase, fields: Partial<DeliveryProgress> = {}): DeliveryProgress => ({
  phase,
  verification: 'pending',
  dueAt: phase === 'unconfirmed' || phase === 'done' ? null : at(30),
  expiresAt: at(LIFE_SECONDS),
  ...fields,
});

describe('deliveryWait', () => {
  it.each([
    ['ready', { for: 'worker', until: null }],
    ['waiting', { for: 'sender', until: at(LIFE_SECONDS) }],
    ['calling', { for: 'answer', until: null }],
    ['backing_off', { for: 'next_attempt', until: at(30) }],
    ['giving_up', { for: 'receipt', until: at(30) }],
    ['unconfirmed', { for: 'receipt', until: null }],
    ['done', null],
  ] as const)('returns the wait of the phase `%s`', (phase, wait) => {
    expect(deliveryWait(progress(phase), false)).toEqual(wait);
  });

  it.each(['verified', 'locked', 'expired'] as const)(
    'returns null for a sent message with a code that is %s',
    (verification) => {
      expect(deliveryWait(progress('unconfirmed', { verification }), false)).toBeNull();
    },
  );

  it('returns the wait for the release of a hold only if a call would follow', () => {
    for (const phase of PHASES)
      expect(deliveryWait(progress(phase), true)).toEqual(
        phase === 'ready' || phase === 'waiting' || phase === 'backing_off'
          ? { for: 'release', until: at(LIFE_SECONDS) }
          : deliveryWait(progress(phase), false),
      );
  });
});

const live: HoldTarget = { kind: 'live', target: '' };
const brazil: HoldTarget = { kind: 'country', target: 'BR' };
const nowhere: HoldTarget = { kind: 'country', target: NO_COUNTRY };
const ofAccount: HoldTarget = { kind: 'account', target: 'account-1' };

const TO_BRAZIL = { accountId: 'account-1', country: 'BR' };
const TO_PORTUGAL = { accountId: 'account-2', country: 'PT' };
const TO_NO_COUNTRY = { accountId: 'account-2', country: null };

describe('holdMatches and isHeld', () => {
  it.each([
    ['all live sends', live, [true, true, true]],
    ['a country', brazil, [true, false, false]],
    ['numbers without a country', nowhere, [false, false, true]],
    ['an account', ofAccount, [true, false, false]],
  ])('match only their own sends: %s', (_, hold, matches) => {
    expect([TO_BRAZIL, TO_PORTUGAL, TO_NO_COUNTRY].map((send) => holdMatches(hold, send))).toEqual(matches);
  });

  it('match live sends and no test sends', () => {
    expect(isHeld({ ...TO_BRAZIL, mode: 'live' }, [nowhere, brazil])).toBe(true);
    expect(isHeld({ ...TO_PORTUGAL, mode: 'live' }, [nowhere, brazil])).toBe(false);
    expect(isHeld({ ...TO_BRAZIL, mode: 'test' }, [live, brazil, ofAccount])).toBe(false);
  });
});

it.each([
  ['BR', true],
  [NO_COUNTRY, true],
  ['XX', false],
])('isCountryTarget(%j) returns %s', (target, isTarget) => {
  expect(isCountryTarget(target)).toBe(isTarget);
});
