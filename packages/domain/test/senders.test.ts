import { chooseSender, pauseSeconds } from '@onecode/domain';
import fc from 'fast-check';
import { sender } from './sends.js';

const senders = ['a', 'b', 'c', 'd'].map((id) => sender({ id }));
const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

describe('the rest of a sender', () => {
  it('is a minute after its first fault in a row, doubles, and is an hour at most', () => {
    expect([1, 2, 3, 4, 5, 6, 7, 8, 100, 2_000_000_000].map(pauseSeconds)).toEqual([
      60, 120, 240, 480, 960, 1920, 3600, 3600, 3600, 3600,
    ]);
  });
});

describe('the sender of an attempt', () => {
  it('is each of those available with the same chance', () => {
    const chosen = new Map<string, number>();
    for (let draw = 0; draw < 1000; draw++) {
      const { id } = chooseSender(senders, 'BR', draw / 1000)!;
      chosen.set(id, (chosen.get(id) ?? 0) + 1);
    }
    expect(Object.fromEntries(chosen)).toEqual({ a: 250, b: 250, c: 250, d: 250 });
  });

  it('is none when there is none', () => {
    expect(chooseSender([], 'BR', 0)).toBeNull();
    expect(chooseSender([], null, 0.999)).toBeNull();
  });

  it('is never one that may not message the country, and the others share its part', () => {
    const some = [sender({ id: 'a', blockedCountries: ['BR', 'US'] }), ...senders.slice(1)];
    const chosen = [0, 0.34, 0.67, 0.999].map((chance) => chooseSender(some, 'BR', chance)?.id);
    expect(chosen).toEqual(['b', 'c', 'd', 'd']);
    expect(chooseSender(some, 'PT', 0)?.id).toBe('a');
  });

  it('is none when all are blocked for the country', () => {
    const blocked = senders.map((one) => ({ ...one, blockedCountries: ['BR'] }));
    expect(chooseSender(blocked, 'BR', 0.5)).toBeNull();
    expect(chooseSender(blocked, 'US', 0.5)).not.toBeNull();
  });

  it('is any of them for a number of no country', () => {
    const blocked = senders.map((one) => ({ ...one, blockedCountries: ['BR'] }));
    expect(chooseSender(blocked, null, 0)?.id).toBe('a');
  });

  it('is found whenever an able one exists, and is able', () => {
    const some = fc.array(
      fc
        .tuple(fc.uuid(), fc.subarray(['BR', 'US', 'DE']))
        .map(([id, blockedCountries]) => sender({ id, blockedCountries })),
      { maxLength: 8 },
    );
    fc.assert(
      fc.property(some, fc.constantFrom('BR', 'US', 'PT', null), random, (given, country, chance) => {
        const able = given.filter((one) => country === null || !one.blockedCountries.includes(country));
        const chosen = chooseSender(given, country, chance);
        if (able.length === 0) expect(chosen).toBeNull();
        else expect(able).toContain(chosen);
      }),
    );
  });
});
