import { until } from '@onecode/testing';
import { cpuMsOf } from '../bench/machine.mjs';
import { judge, rowLines } from '../bench/paths/report.mjs';
import { compare, median, percentile, ratio } from '../bench/statistics.mjs';

const measurement = (perSecond: number) => ({
  perSecond,
  medianMs: 1,
  p99Ms: 1000 / perSecond,
  cpuMs: { api: 0.5 },
});

/** A candidate whose loads reach these rates, that of the warm-up first. */
const candidate = (target: string, rates: number[], order: string[] = []) => ({
  target,
  load: async () => {
    order.push(target);
    return measurement(rates.shift() ?? Number.NaN);
  },
});

describe('a comparison', () => {
  it('measures in turn, every second round backwards, and does not count the warm-up', async () => {
    const order: string[] = [];
    const rows = await compare(
      'create',
      [candidate('a', [1, 10, 20], order), candidate('b', [1, 30, 40], order)],
      {
        rounds: 2,
        seconds: 1,
      },
    );
    expect(order).toEqual(['a', 'b', 'a', 'b', 'b', 'a']);
    expect(rows).toMatchObject([
      { target: 'a', perSecond: 15, cpuMs: { api: 0.5 } },
      { target: 'b', perSecond: 35 },
    ]);
  });

  it('compares measurements of the same round, whatever the machine did between rounds', async () => {
    const candidates = [candidate('a', [1, 100, 10, 50]), candidate('b', [1, 200, 20, 100])];
    const [a, b] = await compare('create', candidates, { rounds: 3, seconds: 1 });
    expect(ratio(a!, b!)).toBe(0.5);
    expect(ratio(a!, b!, 'p99Ms')).toBe(2);
  });
});

it('shows how each variant of Onecode compares with the same variant of the build before', async () => {
  const candidates = [
    candidate('Onecode', [1, 120]),
    candidate('Onecode, one hot account', [1, 60]),
    candidate('before', [1, 100]),
    candidate('before, one hot account', [1, 80]),
    candidate('baseline', [1, 200]),
  ];
  const options = { rounds: 1, seconds: 1 };
  const lines = rowLines(await compare('create', candidates, options));
  expect(lines.map((line) => [line['× baseline'], line['× before']])).toEqual([
    ['0.60', '1.20'],
    ['–', '0.75'],
    ['0.50', ''],
    ['–', ''],
    ['1.00', ''],
  ]);
  expect(rowLines(await compare('create', [candidate('Onecode', [1, 1])], options))[0]).not.toHaveProperty(
    '× before',
  );
});

it('judges a goal by what was measured, and leaves it out where nothing was', async () => {
  const candidates = [candidate('Onecode', [1, 90]), candidate('baseline', [1, 100])];
  const rows = await compare('status', candidates, { rounds: 1, seconds: 1 });
  const memory = [
    { process: 'api', maxMiB: 151, grownMiB: 99 },
    { process: 'worker', maxMiB: 150, grownMiB: 99 },
  ];
  expect(judge({ rows, starts: [], memory, growth: null, minutes: 1 })).toEqual([
    { name: 'status: times baseline', wanted: 0.7, bound: 'at least', found: 0.9, met: true },
    { name: 'memory: api MiB', wanted: 150, bound: 'at most', found: 151, met: false },
    { name: 'memory: worker MiB', wanted: 150, bound: 'at most', found: 150, met: true },
  ]);
});

it('a median lies in the middle, and a percentile is one of the values', () => {
  expect(median([3, 1, 2])).toBe(2);
  expect(median([4, 1, 2, 3])).toBe(2.5);
  const hundred = Array.from({ length: 100 }, (_, index) => index + 1);
  expect(percentile(hundred, 0.99)).toBe(100);
  expect(percentile(hundred, 0.5)).toBe(51);
  expect(percentile([], 0.5)).toBeNaN();
});

it('measures the processor time of a process', async () => {
  const before = cpuMsOf([process.pid]);
  await until('30 ms of processor time', () => cpuMsOf([process.pid]) >= before + 30);
});
