import { faultTable, summary } from './report.js';
import type { RunResult, SettledInjection } from './run.js';

describe('the table of a run', () => {
  const injection = (fault: string, resumedMs: number | null): SettledInjection => ({
    fault,
    family: 'redis',
    medianGoalMs: 5_000,
    lastedMs: 3_000,
    recovery: { createdMs: 10, resumedMs, drainedMs: null, slowSends: [] },
    observed: {
      answers: 90,
      serverErrors: 2,
      unexpectedErrors: 0,
      lost: 0,
      creationP95Ms: 40,
      slowestCreationMs: 120,
      slowestMs: 300,
      attempts: 40,
      unknownOutcomes: 1,
      kills: 0,
    },
    missed: [],
  });
  const result: RunResult = {
    seed: 7,
    seconds: 90,
    clients: 200,
    requests: 900,
    sends: 190,
    messages: 180,
    kills: 3,
    killedAt: { 'worker after claim': 2 },
    injections: [
      injection('Redis stopped', 1_000),
      injection('Redis stopped', 4_000),
      injection('Redis frozen', null),
    ],
    violations: [],
    problems: [],
  };

  it('has a row for each fault with the sums of what was observed, the median and the worst time', () => {
    expect(faultTable([result]).split('\n').slice(2)).toEqual([
      '| Redis stopped | 2 | 4 answers 5xx, 2 unknown outcomes, 95% of 202 within 40 ms, slowest 120 ms | 1.0 s – 4.0 s | longer than watched |',
      '| Redis frozen | 1 | 2 answers 5xx, 1 unknown outcomes, 95% of 202 within 40 ms, slowest 120 ms | longer than watched | longer than watched |',
    ]);
  });

  it('summarizes the run in one sentence', () => {
    expect(summary(result)).toMatch(/^Seed 7: 90 seconds, 3 faults and 3 kills; .* 0 broken promises\.$/);
  });
});
