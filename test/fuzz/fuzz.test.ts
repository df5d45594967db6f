import { randomInt } from 'node:crypto';
import { until } from '@onecode/testing';
import { runCampaign } from './campaign.js';
import { operationsOf, readDocument } from './contract.js';
import { memoryGrowth } from './results.js';
import { KINDS } from './request.js';
import type { CampaignResults } from './results.js';
import { ApiProcess } from './apiProcess.js';
import { KeepAliveConnection } from './connection.js';
import { WEBHOOK } from './webhooks.js';
import { createFuzzContext, type FuzzContext } from './context.js';

const {
  ALL_TESTS,
  FUZZ_REQUESTS = ALL_TESTS === '1' ? '100000' : '1000',
  FUZZ_SEED = String(randomInt(2 ** 31)),
  FUZZ_ONLY,
} = process.env;
const requests = Number(FUZZ_REQUESTS);
const seed = Number(FUZZ_SEED);
/** Sends only this request, to reproduce a failure. */
const only = FUZZ_ONLY === undefined ? undefined : Number(FUZZ_ONLY);
/** For the slow clients, and for each request on a busy machine. */
const MS_MAX = 90_000 + requests * 10;
/** Long enough for random requests to cover every kind and status. */
const isLong = requests >= 3_000 && only === undefined;
/** Room for garbage that is not collected yet and for pages that the process keeps. */
const GROWTH_MIB_MAX = 32;
/** Connections to PostgreSQL and Redis that open during the campaign. */
const OWN_SOCKETS_MAX = 24;
/** Documented statuses that no request may cause. */
const UNREACHABLE = new Set([500]);

const operations = operationsOf(readDocument());
let api: ApiProcess;
let context: FuzzContext;
let results: CampaignResults;
let socketsBefore: number;

beforeAll(async () => {
  api = await ApiProcess.start();
  context = await createFuzzContext(api.db.database, api.secrets);
  socketsBefore = (await api.metrics()).sockets;
  const metrics = (): ReturnType<ApiProcess['metrics']> => api.metrics();
  results = await runCampaign({ port: api.port, context, operations, seed, requests, only, metrics });
  process.stdout.write(`fuzz: FUZZ_REQUESTS=${requests} FUZZ_SEED=${seed}\n${results.summary()}\n`);
}, MS_MAX);
afterAll(() => api.stop(), 30_000);

it('every answer matches the contract, none is a 5xx and none is missing', () => {
  expect(results.failures.join('\n\n')).toBe('');
});

it('the process keeps running and logs no error', () => {
  expect(api.ended()).toBeNull();
  expect(api.errors()).toEqual([]);
});

it('the API answers after the run, and closes every connection', async () => {
  expect(await api.isReady()).toBe(true);
  const connection = new KeepAliveConnection(api.port);
  const [caller] = context.callers;
  const answer = await connection.send({
    kind: 'valid',
    operation: 'createSend',
    rule: 'the last request',
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
  connection.close();
  expect(answer.json['id']).toEqual(expect.any(String));
  await until('all connections to be closed', async () => {
    const { sockets } = await api.metrics();
    return sockets <= socketsBefore + OWN_SOCKETS_MAX;
  });
});

it('the memory of the API does not grow with the requests', () => {
  const growth = memoryGrowth(results.samples);
  process.stdout.write(`fuzz: ${growth.text}\n`);
  expect(growth.residentMib).toBeLessThanOrEqual(GROWTH_MIB_MAX);
  expect(growth.heapMib).toBeLessThanOrEqual(GROWTH_MIB_MAX);
});

if (isLong) {
  it('every operation got requests of every kind', () => {
    const missing = [...operations, WEBHOOK].flatMap(({ id }) =>
      KINDS.filter((kind) => results.countOf(id, kind) === 0).map((kind) => `${id}: ${kind}`),
    );
    expect(missing).toEqual([]);
  });

  it('every documented status was seen, except those that no request can cause', () => {
    const missing = operations.flatMap(({ id, statuses }) => {
      const seen = results.statuses(id);
      return statuses
        .filter((status) => !seen.includes(status) && !UNREACHABLE.has(status))
        .map((status) => `${id}: ${status}`);
    });
    expect(missing).toEqual([]);
  });
}
