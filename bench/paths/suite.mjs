import { Redis } from 'ioredis';
import { MAKER } from '../load/play.mjs';
import { creation, halfLoad } from './creation.mjs';
import { deliver, requestToCall } from './delivery.mjs';
import { openFloor } from './floor.mjs';
import { judge } from './goals.mjs';
import { growth } from './growth.mjs';
import { goalLines, growthLines, memoryLines, rowLines, startLines } from './lines.mjs';
import { machine } from './machine.mjs';
import { buildBefore, openOnecode, OURS } from './onecode.mjs';
import { openBetterAuth, openOrdinary } from './others.mjs';
import { memory, starts } from './processes.mjs';
import { repeat, status, verifyRight, verifyWrong } from './reading.mjs';
import { accept, apply } from './receipts.mjs';
import { startService } from './service.mjs';

/**
 * @typedef {object} Bench  all that takes part
 * @property {import('../run.mjs').House} house
 * @property {import('../run.mjs').Options} options
 * @property {import('./contender.mjs').Contender[]} contenders ours, ours with a filled database, ours as it was, and the floor
 * @property {import('./others.mjs').Other[]} others
 * @property {import('./service.mjs').Service} provider
 * @property {() => Promise<void>} forget empties Redis: what one measurement leaves in a queue is none of the next one's
 */

export const goal = 'the hot paths, beside the least code that does the same and what people use today';

const MEASUREMENTS = /** @type {Record<string, (bench: Bench) => Promise<import('./rounds.mjs').Row[]>>} */ ({
  create: creation,
  'half-load': halfLoad,
  repeat,
  status,
  'verify-right': verifyRight,
  'verify-wrong': verifyWrong,
  accept,
  apply,
  deliver,
  'request-to-provider': requestToCall,
});

/**
 * @param {import('../run.mjs').House} house
 * @param {import('../run.mjs').Options} options
 * @returns {Promise<import('../run.mjs').Result>}
 */
export async function measure(house, options) {
  const about = await machine(house);
  console.log(`Load maker: ${MAKER}. ${about.text}`);
  const redis = new Redis(house.redisUrl);
  redis.on('error', () => {}); // whoever interrupts us stops the services first
  const bench = await openAll(house, options, async () => void (await redis.flushdb()));
  const wanted = (/** @type {string} */ name) =>
    options.only.length === 0 || options.only.some((part) => name.includes(part));
  // First of all: what the measurements delete leaves its room behind in the tables.
  const grown = wanted('growth') ? await growth(bench) : null;
  const rows = [];
  for (const [name, measureOne] of Object.entries(MEASUREMENTS)) {
    if (!wanted(name)) continue;
    console.log(`Measuring: ${name}`);
    rows.push(...(await measureOne(bench)));
    await bench.forget();
  }
  const started = wanted('start') ? await starts(bench) : [];
  const used = wanted('memory') ? await memory(bench) : [];
  await Promise.all(bench.contenders.map(({ close }) => close()));
  redis.disconnect();
  const goals = judge({ rows, started, used, grown, minutes: options.minutes });
  return {
    tables: [
      rowLines(rows),
      startLines(started),
      memoryLines(used, options.minutes),
      growthLines(grown),
      goalLines(goals),
    ].filter((lines) => lines.length > 0),
    missed: goals.filter(({ met }) => !met).map(({ what }) => what),
    figures: { loadMaker: MAKER, machine: about, options, rows, started, used, grown, goals },
  };
}

/**
 * @param {import('../run.mjs').House} house
 * @param {import('../run.mjs').Options} options
 * @param {() => Promise<void>} forget
 * @returns {Promise<Bench>}
 */
async function openAll(house, options, forget) {
  const before = options.beside === null ? null : await buildBefore(house, options.beside);
  console.log('Opening the services, with a thousand accounts each …');
  const ours = [await openOnecode(house, OURS, 'onecode_empty', 0)];
  if (options.rows > 0) {
    console.log(`Filling a database with ${options.rows} sends …`);
    ours.push(await openOnecode(house, OURS, 'onecode_filled', options.rows));
  }
  if (before !== null) ours.push(await openOnecode(house, before, 'onecode_before', 0));
  const contenders = [...ours, await openFloor(house)];
  const others = [await openBetterAuth(house), await openOrdinary(house)];
  const provider = await startService(house, {
    name: 'provider',
    script: 'bench/provider.mjs',
    env: {},
    readyPath: '/count',
  });
  return { house, options, contenders, others, provider, forget };
}
