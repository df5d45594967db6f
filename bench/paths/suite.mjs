import { Redis } from 'ioredis';
import { describeMachine, startService } from '../environment.mjs';
import { openBetterAuth, openExpressPrisma } from '../targets/alternatives.mjs';
import { openBaseline } from '../targets/baseline.mjs';
import { buildRevision, openOnecode, WORKING_TREE } from '../targets/onecode.mjs';
import { measureCreation, measureHalfLoad, measureReceiptPosts, measureRefusals } from './api.mjs';
import { measureRepeats, measureRightGuesses, measureStatus, measureWrongGuesses } from './api.mjs';
import { judge, tablesOf } from './report.mjs';
import { measureRetention } from './retention.mjs';
import { measureFirstMinute, measureGrowth, measureMemory, measureStart } from './resources.mjs';
import {
  measureDelivery,
  measureEndToEnd,
  measureReceiptApplication,
  measureRequestToProvider,
} from './worker.mjs';

/**
 * @typedef {object} Context  everything that takes part
 * @property {import('../environment.mjs').Environment} environment
 * @property {import('../run.mjs').Options} options
 * @property {import('../targets/target.mjs').Target[]} targets Onecode, Onecode with a filled database, another revision, and the baseline
 * @property {import('../targets/alternatives.mjs').Alternative[]} alternatives
 * @property {import('../environment.mjs').Service} provider
 * @property {() => Promise<void>} flushRedis removes the jobs that one measurement leaves to the next
 */

export const goal = 'the hot paths, next to minimal code that does the same and to common alternatives';

/** In this order: the first two leave no sends for the workers of the next ones. */
const MEASUREMENTS =
  /** @type {Record<string, (context: Context) => Promise<import('../statistics.mjs').Row[]>>} */ ({
    'end-to-end': measureEndToEnd,
    'request-to-provider': measureRequestToProvider,
    create: measureCreation,
    'half-load': measureHalfLoad,
    refuse: measureRefusals,
    repeat: measureRepeats,
    status: measureStatus,
    'verify-right': measureRightGuesses,
    'verify-wrong': measureWrongGuesses,
    accept: measureReceiptPosts,
    apply: measureReceiptApplication,
    deliver: measureDelivery,
    retention: measureRetention,
  });

/**
 * @param {import('../environment.mjs').Environment} environment
 * @param {import('../run.mjs').Options} options
 * @returns {Promise<import('../run.mjs').Result>}
 */
export async function measure(environment, options) {
  const machine = await describeMachine(environment);
  console.log(machine.text);
  const redis = new Redis(environment.redisUrl);
  redis.on('error', () => {}); // an interrupt stops the services first
  const context = await openAll(environment, options, async () => void (await redis.flushdb()));
  const isWanted = (/** @type {string} */ name) =>
    options.only.length === 0 || options.only.some((text) => name.includes(text));
  // First, because rows deleted by the others stay in the tables' sizes.
  const growth = isWanted('growth') ? await measureGrowth(context) : null;
  const rows = [];
  /** @type {string[]} */
  const failed = [];
  for (const [name, measureRows] of Object.entries(MEASUREMENTS)) {
    if (!isWanted(name)) continue;
    console.log(`Measuring: ${name}`);
    // One failure must not lose an hour of other measurements.
    rows.push(
      ...(await measureRows(context).catch((/** @type {Error} */ error) => {
        console.error(`${name} failed: ${error.message}`);
        failed.push(`${name} (not measured)`);
        return [];
      })),
    );
    await context.flushRedis();
  }
  const firstMinute = isWanted('first-minute') ? await measureFirstMinute(context) : null;
  const starts = isWanted('start') ? await measureStart(context) : [];
  const memory = isWanted('memory') ? await measureMemory(context) : [];
  await Promise.all(context.targets.map(({ close }) => close()));
  const services = [...context.targets, ...context.alternatives].map(({ api }) => api);
  await Promise.all([...services, context.provider].map((service) => service.stop()));
  redis.disconnect();
  const results = { rows, firstMinute, starts, memory, growth, minutes: options.minutes };
  const goals = judge(results);
  return {
    tables: tablesOf(results, goals),
    missed: [...failed, ...goals.filter(({ met }) => !met).map(({ name }) => name)],
    details: { machine, options, ...results, goals },
  };
}

/**
 * @param {import('../environment.mjs').Environment} environment
 * @param {import('../run.mjs').Options} options
 * @param {() => Promise<void>} flushRedis
 * @returns {Promise<Context>}
 */
async function openAll(environment, options, flushRedis) {
  const before = options.against === null ? null : await buildRevision(environment, options.against);
  console.log('Starting the services, with a thousand accounts each …');
  const targets = [await openOnecode(environment, WORKING_TREE, 'onecode_empty', 0)];
  if (options.rows > 0) {
    console.log(`Filling a database with ${options.rows} sends …`);
    const filled = await openOnecode(environment, WORKING_TREE, 'onecode_filled', options.rows);
    // Marks them as counted and masked, as a worker would have done long ago.
    await filled.pool.query(`update cursors set position = (select id from sends order by id desc limit 1)`);
    targets.push(filled);
  }
  if (before !== null) targets.push(await openOnecode(environment, before, 'onecode_before', 0));
  targets.push(await openBaseline(environment));
  const alternatives = [await openBetterAuth(environment), await openExpressPrisma(environment)];
  const provider = await startService(environment, {
    name: 'provider',
    script: 'bench/provider.mjs',
    env: {},
    readyPath: '/count',
  });
  return { environment, options, targets, alternatives, provider, flushRedis };
}
