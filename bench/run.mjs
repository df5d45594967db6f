import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Processes } from '../scripts/processes/processes.mjs';
import { root } from '../scripts/checkout.mjs';
import { reportError } from '../scripts/user-error.mjs';
import { startEnvironment } from './environment.mjs';

/**
 * @typedef {object} Options
 * @property {string[]} suites
 * @property {number} seconds of one load
 * @property {number} rounds in which all targets are measured in turn
 * @property {number} minutes of the load under which memory is watched
 * @property {number} rows of sends in a second database, which is compared with the empty one; 0 omits it
 * @property {number} past sends that retention may delete, and those of the simulated year
 * @property {number} flushMs that PostgreSQL's disk takes longer to flush
 * @property {string | null} postgres the folder of another PostgreSQL's `bin`; null is the npm package's
 * @property {string | null} against a git revision that is built and measured next to this one; null is none
 * @property {string[]} only measurements with one of these texts in their name; none is all
 *
 * @typedef {Record<string, string>} Line  a table's cells by column; the first column says what the line is about
 *
 * @typedef {object} Result
 * @property {Line[][]} tables
 * @property {string[]} missed names of the goals that were missed
 * @property {object} details for the JSON file
 */

const USAGE = `npm run bench [-- [NAME …] [--seconds 2] [--rounds 3] [--minutes 0.25] [--rows 0] [--past 1000000] [--flush-ms 0] [--postgres FOLDER] [--beside REF] [--only TEXT …]]`;

/** The suites by name, each with its goal and its measurement. */
const SUITES =
  /** @type {Record<string, () => Promise<{ goal: string, measure: (environment: import('./environment.mjs').Environment, options: Options) => Promise<Result> }>>} */ ({
    fairness: () => import('./fairness.mjs'),
    'low-load': () => import('./lowLoad.mjs'),
    paths: () => import('./paths/suite.mjs'),
    year: () => import('./year.mjs'),
  });

/**
 * Runs all suites of the benchmark or those named, prints their tables and writes the details to `.data/bench/NAME.json`. The exit
 * code is 1 when a goal was missed.
 * @param {string[]} args
 */
export async function run(args) {
  const options = readOptions(args, Object.keys(SUITES));
  const processes = Processes.throwaway();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
    process.on(signal, () => void processes.stop().then(() => process.exit(1)));
  let met = false;
  try {
    const environment = await startEnvironment(processes, options);
    const results = [];
    for (const name of options.suites) results.push(await runSuite(name, environment, options));
    met = results.every(Boolean);
  } catch (error) {
    reportError(error);
  }
  await processes.stop();
  process.exit(met ? 0 : 1);
}

/**
 * Reads the command line. Ends the process with the usage when it cannot be read.
 * @param {string[]} args
 * @param {string[]} names of the suites
 * @returns {Options}
 */
function readOptions(args, names) {
  try {
    const { values, positionals } = parseArgs({
      args,
      allowPositionals: true,
      options: {
        seconds: { type: 'string', default: '2' },
        rounds: { type: 'string', default: '3' },
        minutes: { type: 'string', default: '0.25' },
        rows: { type: 'string', default: '0' },
        past: { type: 'string', default: '1000000' },
        'flush-ms': { type: 'string', default: '0' },
        postgres: { type: 'string' },
        beside: { type: 'string' },
        only: { type: 'string', multiple: true, default: [] },
      },
    });
    const unknown = positionals.filter((name) => !names.includes(name));
    if (unknown.length > 0) throw new Error(`The names are ${names.join(', ')}.`);
    return {
      suites: positionals.length === 0 ? names : positionals,
      seconds: numberOf('seconds', values.seconds, 1),
      rounds: numberOf('rounds', values.rounds, 1),
      minutes: numberOf('minutes', values.minutes, 0.05),
      rows: numberOf('rows', values.rows, 0),
      past: numberOf('past', values.past, 1000),
      flushMs: numberOf('flush-ms', values['flush-ms'], 0),
      postgres: values.postgres ?? null,
      against: values.beside ?? null,
      only: values.only,
    };
  } catch (error) {
    console.error(`${USAGE}\n${/** @type {Error} */ (error).message}`);
    return process.exit(1);
  }
}

/**
 * @param {string} name
 * @param {string} text
 * @param {number} min
 */
function numberOf(name, text, min) {
  const number = Number(text);
  if (!(number >= min) || !Number.isFinite(number))
    throw new Error(`--${name} must be a number of at least ${min}.`);
  return number;
}

/**
 * @param {string} name
 * @param {import('./environment.mjs').Environment} environment
 * @param {Options} options
 * @returns {Promise<boolean>} whether every goal was met
 */
async function runSuite(name, environment, options) {
  const { goal, measure } = await /** @type {() => Promise<any>} */ (SUITES[name])();
  console.log(`\n${name}: ${goal}`);
  const { tables, missed, details } = /** @type {Result} */ (await measure(environment, options));
  for (const lines of tables) console.log(`\n${textOf(lines)}`);
  const folder = join(root, '.data/bench');
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, `${name}.json`),
    JSON.stringify({ at: new Date(), goal, ...details, missed }, null, 2),
  );
  console.log(missed.length === 0 ? '\nEvery goal is met.' : `\n${missed.length} goals are missed.`);
  return missed.length === 0;
}

/**
 * Returns a table as aligned text.
 * @param {readonly Line[]} lines
 * @returns {string}
 */
function textOf(lines) {
  const columns = [...new Set(lines.flatMap((line) => Object.keys(line)))];
  const rows = [Object.fromEntries(columns.map((name) => [name, name])), ...lines];
  const widths = columns.map((name) => Math.max(...rows.map((row) => (row[name] ?? '').length)));
  return rows
    .map((row) =>
      columns
        .map((name, index) => {
          const [cell, width] = [row[name] ?? '', widths[index] ?? 0];
          return index === 0 ? cell.padEnd(width) : cell.padStart(width);
        })
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
