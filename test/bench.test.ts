import { until } from '@onecode/testing';
import { cpuMsOf } from '../bench/cpu.mjs';
import { asBytes } from '../bench/load/plan.mjs';
import { judge } from '../bench/paths/goals.mjs';
import { rowLines } from '../bench/paths/lines.mjs';
import { compare, ratio } from '../bench/paths/rounds.mjs';
import { median, percentile } from '../bench/percentile.mjs';

const figure = (perSecond: number) => ({
  perSecond,
  medianMs: 1,
  p99Ms: 1000 / perSecond,
  cpuMs: { api: 0.5 },
});

/** Somebody whose loads make these figures, the one of the warm-up first. */
const somebody = (who: string, figures: number[], order: string[] = []) => ({
  who,
  load: async () => {
    order.push(who);
    return figure(figures.shift() ?? Number.NaN);
  },
});

describe('a comparison', () => {
  it('takes turns, and counts no warm-up', async () => {
    const order: string[] = [];
    const rows = await compare(
      'create',
      [somebody('a', [1, 10, 20], order), somebody('b', [1, 30, 40], order)],
      {
        rounds: 2,
        seconds: 1,
      },
    );
    expect(order).toEqual(['a', 'b', 'a', 'b', 'a', 'b']);
    expect(rows).toMatchObject([
      { who: 'a', perSecond: 15, cpuMs: { api: 0.5 } },
      { who: 'b', perSecond: 35 },
    ]);
  });

  it('is one of figures of the same round, whatever the machine did between rounds', async () => {
    const entries = [somebody('a', [1, 100, 10, 50]), somebody('b', [1, 200, 20, 100])];
    const [a, b] = await compare('create', entries, { rounds: 3, seconds: 1 });
    expect(ratio(a!, b!)).toBe(0.5);
    expect(ratio(a!, b!, 'p99Ms')).toBe(2);
  });
});

it('the lines of ours say how they compare with ours as it was, each with its like', async () => {
  const entries = [
    somebody('Onecode', [1, 120]),
    somebody('Onecode, one hot account', [1, 60]),
    somebody('before', [1, 100]),
    somebody('before, one hot account', [1, 80]),
    somebody('floor', [1, 200]),
  ];
  const options = { rounds: 1, seconds: 1 };
  const lines = rowLines(await compare('create', entries, options));
  expect(lines.map((line) => [line['× floor'], line['× before']])).toEqual([
    ['0.60', '1.20'],
    ['–', '0.75'],
    ['0.50', ''],
    ['–', ''],
    ['1.00', ''],
  ]);
  expect(rowLines(await compare('create', [somebody('Onecode', [1, 1])], options))[0]).not.toHaveProperty(
    '× before',
  );
});

it('a goal is met or missed by what was measured, and left out where nothing was', async () => {
  const entries = [somebody('Onecode', [1, 90]), somebody('floor', [1, 100])];
  const rows = await compare('status', entries, { rounds: 1, seconds: 1 });
  const used = [
    { process: 'api', mostMiB: 151, grewMiB: 99 },
    { process: 'worker', mostMiB: 150, grewMiB: 99 },
  ];
  expect(judge({ rows, started: [], used, grown: null, minutes: 1 })).toEqual([
    { what: 'status: times floor', wanted: 0.7, bound: 'at least', found: 0.9, met: true },
    { what: 'memory: api MiB', wanted: 150, bound: 'at most', found: 151, met: false },
    { what: 'memory: worker MiB', wanted: 150, bound: 'at most', found: 150, met: true },
  ]);
});

it('a median lies in the middle, and a percentile is one of the values', () => {
  expect(median([3, 1, 2])).toBe(2);
  expect(median([4, 1, 2, 3])).toBe(2.5);
  const hundred = Array.from({ length: 100 }, (_, place) => place + 1);
  expect(percentile(hundred, 0.99)).toBe(100);
  expect(percentile(hundred, 0.5)).toBe(51);
  expect(percentile([], 0.5)).toBeNaN();
});

it('wrk is given whole requests, whose length is that of their bytes', () => {
  const headers = { 'content-type': 'application/json' };
  expect(
    asBytes([
      { method: 'POST', path: '/v1/send', headers, body: '{"a":"é"}' },
      { method: 'GET', path: '/x', headers: {} },
    ]),
  ).toBe(
    'POST /v1/send HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 10\r\n\r\n{"a":"é"}' +
      '\0GET /x HTTP/1.1\r\nhost: localhost\r\n\r\n',
  );
});

it('the processor time of a process is counted', async () => {
  const before = cpuMsOf([process.pid]);
  await until('processor time to go by', () => cpuMsOf([process.pid]) >= before + 30);
});
