import { setTimeout as delay } from 'node:timers/promises';
import { join } from 'node:path';
import { root } from '../../scripts/checkout.mjs';
import { fullLoad } from '../load/load.mjs';
import { compare } from '../statistics.mjs';
import { openOnecode, WORKING_TREE } from '../targets/onecode.mjs';
import { creations } from '../targets/target.mjs';

/** Creation while old sends are deleted. */

export const RETENTION = 'create, 64 clients';
export const RETAINING = 'Onecode, while old sends go';
const CONNECTIONS = 64;
/** Less than the age of the old sends, and the minimum of the setting. */
const RETAIN_DAYS = 30;
/** In two seconds, retention deletes so little that no vacuum starts. */
const SECONDS_MIN = 10;
const POLL_MS = 20;
const OLD = `select count(*)::integer as count from sends where created_at < now() - interval '${RETAIN_DAYS} days'`;

/**
 * Measures creation while another process deletes old sends like a worker. That process is restarted for each load.
 * @param {import('./suite.mjs').Context} context
 */
export async function measureRetention({ environment, options, flushRedis }) {
  console.log(`Filling a database with ${options.past} old sends …`);
  const target = await openOnecode(environment, WORKING_TREE, 'onecode_retention', options.past, {
    endedDaysAgo: RETAIN_DAYS + 1,
  });
  const { api, keys, pool, databaseUrl } = target;
  await pool.query('update settings set retain_numbers_days = null, retain_sends_days = $1', [RETAIN_DAYS]);
  const countOld = async () => Number((await pool.query(OLD)).rows[0].count);
  const create = fullLoad(
    environment,
    { url: api.url, pids: { api: api.pid } },
    { requests: (count) => creations(keys, count, true), connections: CONNECTIONS, after: flushRedis },
  );
  const load = (/** @type {number} */ seconds) => create(Math.max(seconds, SECONDS_MIN));

  /** @param {number} seconds */
  const loadMeanwhile = async (seconds) => {
    const before = await countOld();
    const { pid, exited } = await environment.processes.start({
      name: 'retention',
      command: process.execPath,
      args: [join(root, 'apps/cli/dist/main.js'), 'retention', 'run'],
      env: { PATH: process.env['PATH'], DATABASE_URL: databaseUrl },
      stage: 4,
      stop: [['SIGTERM', 500]],
    });
    while ((await countOld()) === before) await delay(POLL_MS);
    const beganAt = performance.now();
    const left = await countOld();
    const measurement = await load(seconds);
    const gone = left - (await countOld());
    console.log(`${gone} old sends were deleted in ${((performance.now() - beganAt) / 1000).toFixed(1)} s.`);
    if (gone === left) throw new Error('No old send is left: give a larger --past.');
    process.kill(pid, 'SIGTERM');
    await exited;
    return measurement;
  };

  const candidates = [
    { target: WORKING_TREE.name, load },
    { target: RETAINING, load: loadMeanwhile },
  ];
  const rows = await compare(RETENTION, candidates, options);
  await api.stop();
  await target.close();
  return rows;
}
