import { execFileSync } from 'node:child_process';
import { openSync } from 'node:fs';
import { cpus, loadavg, totalmem } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { UserError } from '../scripts/user-error.mjs';
import { freePort } from '../scripts/services/ports.mjs';
import { prepare, root, runNpm } from '../scripts/checkout.mjs';
import { median } from './statistics.mjs';

/**
 * @typedef {import('../scripts/processes/processes.mjs').Processes} Processes
 *
 * @typedef {object} Environment  what a suite runs on: its own PostgreSQL and Redis, migrated and empty
 * @property {Processes} processes
 * @property {string} databaseUrl
 * @property {string} redisUrl
 * @property {number} postgres pid of its first process
 * @property {number} redis its pid
 *
 * @typedef {object} Service  a process under load
 * @property {number} pid
 * @property {string} url
 * @property {number} startMs from its start until it was ready
 * @property {() => Promise<void>} stop
 */

/** With PostgreSQL's defaults, checkpoints are so frequent under this load that its log warns about them. */
const POSTGRES_SETTINGS = [
  'shared_buffers=1GB',
  'max_wal_size=8GB',
  // A suite that counts statements turns it on for its own databases.
  'shared_preload_libraries=pg_stat_statements',
  'pg_stat_statements.track=none',
];
const SHOWN_SETTINGS = [
  'server_version',
  'fsync',
  'synchronous_commit',
  'full_page_writes',
  'shared_buffers',
];
const START_MS_MAX = 20_000;
/** The number of timed commits. Their median is the time of a commit. */
const COMMITS = 21;

/**
 * Starts new PostgreSQL and Redis servers, even if the environment names others, because the benchmark writes millions of rows and needs
 * known settings.
 * @param {Processes} processes
 * @param {Pick<import('./run.mjs').Options, 'flushMs' | 'postgres'>} options
 * @returns {Promise<Environment>}
 */
export async function startEnvironment(processes, { flushMs, postgres: programs }) {
  const preload = flushMs === 0 ? {} : { LD_PRELOAD: buildSlowFlush(processes.folder, flushMs) };
  await prepare(processes);
  // These need the packages that `prepare` installs.
  const { startPostgres } = await import('../scripts/services/postgres.mjs');
  const { startRedis } = await import('../scripts/services/redis.mjs');
  const options = { processes, throwaway: false, log: console.log };
  const postgres = await startPostgres({
    ...options,
    settings: POSTGRES_SETTINGS,
    ...(programs !== null && { programs }),
    env: { ...process.env, ...preload },
  });
  const redis = await startRedis(options);
  const env = { ...process.env, DATABASE_URL: postgres.url };
  await runNpm(processes, ['run', '--silent', 'migrate'], { title: 'npm run migrate', env });
  return {
    processes,
    databaseUrl: postgres.url,
    redisUrl: redis.url,
    postgres: postgres.pid,
    redis: redis.pid,
  };
}

/**
 * Compiles the library that makes a disk slow to flush.
 * @param {string} folder that PostgreSQL's account can enter
 * @param {number} flushMs
 * @returns {string} its path
 */
function buildSlowFlush(folder, flushMs) {
  const library = join(folder, 'slowFlush.so');
  const source = fileURLToPath(new URL('slowFlush.c', import.meta.url));
  const flags = ['-shared', '-fPIC', `-DFLUSH_US=${Math.round(flushMs * 1000)}`];
  try {
    execFileSync('cc', [...flags, '-o', library, source], { stdio: 'pipe' });
  } catch (error) {
    throw new UserError(`--flush-ms needs Linux and a C compiler: ${/** @type {Error} */ (error).message}`);
  }
  return library;
}

/**
 * Describes the machine and PostgreSQL's settings.
 * @param {Environment} environment
 */
export async function describeMachine({ databaseUrl }) {
  const client = await connect(databaseUrl);
  const { rows } = await client.query(
    'select name, current_setting(name) as value from unnest($1::text[]) name',
    [SHOWN_SETTINGS],
  );
  const commits = [];
  for (let count = 0; count < COMMITS; count++) {
    const startedAt = performance.now();
    await client.query(`select pg_logical_emit_message(true, 'bench', '')`);
    commits.push(performance.now() - startedAt);
  }
  await client.end();
  const settings = /** @type {Record<string, string>} */ (
    Object.fromEntries(rows.map(({ name, value }) => [name, value]))
  );
  const machine = {
    processor: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    loadBefore: Number((loadavg()[0] ?? 0).toFixed(2)),
    node: process.version,
    postgres: settings,
    commitMs: Number(median(commits).toFixed(1)),
  };
  const text =
    `${machine.cores} cores (${machine.processor}), ${machine.memoryGiB} GiB, load ${machine.loadBefore} before; Node ${machine.node}, ` +
    `PostgreSQL ${settings['server_version']} with fsync ${settings['fsync']}, synchronous_commit ${settings['synchronous_commit']}; a commit takes ${machine.commitMs} ms.`;
  return { ...machine, text };
}

/**
 * Starts a Node process on a free port and waits until it is ready. Its output goes to a file, as in production.
 * @param {Environment} environment
 * @param {object} options
 * @param {string} options.name
 * @param {string} options.script absolute, or relative to the repository's root
 * @param {NodeJS.ProcessEnv} options.env
 * @param {'PORT' | 'METRICS_PORT'} [options.port] the variable that takes the port
 * @param {string | null} [options.readyPath] answers 200 once the process is ready; null: it does not listen
 * @returns {Promise<Service>}
 */
export async function startService(
  { processes },
  { name, script, env, port: variable = 'PORT', readyPath = '/readyz' },
) {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const startedAt = performance.now();
  const { pid, exited } = await processes.start({
    name,
    command: process.execPath,
    args: [script],
    cwd: root,
    env: {
      PATH: process.env['PATH'],
      NODE_ENV: 'production',
      HOST: '127.0.0.1',
      ...env,
      [variable]: String(port),
    },
    output: openSync(join(processes.folder, `${name}.log`), 'a', 0o600),
    stage: 4,
    stop: [
      ['SIGTERM', 3000],
      ['SIGKILL', 500],
    ],
  });
  let exit = '';
  void exited.then((reason) => (exit = reason));
  while (readyPath !== null && !(await isReady(url + readyPath))) {
    if (exit !== '' || performance.now() - startedAt > START_MS_MAX)
      throw new UserError(`The ${name} was not ready (${exit || 'timed out'}).`);
    await delay(2);
  }
  return {
    pid,
    url,
    startMs: performance.now() - startedAt,
    async stop() {
      process.kill(pid, 'SIGTERM');
      await exited;
    },
  };
}

/** @param {string} url */
async function isReady(url) {
  try {
    return (await fetch(url, { signal: AbortSignal.timeout(2000) })).ok;
  } catch {
    return false;
  }
}

/**
 * Creates a database in the environment's server.
 * @param {Environment} environment
 * @param {string} name
 * @param {string} [schema] SQL to run in it
 * @returns {Promise<string>} its URL
 */
export async function createDatabase({ databaseUrl }, name, schema) {
  await runSql(databaseUrl, `create database ${name}`);
  const url = databaseUrl.replace(/[^/]+$/, name);
  if (schema !== undefined) await runSql(url, schema);
  return url;
}

/**
 * Runs statements one after another.
 * @param {string} url
 * @param {...string} statements
 */
export async function runSql(url, ...statements) {
  const client = await connect(url);
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

/** @param {string} url */
export async function connect(url) {
  const { default: pg } = await import('pg'); // installed by `prepare`
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {}); // an interrupt stops the services first
  await client.connect();
  return client;
}
