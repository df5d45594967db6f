import { randomInt } from 'node:crypto';
import { until } from '@onecode/testing';
import { runCampaign } from './campaign.js';
import { operationsOf, readDocument } from './contract.js';
import { memoryGrowth } from './memory.js';
import { KINDS } from './request.js';
import type { Tally } from './tally.js';
import { Target } from './target.js';
import { Lane } from './wire.js';
import { WEBHOOK } from './webhooks.js';
import { buildWorld, type World } from './world.js';

const { FUZZ_REQUESTS = '5000', FUZZ_SEED = String(randomInt(2 ** 31)), FUZZ_ONLY } = process.env;
const requests = Number(FUZZ_REQUESTS);
const seed = Number(FUZZ_SEED);
/** Does one request alone, to see it again. */
const only = FUZZ_ONLY === undefined ? undefined : Number(FUZZ_ONLY);
/** For the slow clients, and for each request on a busy machine. */
const MS_MAX = 90_000 + requests * 10;
/** Long enough for chance to have had its turn with everything that can be seen. */
const isLong = requests >= 5_000 && only === undefined;
/** What a heap may grow by without having been collected, and the pages that a process keeps. */
const GROWTH_MIB_MAX = 32;
/** Connections of the pool and of Redis that had not been opened when the campaign began. */
const OWN_SOCKETS_MAX = 24;
/** Statuses that no request can bring about: they tell of faults of our own. */
const UNREACHABLE = new Set([500]);

const operations = operationsOf(readDocument());
let target: Target;
let world: World;
let tally: Tally;
let socketsBefore: number;

beforeAll(async () => {
  target = await Target.start();
  world = await buildWorld(target.db.database, target.secrets);
  socketsBefore = (await target.figures()).sockets;
  const figures = (): ReturnType<Target['figures']> => target.figures();
  tally = await runCampaign({ port: target.port, world, operations, seed, requests, only, figures });
  process.stdout.write(`fuzz: FUZZ_REQUESTS=${requests} FUZZ_SEED=${seed}\n${tally.summary()}\n`);
}, MS_MAX);
afterAll(() => target.stop(), 30_000);

it('every answer keeps the contract, none is a 5xx, and none is missing', () => {
  expect(tally.failures.join('\n\n')).toBe('');
});

it('the process lives, and complains of nothing', () => {
  expect(target.ended()).toBeNull();
  expect(target.complaints()).toEqual([]);
});

it('the service still serves, and lets go of every connection', async () => {
  expect(await target.isReady()).toBe(true);
  const lane = new Lane(target.port);
  const [caller] = world.callers;
  const answer = await lane.send({
    kind: 'valid',
    operation: 'createSend',
    rule: 'the last one',
    method: 'POST',
    target: '/v1/send',
    headers: [
      ['Host', 'codes.test'],
      ['Authorization', `Bearer ${caller?.key}`],
    ],
    body: Buffer.from('{"to":"+447700900123"}'),
    expected: [202],
    caller: 'test',
  });
  lane.close();
  expect(answer.json['id']).toEqual(expect.any(String));
  await until('connections that are let go of', async () => {
    const { sockets } = await target.figures();
    return sockets <= socketsBefore + OWN_SOCKETS_MAX;
  });
});

it('its memory does not grow with the requests', () => {
  const growth = memoryGrowth(tally.samples);
  process.stdout.write(`fuzz: ${growth.text}\n`);
  expect(growth.residentMib).toBeLessThanOrEqual(GROWTH_MIB_MAX);
  expect(growth.heapMib).toBeLessThanOrEqual(GROWTH_MIB_MAX);
});

it('every operation was asked in every way', () => {
  if (!isLong) return;
  const missing = [...operations, WEBHOOK].flatMap(({ id }) =>
    KINDS.filter((kind) => tally.done(id, kind) === 0).map((kind) => `${id}: ${kind}`),
  );
  expect(missing).toEqual([]);
});

it('every documented status was seen, but for those that no request brings about', () => {
  if (!isLong) return;
  const missing = operations.flatMap(({ id, statuses }) => {
    const seen = tally.statuses(id);
    return statuses
      .filter((status) => !seen.includes(status) && !UNREACHABLE.has(status))
      .map((status) => `${id}: ${status}`);
  });
  expect(missing).toEqual([]);
});
