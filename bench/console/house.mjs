import { randomBytes } from 'node:crypto';
import { apps, onecode, ready, startApp } from '../../scripts/start/apps.mjs';
import { freePort } from '../../scripts/services/ports.mjs';

/**
 * @typedef {(method: string, path: string, body?: object) => Promise<any>} Reader  answers the JSON; throws unless it is 200
 */

/**
 * Starts a console on a filled database.
 * @param {import('../run.mjs').House} house
 * @param {number} sends of one account
 * @returns {Promise<{ ids: Record<string, string>, member: Reader, operator: Reader }>}
 */
export async function openHouse({ processes, databaseUrl, redisUrl }, sends) {
  const secret = () => randomBytes(32).toString('base64');
  const port = await freePort();
  const url = `http://localhost:${port}`;
  const env = {
    PATH: process.env['PATH'],
    DATABASE_URL: databaseUrl,
    REDIS_URL: redisUrl,
    BASE_URL: 'http://localhost:3000',
    CONSOLE_URL: url,
    SECRET_KEY: secret(),
    SESSION_SECRET: secret(),
    LOG_LEVEL: 'warn',
  };
  const ids = await fill(env, databaseUrl, sends);
  const metrics = { api: 0, worker: 0, console: await freePort(), simulator: 0 };
  const app = apps({ api: 0, console: port, simulator: null, metrics }, env).find(
    ({ name }) => name === 'console',
  );
  if (app === undefined) throw new Error('there is no console among the processes');
  await startApp(processes, app, console.log);
  await ready(app, new AbortController().signal);
  return {
    ids,
    member: await signIn(url, await makeUser(env, '--account', ids.account, '--role', 'admin')),
    operator: await signIn(url, await makeUser(env, '--staff', 'operator')),
  };
}

/**
 * @param {NodeJS.ProcessEnv} env
 * @param {string} databaseUrl
 * @param {number} sends
 * @returns {Promise<Record<string, string> & { account: string }>}
 */
async function fill(env, databaseUrl, sends) {
  const { fillHistory } = await import('@onecode/store/testing'); // needs the build
  const account = await onecode(env, 'account', 'create', '--name', 'Benchmark');
  const add = ['sender', 'add', '--phone-number-id', '106540352242922', '--number', '+15550783881'];
  const sender = await onecode(env, ...add, '--token', 'benchmark');
  const applications = [];
  for (const [name, mode] of [
    ['Shop', 'live'],
    ['App', 'live'],
    ['Trials', 'test'],
  ])
    applications.push(
      await onecode(
        env,
        ...['application', 'create', '--account', account.id, '--name', name, '--mode', mode].map(String),
      ),
    );
  const key = await onecode(env, 'key', 'create', '--application', applications[0].id);
  await fillHistory(databaseUrl, {
    accountId: account.id,
    applications,
    senderId: sender.id,
    sends,
    days: 30,
  });
  return {
    account: account.id,
    target: account.id,
    application: applications[0].id,
    key: key.id,
    sender: sender.id,
  };
}

/**
 * @param {NodeJS.ProcessEnv} env
 * @param {string[]} role
 * @returns {Promise<{ email: string, password: string }>}
 */
async function makeUser(env, ...role) {
  const email = `${randomBytes(6).toString('hex')}@example.com`;
  return onecode(env, 'user', 'create', '--email', email, '--name', 'Benchmark', ...role);
}

/**
 * @param {string} url
 * @param {{ email: string, password: string }} who
 * @returns {Promise<Reader>}
 */
async function signIn(url, { email, password }) {
  const headers = { origin: url, 'content-type': 'application/json' };
  const body = JSON.stringify({ email, password });
  const signedIn = await fetch(`${url}/api/auth/sign-in/email`, { method: 'POST', headers, body });
  const cookie = signedIn.headers
    .getSetCookie()
    .map((line) => line.split(';')[0])
    .join('; ');
  const session = await fetch(`${url}/api/session`, { headers: { cookie } });
  const { csrfToken } = /** @type {{ csrfToken: string }} */ (await session.json());
  return async (method, path, body) => {
    const answer = await fetch(`${url}/api${path}`, {
      method,
      headers: { ...headers, cookie, 'x-csrf-token': csrfToken },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (answer.status !== 200) throw new Error(`${method} ${path} answered ${answer.status}: ${text}`);
    return JSON.parse(text);
  };
}
