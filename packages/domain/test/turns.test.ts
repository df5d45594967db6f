import { nextTurns, type Turn, type WaitingAccount } from '@onecode/domain';
import fc from 'fast-check';

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
