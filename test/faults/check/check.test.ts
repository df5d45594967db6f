import { check, INVARIANTS } from './check.js';
import { goodRun } from './goodRun.js';
import { evidenceWith, VIOLATIONS } from './violations.js';

describe('the checker', () => {
  it('finds nothing in a run that keeps every promise', () => {
    expect(check(goodRun().draft)).toEqual([]);
  });

  it('has violations of each invariant to be tested on', () => {
    expect(Object.keys(VIOLATIONS).toSorted()).toEqual(Object.keys(INVARIANTS).toSorted());
    for (const violations of Object.values(VIOLATIONS)) expect(violations.length).toBeGreaterThan(0);
  });

  const cases = Object.entries(VIOLATIONS).flatMap(([name, violations]) =>
    violations.map((violate, n) => ({ name, n: n + 1, violate })),
  );
  it.each(cases)('reports a violation of $name and of nothing else ($n)', ({ name, violate }) => {
    const found = check(evidenceWith(violate));
    expect([...new Set(found.map(({ invariant }) => invariant))]).toEqual([name]);
    for (const { detail } of found) expect(detail).not.toMatch(/wamid|\+55|\b\d{6}\b/);
  });
});
