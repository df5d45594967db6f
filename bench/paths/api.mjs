import { request } from 'undici';
import { inLanes } from '../lanes.mjs';
import { inTurn } from '../turn.mjs';
import { CODE, WRONG_CODE } from './contender.mjs';
import { fullLoad } from './loads.mjs';
import { creations, guesses, statuses } from './requests.mjs';
import { compare } from './rounds.mjs';

/**
 * @typedef {import('./suite.mjs').Bench} Bench
 * @typedef {import('./contender.mjs').Contender} Contender
 */

const KNOWN = 1_000;
const LANES = 16;
const PROVED = 5;
/** A fifth wrong guess would lock the send. */
const WRONG_GUESSES = 4;

/**
 * Creations that are repeated with their idempotency keys.
 * @param {Bench} bench
 */
export async function repeat({ house, options, contenders }) {
  const entries = [];
  for (const contender of contenders) {
    const requests = creations(contender.keys, KNOWN, true);
    const ids = new Set((await sendOnce(contender, requests)).map(({ id }) => id));
    await prove(contender, requests, ({ id }) => ids.has(id));
    entries.push(entryOf(house, contender, { requests: () => requests, again: true }));
  }
  return compare('repeat', entries, options);
}

/** @param {Bench} bench */
export async function status({ house, options, contenders }) {
  const entries = [];
  for (const contender of contenders) {
    const sends = await contender.makeSends(KNOWN);
    const requests = statuses(sends);
    await prove(
      contender,
      requests,
      ({ id, status }) => status === 'queued' && sends.some((one) => one.id === id),
    );
    entries.push(entryOf(house, contender, { requests: () => requests, again: true }));
  }
  return compare('status', entries, options);
}

/** @param {Bench} bench */
export async function verifyRight({ house, options, contenders }) {
  for (const contender of contenders)
    await prove(contender, guesses(await contender.makeSent(PROVED), CODE), ({ valid }) => valid === true);
  const entries = contenders.map((contender) =>
    entryOf(house, contender, {
      requests: async (count) => guesses(await contender.makeSent(count), CODE),
      after: contender.clear,
    }),
  );
  return compare('verify, right', entries, options);
}

/** @param {Bench} bench */
export async function verifyWrong({ house, options, contenders }) {
  for (const contender of contenders)
    await prove(
      contender,
      guesses(await contender.makeSent(PROVED), WRONG_CODE),
      ({ valid, attempts_left: left }) => valid === false && left === WRONG_GUESSES,
    );
  const entries = contenders.map((contender) =>
    entryOf(house, contender, {
      async requests(count) {
        const wrong = guesses(await contender.makeSent(Math.ceil(count / WRONG_GUESSES)), WRONG_CODE);
        return Array.from({ length: WRONG_GUESSES }, () => wrong).flat();
      },
      after: contender.clear,
    }),
  );
  return compare('verify, wrong', entries, options);
}

/**
 * @param {import('../run.mjs').House} house
 * @param {Contender} contender
 * @param {Parameters<typeof fullLoad>[2]} load
 */
function entryOf(house, { name, api }, load) {
  return { who: name, load: fullLoad(house, { url: api.url, pids: { api: api.pid } }, load) };
}

/**
 * Sends each request once.
 * @param {Contender} contender
 * @param {readonly import('./requests.mjs').Request[]} requests
 * @returns {Promise<any[]>} the answers
 */
function sendOnce({ name, api }, requests) {
  return inLanes(requests.length, LANES, async (place) => {
    const { method, path, headers, body } = inTurn(requests, place);
    const answer = await request(api.url + path, { method, headers, body: body ?? null });
    if (answer.statusCode >= 300)
      throw new Error(`${name} answered ${answer.statusCode} to ${method} ${path}.`);
    return answer.body.json();
  });
}

/**
 * A line of the table is worth nothing if the answers behind it are not what it says: looks at some before the load.
 * @param {Contender} contender
 * @param {readonly import('./requests.mjs').Request[]} requests
 * @param {(answer: any) => boolean} isRight
 */
async function prove(contender, requests, isRight) {
  if (!(await sendOnce(contender, requests)).every(isRight))
    throw new Error(`${contender.name} answers something else than what is measured.`);
}
