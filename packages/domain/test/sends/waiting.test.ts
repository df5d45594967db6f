import {
  deliveryWait,
  holdMatches,
  isCountryTarget,
  isHeld,
  NO_COUNTRY,
  type DeliveryProgress,
  type HoldTarget,
} from '@onecode/domain';
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

  it('stops a live send if it matches, and no test send', () => {
    expect(isHeld({ ...TO_BRAZIL, mode: 'live' }, [nowhere, brazil])).toBe(true);
    expect(isHeld({ ...TO_PORTUGAL, mode: 'live' }, [nowhere, brazil])).toBe(false);
    expect(isHeld({ ...TO_BRAZIL, mode: 'test' }, [live, brazil, ofAccount])).toBe(false);
  });
});

it.each([
  ['BR', true],
  [NO_COUNTRY, true],
  ['XX', false],
])('whether %j can be held as a country: %s', (target, isTarget) => {
  expect(isCountryTarget(target)).toBe(isTarget);
});
