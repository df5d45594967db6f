import { createJobPriorities } from '../src/jobPriorities.js';

/** The priorities of so many jobs of one account at these times. */
function prioritiesAt(times: readonly number[]): number[] {
  const priorityOf = createJobPriorities();
  return times.map((now) => priorityOf('a', now));
}
const repeated = (count: number, value: number): number[] => Array.from({ length: count }, () => value);

describe('the priority of a job', () => {
  it('is the first for the first twenty of an account, and falls by one with each twenty', () => {
    const priorities = prioritiesAt(repeated(60, 0));
    expect(priorities).toEqual([...repeated(20, 0), ...repeated(20, 1), ...repeated(20, 2)]);
  });

  it('is the first for one account, whatever another one has', () => {
    const priorityOf = createJobPriorities();
    for (let n = 0; n < 20_000; n++) priorityOf('flooding', n / 100);
    expect(priorityOf('flooding', 200)).toBeGreaterThan(900);
    expect(priorityOf('quiet', 200)).toBe(0);
  });

  it('rises again when the account is quiet', () => {
    expect(prioritiesAt([...repeated(80, 0), 10_000]).at(-1)).toBe(2);
    expect(prioritiesAt([...repeated(80, 0), 60_000]).at(-1)).toBe(0);
  });

  it('stays the first for an account that sends a little all the time', () => {
    const times = Array.from({ length: 1_000 }, (_, n) => n * 1_000);
    expect(new Set(prioritiesAt(times))).toEqual(new Set([0]));
  });

  it('forgets those that had none for longest when there are too many accounts', () => {
    const priorityOf = createJobPriorities();
    for (let n = 0; n < 30; n++) priorityOf('a', 0);
    for (let n = 0; n < 10_000; n++) priorityOf(`other ${n}`, 0);
    expect(priorityOf('a', 0)).toBe(0);
    expect(priorityOf('other 9999', 0)).toBe(0);
  });
});
