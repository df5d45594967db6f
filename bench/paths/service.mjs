import { openSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { UserError } from '../../scripts/user-error.mjs';
import { freePort } from '../../scripts/services/ports.mjs';
import { root } from '../../scripts/checkout.mjs';

const START_MS_MAX = 20_000;

/**
 * @typedef {import('../run.mjs').House} House
 *
 * @typedef {object} Service  a process under load
 * @property {number} pid
 * @property {string} url
 * @property {number} startMs from its start until it was ready
 * @property {() => Promise<void>} stop
 */

/**
 * Starts a Node process that listens on a port of its own, and waits until it is ready. What it prints goes to a file, as in production.
 * @param {House} house
 * @param {object} wanted
 * @param {string} wanted.name
 * @param {string} wanted.script by its path from the root, or from that of the machine
 * @param {NodeJS.ProcessEnv} wanted.env
 * @param {'PORT' | 'METRICS_PORT'} [wanted.port] the variable that says where
 * @param {string | null} [wanted.readyPath] answers 200 once it is ready; null: it does not listen
 * @returns {Promise<Service>}
 */
export async function startService(
  { processes },
  { name, script, env, port: variable = 'PORT', readyPath = '/readyz' },
) {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const beganAt = performance.now();
  const { pid, exited } = await processes.start({
    name,
    command: process.execPath,
    args: [script],
    cwd: root,
    env: { PATH: process.env['PATH'], NODE_ENV: 'production', ...env, [variable]: String(port) },
    output: openSync(join(processes.folder, `${name}.log`), 'a', 0o600),
    stage: 4,
    stop: [
      ['SIGTERM', 3000],
      ['SIGKILL', 500],
    ],
  });
  let end = '';
  void exited.then((how) => (end = how));
  while (readyPath !== null && !(await isReady(url + readyPath))) {
    if (end !== '' || performance.now() - beganAt > START_MS_MAX)
      throw new UserError(`The ${name} was not ready (${end || 'it takes too long'}).`);
    await delay(2);
  }
  return {
    pid,
    url,
    startMs: performance.now() - beganAt,
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
 * Makes a database in the server.
 * @param {House} house
 * @param {string} name
 * @param {string} [schema] SQL to run in it
 * @returns {Promise<string>} its address
 */
export async function makeDatabase({ databaseUrl }, name, schema) {
  await run(databaseUrl, `create database ${name}`);
  const url = databaseUrl.replace(/[^/]+$/, name);
  if (schema !== undefined) await run(url, schema);
  return url;
}

/**
 * Runs statements one by one.
 * @param {string} url
 * @param {...string} sql
 */
export async function run(url, ...sql) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    for (const one of sql) await client.query(one);
  } finally {
    await client.end();
  }
}
