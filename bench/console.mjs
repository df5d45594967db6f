import { randomBytes } from 'node:crypto';
import { freePort } from '../scripts/services/ports.mjs';
import { apps, onecode, ready, startApp } from '../scripts/start/apps.mjs';

/**
 * @typedef {object} Read  one request of the console's pages
 * @property {string} name
 * @property {string} method
 * @property {string} path below /api
 * @property {object} [body]
 * @property {boolean} isStaff whether only staff may read it
 *
 * @typedef {(method: string, path: string, body?: object) => Promise<any>} Session  answers the JSON; throws unless the status is 200
 */

const SENDS = 100_000;
const ROUNDS = 15;
const MEDIAN_MS_MAX = 300;
const DAY_MS = 86_400_000;

export const goal = `every read of the console answers within ${MEDIAN_MS_MAX} ms, with ${SENDS} sends of one account in 30 days`;

/**
 * Measures everything that the console's pages read, one request after another, as for one person who looks at one page at a time.
 * @param {import('./environment.mjs').Environment} environment
 * @returns {Promise<import('./run.mjs').Result>}
 */
export async function measure(environment) {
  const { ids, member, operator } = await startConsole(environment, SENDS);
  const { sends } = await member('GET', `/accounts/${ids['account']}/sends?status=failed&limit=1`);
  ids['send'] = sends[0].id;
  const rows = [];
  for (const { name, method, path, body, isStaff } of await readsOf(ids)) {
    const session = isStaff ? operator : member;
    const times = [];
    for (let round = 0; round < ROUNDS; round++) {
      const startedAt = performance.now();
      await session(method, path, body);
      times.push(performance.now() - startedAt);
    }
    const sorted = times.toSorted((a, b) => a - b);
    const medianMs = Number(sorted[Math.floor(ROUNDS / 2)]);
    const worstMs = Number(sorted.at(-1));
    rows.push({ name, medianMs, worstMs, met: medianMs <= MEDIAN_MS_MAX });
  }
  return {
    tables: [rows.map(lineOf)],
    missed: rows.filter(({ met }) => !met).map(({ name }) => name),
    details: { rows },
  };
}

/**
 * @param {{ name: string, medianMs: number, worstMs: number, met: boolean }} row
 * @returns {import('./run.mjs').Line}
 */
function lineOf({ name, medianMs, worstMs, met }) {
  const line = { read: name, 'median ms': medianMs.toFixed(1), 'worst ms': worstMs.toFixed(1) };
  return met ? line : { ...line, goal: 'missed' };
}

/**
 * @param {number} days
 * @param {'hour' | 'day'} bucket
 */
const overviewQuery = (days, bucket) =>
  `?${new URLSearchParams({
    from: new Date(Date.now() - days * DAY_MS).toISOString(),
    to: new Date().toISOString(),
    bucket,
    timeZone: 'America/Sao_Paulo',
  })}`;

/** By route: queries that people make and queries that are worst for an index, with their names in the table. */
const QUERIES = /** @type {Record<string, Record<string, string>>} */ ({
  '/accounts/:account/overview': {
    day: overviewQuery(1, 'hour'),
    week: overviewQuery(7, 'day'),
    month: overviewQuery(30, 'day'),
    'month of one locale': `${overviewQuery(30, 'day')}&locale=en`,
  },
  '/accounts/:account/sends': {
    newest: '',
    failed: '?status=failed',
    locked: '?verification=locked',
    expired: '?verification=expired',
    queued: '?status=queued',
    'failed and verified (none)': '?status=failed&verification=verified',
    'test and sent (none)': '?mode=test&status=sent',
    'until two weeks ago': `?to=${new Date(Date.now() - 14 * DAY_MS).toISOString()}`,
  },
  '/accounts/:account/ledger': { newest: '', granted: '?kind=granted', returned: '?kind=returned' },
  '/staff/accounts': { newest: '', found: '?text=Benchmark' },
});

/** Searches are posts: what they look for must not appear in a URL. */
const SEARCHES = [{ path: '/accounts/:account/sends/search', body: { recipient: '+5511960000000' } }];

/**
 * Every read, from the console's own table of routes, so that none is forgotten.
 * @param {Record<string, string>} ids by the names of the routes' parameters
 * @returns {Promise<Read[]>}
 */
async function readsOf(ids) {
  const routes = new URL('../apps/console/dist/routes/index.js', import.meta.url);
  const { ROUTES } = await import(routes.href); // needs the build
  const filled = (/** @type {string} */ path) =>
    path.replaceAll(/:(\w+)/g, (_, /** @type {string} */ name) => ids[name] ?? name);
  const reads = ROUTES.filter((/** @type {{ method: string }} */ { method }) => method === 'get');
  return [
    ...reads.flatMap((/** @type {any} */ { path, access }) =>
      Object.entries(QUERIES[path] ?? { '': '' }).map(([name, query]) => ({
        name: `${path} ${name}`.trim(),
        method: 'GET',
        path: filled(path) + query,
        isStaff: access === 'operator' || access === 'on_call',
      })),
    ),
    ...SEARCHES.map(({ path, body }) => ({
      name: path,
      method: 'POST',
      path: filled(path),
      body,
      isStaff: false,
    })),
  ];
}

/**
 * Starts a console on a filled database.
 * @param {import('./environment.mjs').Environment} environment
 * @param {number} sends of one account
 * @returns {Promise<{ ids: Record<string, string>, member: Session, operator: Session }>}
 */
async function startConsole({ processes, databaseUrl, redisUrl }, sends) {
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
  const ids = await fillDatabase(env, databaseUrl, sends);
  const metrics = { api: 0, worker: 0, console: await freePort(), simulator: 0 };
  const app = apps({ api: 0, console: port, simulator: null, metrics }, env).find(
    ({ name }) => name === 'console',
  );
  if (app === undefined) throw new Error('The console is not among the processes.');
  await startApp(processes, app, console.log);
  await ready(app, new AbortController().signal);
  return {
    ids,
    member: await signIn(url, await createUser(env, '--account', ids.account, '--role', 'admin')),
    operator: await signIn(url, await createUser(env, '--staff', 'operator')),
  };
}

/**
 * Creates an account with applications, a key, a sender and a history.
 * @param {NodeJS.ProcessEnv} env
 * @param {string} databaseUrl
 * @param {number} sends
 * @returns {Promise<Record<string, string> & { account: string }>}
 */
async function fillDatabase(env, databaseUrl, sends) {
  const { fillHistory } = await import('@onecode/testing'); // needs the build
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
async function createUser(env, ...role) {
  const email = `${randomBytes(6).toString('hex')}@example.com`;
  return onecode(env, 'user', 'create', '--email', email, '--name', 'Benchmark', ...role);
}

/**
 * @param {string} url
 * @param {{ email: string, password: string }} user
 * @returns {Promise<Session>}
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
