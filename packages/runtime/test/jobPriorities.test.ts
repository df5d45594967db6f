import { createJobPriorities } from '../src/jobPriorities.js';

/** The priorities of so many jobs of one account at these times. */
function prioritiesAt(times: readonly number[]): number[] {
  const priorityOf = createJobPriorities();
  return times.map((now) => priorityOf('a', now));
}
const repeated = (count: number, value: number): number[] => Array.from({ length: count }, () => value);

describe('the priority of a job', () => {
  it('is the first for the first of an account, and falls by one with each', () => {
    expect(prioritiesAt(repeated(5, 0))).toEqual([1, 2, 3, 4, 5]);
  });

  it('is the first for one account, whatever another one has', () => {
    const priorityOf = createJobPriorities();
    for (let n = 0; n < 20_000; n++) priorityOf('flooding', n / 100);
    expect(priorityOf('flooding', 200)).toBeGreaterThan(19_000);
    expect(priorityOf('quiet', 200)).toBe(1);
  });

  it('rises again when the account is quiet', () => {
    expect(prioritiesAt([...repeated(80, 0), 10_000]).at(-1)).toBe(41);
    expect(prioritiesAt([...repeated(80, 0), 80_000]).at(-1)).toBe(1);
  });

  it('stays among the first for an account that sends a little all the time', () => {
    const times = Array.from({ length: 1_000 }, (_, n) => n * 5_000);
    expect(Math.max(...prioritiesAt(times))).toBeLessThan(5);
  });

  it('forgets those that had none for longest when there are too many accounts', () => {
    const priorityOf = createJobPriorities();
    for (let n = 0; n < 30; n++) priorityOf('a', 0);
    for (let n = 0; n < 10_000; n++) priorityOf(`other ${n}`, 0);
    expect(priorityOf('a', 0)).toBe(1);
    expect(priorityOf('other 9999', 0)).toBe(2);
  });
});
