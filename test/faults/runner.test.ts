import { read } from '../../scripts/test/faults.mjs';
import { AFTERMATH } from './aftermath.js';
import { crashPoints } from './house/crashPoints.mjs';
import { crashes, table, summary } from './report.js';
import type { RunResult, SettledInjection } from './run.js';

describe('npm run test:faults', () => {
  it('takes a seed, a length and a part of a fault’s name', () => {
    expect(read(['--seed', '7', '--minutes', '3', '--only', 'Redis', '--write-docs'])).toEqual({
      seed: 7,
      minutes: 3,
      only: 'Redis',
      writeDocs: true,
    });
  });

  it('picks a seed of its own, and ten minutes', () => {
    expect(read([])).toEqual({
      seed: expect.any(Number) as number,
      minutes: 10,
      only: undefined,
      writeDocs: false,
    });
    expect(read([])?.seed).not.toBe(read([])?.seed);
  });

  it.each([[['--seed', 'x']], [['--minutes', '0']], [['--sed', '1']], [['7']]])('refuses %j', (args) => {
    expect(read(args)).toBeNull();
  });
});

describe('the table of a run', () => {
  const injection = (fault: string, resumedMs: number | null): SettledInjection => ({
    fault,
    family: 'redis',
    lastedMs: 3_000,
    recovery: { createdMs: 10, resumedMs, drainedMs: null, story: [] },
    seen: {
      answers: 90,
      errors500: 2,
      unclear: 0,
      lost: 0,
      usual202Ms: 40,
      slowest202Ms: 120,
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
    faults: [],
  };

  it('has a row for each fault, with the sum of what was seen, the median and the worst', () => {
    expect(table([result]).split('\n').slice(2)).toEqual([
      '| Redis stopped | 2 | 4 answers 5xx, 2 unknown outcomes, 202 within 40 ms, slowest 120 ms | 1.0 s – 4.0 s | longer than watched |',
      '| Redis frozen | 1 | 2 answers 5xx, 1 unknown outcomes, 202 within 40 ms, slowest 120 ms | longer than watched | longer than watched |',
    ]);
  });

  it('says of every crash point how often it killed, and what has to come of it', () => {
    expect(Object.keys(AFTERMATH).toSorted()).toEqual(
      crashPoints()
        .map(({ name }) => name)
        .toSorted(),
    );
    expect(crashes([result, result])).toContain('| worker after claim | 4 | another worker takes over');
  });

  it('says in one sentence what the run was', () => {
    expect(summary(result)).toMatch(/^Seed 7: 90 seconds, 3 faults and 3 kills; .* 0 broken promises\.$/);
  });
});
