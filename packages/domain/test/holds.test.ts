import { holdMatches, isCountryTarget, isHeld, NO_COUNTRY, type HoldTarget } from '@onecode/domain';

const live: HoldTarget = { kind: 'live', target: '' };
const brazil: HoldTarget = { kind: 'country', target: 'BR' };
const nowhere: HoldTarget = { kind: 'country', target: NO_COUNTRY };
const account: HoldTarget = { kind: 'account', target: 'account-1' };

const TO_BRAZIL = { accountId: 'account-1', country: 'BR' };
const TO_PORTUGAL = { accountId: 'account-2', country: 'PT' };
const TO_NO_COUNTRY = { accountId: 'account-2', country: null };

describe('a hold', () => {
  it.each([
    ['all live sends', live, [true, true, true]],
    ['a country', brazil, [true, false, false]],
    ['numbers of no country', nowhere, [false, false, true]],
    ['an account', account, [true, false, false]],
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
    expect(isHeld({ ...TO_BRAZIL, mode: 'test' }, [live, brazil, account])).toBe(false);
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
