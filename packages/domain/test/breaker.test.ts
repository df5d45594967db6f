import { breakerTrips } from '@onecode/domain';
import fc from 'fast-check';

const RULE = { unverifiedPercent: 90, minSends: 50 };

describe('the breaker', () => {
  it.each([
    [49, 49, false],
    [50, 50, true],
    [50, 45, true],
    [50, 44, false],
    [1000, 900, true],
    [1000, 899, false],
  ])(
    'with 90 percent of 50 sends and more: of %i sends %i unverified trip it: %s',
    (sends, unverified, trips) => {
      expect(breakerTrips(RULE, { sends, unverified })).toBe(trips);
    },
  );

  it('at 100 percent trips only when all codes are unverified', () => {
    expect(breakerTrips({ unverifiedPercent: 100, minSends: 1 }, { sends: 1000, unverified: 999 })).toBe(
      false,
    );
    expect(breakerTrips({ unverifiedPercent: 100, minSends: 1 }, { sends: 1, unverified: 1 })).toBe(true);
  });

  it('never trips without sends or when all codes are verified, and a further unverified code never resets it', () => {
    const rule = fc.record({
      unverifiedPercent: fc.integer({ min: 1, max: 100 }),
      minSends: fc.integer({ min: 1, max: 1000 }),
    });
    fc.assert(
      fc.property(rule, fc.nat(1000), fc.nat(1000), (rule, verified, unverified) => {
        const sends = verified + unverified;
        expect(breakerTrips(rule, { sends: 0, unverified: 0 })).toBe(false);
        expect(breakerTrips(rule, { sends, unverified: 0 })).toBe(false);
        if (breakerTrips(rule, { sends, unverified }))
          expect(breakerTrips(rule, { sends: sends + 1, unverified: unverified + 1 })).toBe(true);
      }),
    );
  });
});
