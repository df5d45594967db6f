import fc from 'fast-check';
import { breakerTrips } from '../../src/accounts/breaker.js';

const RULE = { unverifiedPercent: 90, minSends: 50 };

describe('breakerTrips', () => {
  it.each([
    [49, 49, false],
    [50, 45, true],
    [50, 44, false],
    [1000, 899, false],
    [1000, 900, true],
  ])('at 90 percent of at least 50 sends: %i sends, %i unverified: %s', (sends, unverified, trips) => {
    expect(breakerTrips(RULE, { sends, unverified })).toBe(trips);
  });

  it('never trips without sends or unverified codes, and stays tripped after more unverified codes', () => {
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
