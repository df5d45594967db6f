import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { connect, describeMachine, startService } from './environment.mjs';
import { steadyLoad, withUsage } from './load/load.mjs';
import { atMost, goalLines } from './paths/report.mjs';
import { resetProvider, timesToProvider, untilCalls } from './paths/worker.mjs';
import { median, percentile } from './statistics.mjs';
import { openBaseline } from './targets/baseline.mjs';
import { buildRevision, openOnecode, WORKING_TREE } from './targets/onecode.mjs';
import { BASELINE, creations } from './targets/target.mjs';

/**
 * Measures the cost of a send at the steady, low rates of most deployments, and the cost of an idle service. Only the measured target's
 * processes run, because PostgreSQL and Redis also work for an idle one.
 *
 * @typedef {import('./environment.mjs').Environment} Environment
 * @typedef {import('./environment.mjs').Service} Service
 * @typedef {import('./run.mjs').Line} Line
 * @typedef {import('./targets/target.mjs').Target} Target
 *
 * @typedef {object} Load  of one round
 * @property {Record<string, number>} cpuMs of one send, by process
 * @property {number} medianMs from request to provider
 * @property {number} p99Ms
 * @property {number} statements of one send
 *
 * @typedef {object} Row
 * @property {number} perSecond
 * @property {string} target
 * @property {Load[]} rounds
 *
 * @typedef {object} Idle
 * @property {string} target
 * @property {number} statementsPerSecond
 * @property {number} corePercent processor time of API, worker, PostgreSQL and Redis
 *
 * @typedef {object} Bench
 * @property {Environment} environment
 * @property {Service} provider
 * @property {(target: Target) => Promise<number>} readStatements how many a target's processes have run so far
 * @property {() => Promise<void>} flushRedis
 */

const RATES = [20, 60, 150];
const SECONDS_MIN = 10;
/** Warms up at a higher rate than the measured ones, because a process that has run for a day has compiled its code. */
const WARM_UP = { perSecond: 150, seconds: 20 };
/** The provider posts the last receipt of a send up to three seconds after its message. */
const LEAD_IN_SECONDS = 4;
/** Without the start, because compilation and the first garbage collections would be part of the result. */
const SETTLE_MS = 30_000;
const IDLE_MS = 30_000;
const POLL_MS = 50;
const PROCESSES = ['api', 'worker', 'postgres', 'redis'];
const STATEMENTS = `
  select coalesce(sum(calls), 0)::float8 as calls
  from pg_stat_statements s join pg_database d on d.oid = s.dbid where d.datname = $1`;

const CPU_RATIO_MAX = 1.3;
const MEDIAN_RATIO_MAX = 1.5;
const P99_RATIO_MAX = 2;
const STATEMENTS_MAX = 8;
const IDLE_STATEMENTS_MAX = 5;
const IDLE_PERCENT_MAX = 1.5;

export const goal = `at ${RATES.join(', ')} sends per second, the processor time of a send is at most ${CPU_RATIO_MAX} times the baseline's`;

/**
 * @param {Environment} environment
 * @param {import('./run.mjs').Options} options
 * @returns {Promise<import('./run.mjs').Result>}
 */
export async function measure(environment, { rounds, seconds, against, only }) {
  const machine = await describeMachine(environment);
  console.log(machine.text);
  const before = against === null ? null : await buildRevision(environment, against);
  const redis = new Redis(environment.redisUrl);
  const database = await connect(environment.databaseUrl);
  redis.on('error', () => {}); // an interrupt stops the services first
  await database.query('create extension if not exists pg_stat_statements');
  const bench = {
    environment,
    provider: await startService(environment, {
      name: 'low-load-provider',
      script: 'bench/provider.mjs',
      env: {},
      readyPath: '/count',
    }),
    readStatements: async (/** @type {Target} */ target) =>
      Number((await database.query(STATEMENTS, [databaseNameOf(target)])).rows[0].calls),
    flushRedis: async () => void (await redis.flushdb()),
  };
  const targets = [
    await openOnecode(environment, WORKING_TREE, 'low_load_onecode', 0),
    ...(before === null ? [] : [await openOnecode(environment, before, 'low_load_before', 0)]),
    await openBaseline(environment, 'low_load_baseline'),
  ];
  for (const target of targets) {
    await Promise.all([target.api.stop(), target.close()]);
    await database.query(`alter database ${databaseNameOf(target)} set pg_stat_statements.track = 'top'`);
  }

  const isWanted = (/** @type {string} */ name) => only.length === 0 || only.includes(name);
  const idle = [];
  for (const target of isWanted('idle') ? targets : []) {
    console.log(`${target.name}: idle …`);
    idle.push(await measureIdle(bench, target));
  }
  const rates = RATES.filter((rate) => isWanted(String(rate)));
  const rows = rates.flatMap((perSecond) =>
    targets.map((target) => ({ perSecond, target: target.name, rounds: /** @type {Load[]} */ ([]) })),
  );
  for (let round = 0; round < (rates.length === 0 ? 0 : rounds); round++)
    for (const target of round % 2 === 0 ? targets : targets.toReversed()) {
      console.log(`${target.name}: round ${round + 1} of ${rounds} …`);
      const loads = await measureRates(bench, target, rates, Math.max(seconds, SECONDS_MIN));
      for (const [index, load] of loads.entries())
        rows.find((row) => row.target === target.name && row.perSecond === rates[index])?.rounds.push(load);
    }
  redis.disconnect();
  await Promise.all([database.end(), bench.provider.stop()]);
  const goals = judge(rows, idle);
  return {
    tables: [rows.map((row) => lineOf(row, rows)), idle.map(idleLineOf), goalLines(goals)].filter(
      (lines) => lines.length > 0,
    ),
    missed: goals.filter(({ met }) => !met).map(({ name }) => name),
    details: { machine, rows, idle, goals },
  };
}

/** @param {Target} target */
const databaseNameOf = ({ databaseUrl }) => new URL(databaseUrl).pathname.slice(1);

/**
 * Runs one API and one worker of a target while a function works with them.
 * @template T
 * @param {Bench} bench
 * @param {Target} target
 * @param {(processes: { api: Service, worker: Service }) => Promise<T>} work
 * @returns {Promise<T>}
 */
async function withProcesses({ provider, flushRedis }, target, work) {
  const api = await target.startApi();
  await resetProvider(provider.url, 0, { api, secret: target.secret }, 'one by one');
  const worker = await target.startWorker(provider.url, 50);
  const result = await work({ api, worker });
  await Promise.all([api.stop(), worker.stop()]);
  await flushRedis();
  return result;
}

/**
 * @param {Bench} bench
 * @param {Target} target
 * @returns {Promise<Idle>}
 */
function measureIdle(bench, target) {
  return withProcesses(bench, target, async ({ api, worker }) => {
    await delay(SETTLE_MS);
    const before = await bench.readStatements(target);
    const { usage } = await withUsage(bench.environment, { api: api.pid, worker: worker.pid }, () =>
      delay(IDLE_MS),
    );
    const statements = (await bench.readStatements(target)) - before;
    return {
      target: target.name,
      statementsPerSecond: statements / (IDLE_MS / 1000),
      corePercent: (totalOf(usage.cpuMs) / IDLE_MS) * 100,
    };
  });
}

/**
 * Measures all rates one after another with the same processes.
 * @param {Bench} bench
 * @param {Target} target
 * @param {readonly number[]} rates
 * @param {number} seconds at each rate
 * @returns {Promise<Load[]>} in the order of the rates
 */
function measureRates({ environment, provider, ...bench }, target, rates, seconds) {
  return withProcesses({ environment, provider, ...bench }, target, async ({ api, worker }) => {
    const endpoint = { url: api.url, pids: { api: api.pid, worker: worker.pid } };
    let created = 0;
    const load = async (/** @type {number} */ perSecond, /** @type {number} */ ofSeconds) => {
      const requests = creations(target.keys, perSecond * ofSeconds, true);
      created += requests.length;
      const result = await steadyLoad(environment, endpoint, { requests, perSecond, seconds: ofSeconds });
      return { requests, ...result };
    };
    await load(WARM_UP.perSecond, WARM_UP.seconds);
    await untilCalls(provider.url, created);
    await untilReported(provider.url);
    const loads = [];
    for (const perSecond of rates) {
      // Its receipts arrive during the measurement and replace receipts that arrive after it.
      await load(perSecond, LEAD_IN_SECONDS);
      const before = await bench.readStatements(target);
      const { requests, dueAt, measurement } = await load(perSecond, seconds);
      const statements = (await bench.readStatements(target)) - before;
      await untilCalls(provider.url, created);
      const times = await timesToProvider(provider.url, requests, dueAt);
      const { cpuMs } = measurement;
      loads.push({
        cpuMs: Object.fromEntries(PROCESSES.map((name) => [name, cpuMs[name] ?? Number.NaN])),
        medianMs: percentile(times, 0.5),
        p99Ms: percentile(times, 0.99),
        statements: statements / requests.length,
      });
      await untilReported(provider.url);
    }
    return loads;
  });
}

/**
 * Waits until the provider has posted all reports on its messages.
 * @param {string} url
 */
async function untilReported(url) {
  const isReporting = async () =>
    /** @type {{ reporting: number }} */ (await (await fetch(`${url}/count`)).json()).reporting > 0;
  while (await isReporting()) await delay(POLL_MS);
}

/** @param {Record<string, number>} cpuMs */
const totalOf = (cpuMs) => Object.values(cpuMs).reduce((sum, ms) => sum + ms, 0);

/** The values that are compared with the baseline. */
const METRICS = /** @type {const} */ ({
  'processor time': { read: (/** @type {Load} */ { cpuMs }) => totalOf(cpuMs), max: CPU_RATIO_MAX },
  'median to provider': { read: (/** @type {Load} */ { medianMs }) => medianMs, max: MEDIAN_RATIO_MAX },
  'p99 to provider': { read: (/** @type {Load} */ { p99Ms }) => p99Ms, max: P99_RATIO_MAX },
});

/**
 * Returns the median of the rounds' ratios to the baseline.
 * @param {Row} row
 * @param {readonly Row[]} rows
 * @param {keyof typeof METRICS} metric
 * @returns {number | undefined} undefined without a baseline
 */
function ratioToBaseline(row, rows, metric) {
  const other = rows.find(({ target, perSecond }) => target === BASELINE && perSecond === row.perSecond);
  const { read } = METRICS[metric];
  return (
    other &&
    median(other.rounds.map((round, index) => read(/** @type {any} */ (row.rounds[index])) / read(round)))
  );
}

/**
 * @param {readonly Row[]} rows
 * @param {readonly Idle[]} idle
 */
function judge(rows, idle) {
  const onecode = rows.filter(({ target }) => target === WORKING_TREE.name);
  const slowest = onecode.find(({ perSecond }) => perSecond === RATES[0]);
  const idleOnecode = idle.find(({ target }) => target === WORKING_TREE.name);
  const names = /** @type {(keyof typeof METRICS)[]} */ (Object.keys(METRICS));
  return [
    ...onecode.flatMap((row) =>
      names.map((name) =>
        atMost(
          `${row.perSecond} a second: ${name}, times ${BASELINE}`,
          METRICS[name].max,
          ratioToBaseline(row, rows, name),
        ),
      ),
    ),
    atMost(
      `${RATES[0]} a second: statements of a send`,
      STATEMENTS_MAX,
      slowest && median(slowest.rounds.map(({ statements }) => statements)),
    ),
    atMost('idle: statements a second', IDLE_STATEMENTS_MAX, idleOnecode?.statementsPerSecond),
    atMost('idle: % of a core', IDLE_PERCENT_MAX, idleOnecode?.corePercent),
  ].filter((goal) => goal !== null);
}

/**
 * @param {Row} row
 * @param {readonly Row[]} rows
 * @returns {Line}
 */
function lineOf(row, rows) {
  const cell = (/** @type {(load: Load) => number} */ read, /** @type {number} */ digits) =>
    median(row.rounds.map(read)).toFixed(digits);
  const times = (/** @type {keyof typeof METRICS} */ metric) =>
    ratioToBaseline(row, rows, metric)?.toFixed(2) ?? '–';
  return {
    what: `${row.perSecond} a second: ${row.target}`,
    ...Object.fromEntries(
      PROCESSES.map((name) => [`${name} µs`, cell(({ cpuMs }) => (cpuMs[name] ?? Number.NaN) * 1000, 0)]),
    ),
    'sum µs': cell(({ cpuMs }) => totalOf(cpuMs) * 1000, 0),
    [`× ${BASELINE}`]: times('processor time'),
    'median ms': cell(({ medianMs }) => medianMs, 1),
    '× median': times('median to provider'),
    'p99 ms': cell(({ p99Ms }) => p99Ms, 1),
    '× p99': times('p99 to provider'),
    statements: cell(({ statements }) => statements, 1),
  };
}

/**
 * @param {Idle} idle
 * @returns {Line}
 */
const idleLineOf = ({ target, statementsPerSecond, corePercent }) => ({
  what: `idle: ${target}`,
  'statements a second': statementsPerSecond.toFixed(1),
  '% of a core': corePercent.toFixed(2),
});
