import { parseArgs } from 'node:util';

/**
 * @typedef {object} Options
 * @property {string[]} suites
 * @property {number} seconds of one load
 * @property {number} rounds in which those that are compared take turns
 * @property {number} minutes of the load under which memory is looked at
 * @property {number} rows of sends in a second database, which is compared with the empty one; 0 is none
 * @property {string | null} beside a name in git of which a build is measured beside ours; null is none
 * @property {string[]} only measurements whose name holds one of these; none is all
 */

const USAGE = `npm run bench [-- [NAME …] [--seconds 2] [--rounds 3] [--minutes 0.25] [--rows 0] [--beside REF] [--only TEXT …]]`;

/**
 * Reads the command line; ends the process with a line that says how where it cannot.
 * @param {string[]} args
 * @param {string[]} names of the suites
 * @returns {Options}
 */
export function readOptions(args, names) {
  try {
    const { values, positionals } = parseArgs({
      args,
      allowPositionals: true,
      options: {
        seconds: { type: 'string', default: '2' },
        rounds: { type: 'string', default: '3' },
        minutes: { type: 'string', default: '0.25' },
        rows: { type: 'string', default: '0' },
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
      beside: values.beside ?? null,
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
 * @param {number} least
 */
function numberOf(name, text, least) {
  const number = Number(text);
  if (!(number >= least) || !Number.isFinite(number))
    throw new Error(`--${name} must be a number of at least ${least}.`);
  return number;
}
