import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { request } from 'undici';
import { describeMachine, startService } from './environment.mjs';
import { monotonicMs } from './machine.mjs';
import { roundRobin, runConcurrently } from './scheduling.mjs';
import { percentile } from './statistics.mjs';
import { buildRevision, openOnecode, WORKING_TREE } from './targets/onecode.mjs';
import { creations } from './targets/target.mjs';

/**
 * Measures how long sends wait behind a flood that exceeds the senders' throughput. The quiet accounts begin after each flooding account has
 * had its first message: until then, the flooding accounts have the same right to a first message as a quiet one.
 *
 * @typedef {import('./environment.mjs').Environment} Environment
 * @typedef {import('./targets/target.mjs').Target} Target
 *
 * @typedef {object} Waits  in milliseconds, in ascending order; infinite for a send that was not sent
 * @property {number[]} quiet of single sends of accounts that send nothing else
 * @property {number[]} first of each flooding account's first send to leave, from its first request
 * @property {number} perSecond calls to the provider while the quiet accounts sent
 */

const FLOOD = 20_000;
const FLOODING = [1, 10, 1_000];
const WORKERS = [1, 4];
/** Meta's throughput of a new number. The service uses nine tenths of it, for any time. */
const THROUGHPUT = 80;
const CASES = FLOODING.flatMap((flooding) => WORKERS.map((workers) => ({ flooding, workers })));
const CONNECTIONS = 32;
const QUIET_SENDS = 100;
const QUIET_PAUSE_MS = 200;
/** Time limit of the last quiet send. */
const WAIT_MS_MAX = 30_000;
/** Time limit of the first messages of all flooding accounts. With one sender, 1,000 accounts need 14 s. */
const FIRST_MS_MAX = 60_000;
const POLL_MS = 500;
const GOAL_MS = 2_000;
const CONCURRENCY = 50;

export const goal = `behind a flood of ${FLOOD} sends, 99 of 100 sends of quiet accounts are sent within ${GOAL_MS / 1000} s`;

/**
 * @param {Environment} environment
 * @param {import('./run.mjs').Options} options
 * @returns {Promise<import('./run.mjs').Result>}
 */
export async function measure(environment, { only, against }) {
  const machine = await describeMachine(environment);
  console.log(machine.text);
  const releases = [WORKING_TREE, ...(against === null ? [] : [await buildRevision(environment, against)])];
  const provider = await startService(environment, {
    name: 'provider',
    script: 'bench/provider.mjs',
    env: {},
    readyPath: '/count',
  });
  const redis = new Redis(environment.redisUrl);
  redis.on('error', () => {}); // an interrupt stops the services first
  const rows = [];
  for (const [index, release] of releases.entries()) {
    const accounts = Math.max(...FLOODING) + QUIET_SENDS;
    const target = await openOnecode(environment, release, `onecode_fair_${index}`, 0, { accounts });
    await target.pool.query(
      `with active as (update senders set throughput = $1 where id = (select id from senders order by id limit 1) returning id)
       insert into sender_blocks (cause, scope, subject, source, reason)
       select 'operator', 'sender', id::text, 'operator', 'one sends' from senders where id <> (select id from active)`,
      [THROUGHPUT],
    );
    for (const { flooding, workers } of CASES) {
      const name = `${flooding} flooding, ${workers === 1 ? '1 worker' : `${workers} workers`}`;
      if (only.length > 0 && !only.some((text) => name.includes(text))) continue;
      console.log(`${target.name}: ${name} …`);
      const waits = await waitsBehindFlood(target, provider.url, flooding, workers);
      rows.push({ name, target: target.name, waits });
      await target.clear();
      await redis.flushdb();
    }
    await target.close();
    process.kill(target.api.pid, 'SIGTERM');
  }
  redis.disconnect();
  const missed = rows.filter(
    ({ target, waits }) => target === WORKING_TREE.name && !(percentile(waits.quiet, 0.99) <= GOAL_MS),
  );
  return {
    tables: [rows.map(lineOf)],
    missed: missed.map(({ name }) => name),
    details: { machine, rows },
  };
}

/**
 * @param {Target} target
 * @param {string} providerUrl
 * @param {number} flooding accounts
 * @param {number} workerCount
 * @returns {Promise<Waits>}
 */
async function waitsBehindFlood(target, providerUrl, flooding, workerCount) {
  await (await request(`${providerUrl}/reset?delay=0`, { method: 'POST' })).body.dump();
  const workers = await Promise.all(
    Array.from({ length: workerCount }, () => target.startWorker(providerUrl, CONCURRENCY)),
  );
  const flood = creations(target.keys.slice(0, flooding), FLOOD, false).map((creation, index) => ({
    ...creation,
    account: index % flooding,
  }));
  const floodAt = await runConcurrently(FLOOD, CONNECTIONS, (index) =>
    create(target.api.url, roundRobin(flood, index)),
  );
  const floodingAccountOf = new Map(flood.map((creation) => [recipientOf(creation), creation.account]));
  const firstBy = monotonicMs() + FIRST_MS_MAX;
  /** @type {Map<string, number>} */
  let arrivals;
  do {
    if (monotonicMs() > firstBy) throw new Error('some flooding accounts had no message');
    await delay(POLL_MS);
    arrivals = await arrivalsAt(providerUrl);
  } while (
    new Set([...arrivals.keys()].map((recipient) => floodingAccountOf.get(recipient))).size < flooding
  );
  const quietFrom = monotonicMs();
  const quiet = await Promise.all(
    target.keys.slice(-QUIET_SENDS).map(async (key, index) => {
      await delay(index * QUIET_PAUSE_MS);
      const [creation] = creations([key], 1, false);
      if (creation === undefined) throw new Error('no request');
      return { recipient: recipientOf(creation), at: await create(target.api.url, creation) };
    }),
  );
  const quietTo = monotonicMs();
  const giveUpAt = quietTo + WAIT_MS_MAX;
  while (quiet.some(({ recipient }) => !arrivals.has(recipient)) && monotonicMs() < giveUpAt) {
    await delay(POLL_MS);
    arrivals = await arrivalsAt(providerUrl);
  }
  await Promise.all(workers.map((worker) => worker.stop()));

  const leftAt = (/** @type {string} */ recipient) => arrivals.get(recipient) ?? Infinity;
  const first = Array.from({ length: flooding }, () => ({ from: Infinity, to: Infinity }));
  for (const [index, creation] of flood.entries()) {
    const own = roundRobin(first, creation.account);
    own.from = Math.min(own.from, floodAt[index] ?? Infinity);
    own.to = Math.min(own.to, leftAt(recipientOf(creation)));
  }
  const during = [...arrivals.values()].filter((at) => at >= quietFrom && at < quietTo).length;
  return {
    quiet: quiet.map(({ recipient, at }) => leftAt(recipient) - at).toSorted((a, b) => a - b),
    first: first.map(({ from, to }) => to - from).toSorted((a, b) => a - b),
    perSecond: (during * 1_000) / (quietTo - quietFrom),
  };
}

/**
 * Creates a send.
 * @param {string} url of the API
 * @param {import('./load/load.mjs').Request} creation
 * @returns {Promise<number>} when the request began
 */
async function create(url, { method, path, headers, body }) {
  const at = monotonicMs();
  const answer = await request(url + path, {
    method: /** @type {'POST'} */ (method),
    headers: headers ?? null,
    body: body ?? null,
  });
  await answer.body.dump();
  if (answer.statusCode !== 202) throw new Error(`a creation was answered with ${answer.statusCode}`);
  return at;
}

/** @param {import('./load/load.mjs').Request} creation */
const recipientOf = ({ body }) => /** @type {string} */ (JSON.parse(String(body)).to);

/**
 * @param {string} providerUrl
 * @returns {Promise<Map<string, number>>} when the first message to each recipient came
 */
async function arrivalsAt(providerUrl) {
  const answer = await request(`${providerUrl}/arrivals`);
  return new Map(Object.entries(/** @type {Record<string, number>} */ (await answer.body.json())));
}

/** @param {number} ms */
const secondsOf = (ms) => (Number.isFinite(ms) ? (ms / 1000).toFixed(1) : `> ${WAIT_MS_MAX / 1000}`);

/**
 * @param {{ name: string, target: string, waits: Waits }} row
 * @returns {import('./run.mjs').Line}
 */
function lineOf({ name, target, waits: { quiet, first, perSecond } }) {
  const line = { 'waiting accounts': name, target };
  const cells = [
    ...Object.entries({ quiet, first }).map(([name, waits]) => [
      `${name}: median, 99th, worst, s`,
      [0.5, 0.99, 1].map((fraction) => secondsOf(percentile(waits, fraction))).join(', '),
    ]),
    ['calls a second', perSecond.toFixed(1)],
  ];
  return { ...line, ...Object.fromEntries(cells) };
}
