/**
 * @typedef {object} Address
 * @property {string} what
 * @property {string} method
 * @property {string} path below /api
 * @property {object} [body]
 * @property {boolean} staff
 */

const DAY_MS = 86_400_000;

/**
 * @param {number} days
 * @param {'hour' | 'day'} bucket
 */
const overviewOf = (days, bucket) =>
  `?${new URLSearchParams({
    from: new Date(Date.now() - days * DAY_MS).toISOString(),
    to: new Date().toISOString(),
    bucket,
    timeZone: 'America/Sao_Paulo',
  })}`;

/** What people ask of the routes that take a query, and what is worst for an index: by a name for the table. */
const QUERIES = /** @type {Record<string, Record<string, string>>} */ ({
  '/accounts/:account/overview': {
    day: overviewOf(1, 'hour'),
    week: overviewOf(7, 'day'),
    month: overviewOf(30, 'day'),
    'month of one locale': `${overviewOf(30, 'day')}&locale=en`,
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
  '/operations/accounts': { newest: '', found: '?text=Benchmark' },
});

/** Reads that are posts, because what they look for may not stand in an address. */
const SEARCHES = [{ path: '/accounts/:account/sends/search', body: { recipient: '+5511960000000' } }];

/**
 * Every route that reads, from the console's own table, so that none is forgotten.
 * @param {Record<string, string>} ids by the names of the routes' parameters
 * @returns {Promise<Address[]>}
 */
export async function addressesOf(ids) {
  const routes = new URL('../../apps/console/dist/routes/index.js', import.meta.url);
  const { ROUTES } = await import(routes.href); // needs the build
  const filled = (/** @type {string} */ path) =>
    path.replaceAll(/:(\w+)/g, (_, /** @type {string} */ name) => ids[name] ?? name);
  const reads = ROUTES.filter((/** @type {{ method: string }} */ { method }) => method === 'get');
  return [
    ...reads.flatMap((/** @type {any} */ { path, access }) =>
      Object.entries(QUERIES[path] ?? { '': '' }).map(([name, query]) => ({
        what: `${path} ${name}`.trim(),
        method: 'GET',
        path: filled(path) + query,
        staff: access === 'operator' || access === 'on_call',
      })),
    ),
    ...SEARCHES.map(({ path, body }) => ({
      what: path,
      method: 'POST',
      path: filled(path),
      body,
      staff: false,
    })),
  ];
}
