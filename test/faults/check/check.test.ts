import { BREACHES, brokenBy } from './breaches.js';
import { check, INVARIANTS } from './check.js';
import { goodRun } from './goodRun.js';

describe('the checker', () => {
  it('finds nothing in a run in which every promise was kept', () => {
    expect(check(goodRun().draft)).toEqual([]);
  });

  it('has a breach to be tried on for every invariant, each with a name of its own', () => {
    const names = INVARIANTS.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(Object.keys(BREACHES).toSorted()).toEqual(names.toSorted());
    for (const breaches of Object.values(BREACHES)) expect(breaches.length).toBeGreaterThan(0);
  });

  const cases = Object.entries(BREACHES).flatMap(([name, breaches]) =>
    breaches.map((breach, n) => ({ name, n: n + 1, breach })),
  );
  it.each(cases)('names $name when that is broken, and nothing else ($n)', ({ name, breach }) => {
    const found = check(brokenBy(breach));
    expect([...new Set(found.map(({ invariant }) => invariant))]).toEqual([name]);
    for (const { detail } of found) expect(detail).not.toMatch(/wamid|\+55|\b\d{6}\b/);
  });
});
