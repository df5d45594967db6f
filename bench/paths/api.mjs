import { request } from 'undici';
import { fullLoad, steadyLoad, WARM_UP_SECONDS } from '../load/load.mjs';
import { roundRobin, runConcurrently } from '../scheduling.mjs';
import { compare } from '../statistics.mjs';
import { CODE, creations, guesses, otpSends, statuses, WRONG_CODE } from '../targets/target.mjs';
import { reportsOfUnknownMessages, webhooks } from '../targets/target.mjs';

/** The paths of the API: creations, repeats, statuses, guesses and posts of receipts. */

/**
 * @typedef {import('./suite.mjs').Context} Context
 * @typedef {import('../environment.mjs').Environment} Environment
 * @typedef {import('../environment.mjs').Service} Service
 * @typedef {import('../targets/target.mjs').Target} Target
 * @typedef {import('../load/load.mjs').Request} Request
 */

const KNOWN_SENDS = 1_000;
const CHECKED_SENDS = 5;
const WORKERS = 16;
/** Limited because a fifth wrong guess would lock the send. */
const WRONG_GUESSES = 4;
/** Reports in one webhook. */
const POST_SIZES = [1, 50, 1_000];

/**
 * Creation in live mode by every target and alternative.
 * @param {Context} context
 */
export async function measureCreation({ environment, options, targets, alternatives, flushRedis }) {
  const load = (/** @type {Service} */ api, /** @type {(count: number) => Request[]} */ requests) =>
    fullLoad(environment, endpointOf(api), { requests, after: flushRedis });
  const candidates = [
    ...targets.flatMap(({ name, api, keys }) => [
      { target: name, load: load(api, (count) => creations(keys, count, true)) },
      {
        target: `${name}, one hot account`,
        load: load(api, (count) => creations(keys.slice(0, 1), count, true)),
      },
      {
        target: `${name}, no idempotency key`,
        load: load(api, (count) => creations(keys, count, false)),
      },
    ]),
    ...alternatives.map(({ name, api, keys }) => ({
      target: name,
      load: load(api, (count) => (keys.length > 0 ? creations(keys, count, true) : otpSends(count))),
    })),
  ];
  return compare('create', candidates, options);
}

/**
 * Creations with an invalid recipient: the cost of a refusal, including storing it for its account.
 * @param {Context} context
 */
export async function measureRefusals({ environment, options, targets }) {
  const candidates = targets.map((target) => {
    const requests = creations(target.keys, KNOWN_SENDS, true, () => '+123');
    const load = { requests: () => requests, isRepeatable: true, isRefused: true };
    return candidateOf(environment, target, load);
  });
  return compare('refuse', candidates, options);
}

/**
 * Creation at half of Onecode's full speed, at the same rate for each target.
 * @param {Context} context
 */
export async function measureHalfLoad({ environment, options, targets, flushRedis }) {
  const [onecode] = targets;
  if (onecode === undefined) return [];
  const probe = fullLoad(environment, endpointOf(onecode.api), {
    requests: (count) => creations(onecode.keys, count, true),
    after: flushRedis,
  });
  const perSecond = Math.round((await probe(options.seconds)).perSecond / 2);
  const candidates = targets.map(({ name, api, keys }) => ({
    target: name,
    load: async (/** @type {number} */ seconds) => {
      const run = (/** @type {number} */ ofSeconds) =>
        steadyLoad(environment, endpointOf(api), {
          requests: creations(keys, Math.ceil(perSecond * ofSeconds), true),
          perSecond,
          seconds: ofSeconds,
        });
      await run(WARM_UP_SECONDS);
      const { measurement } = await run(seconds);
      await flushRedis();
      return measurement;
    },
  }));
  return compare('create, half load', candidates, options);
}

/**
 * Repeated creations with the same idempotency keys.
 * @param {Context} context
 */
export async function measureRepeats({ environment, options, targets }) {
  const candidates = [];
  for (const target of targets) {
    const requests = creations(target.keys, KNOWN_SENDS, true);
    const ids = new Set((await sendEach(target, requests)).map(({ id }) => id));
    await expectAnswers(target, requests, ({ id }) => ids.has(id));
    candidates.push(candidateOf(environment, target, { requests: () => requests, isRepeatable: true }));
  }
  return compare('repeat', candidates, options);
}

/** @param {Context} context */
export async function measureStatus({ environment, options, targets }) {
  const candidates = [];
  for (const target of targets) {
    const sends = await target.createSends(KNOWN_SENDS);
    const ids = new Set(sends.map(({ id }) => id));
    const requests = statuses(sends);
    await expectAnswers(target, requests, ({ id, status }) => status === 'queued' && ids.has(id));
    candidates.push(candidateOf(environment, target, { requests: () => requests, isRepeatable: true }));
  }
  return compare('status', candidates, options);
}

/** @param {Context} context */
export async function measureRightGuesses({ environment, options, targets }) {
  for (const target of targets)
    await expectAnswers(
      target,
      guesses(await target.createAcceptedSends(CHECKED_SENDS), CODE),
      ({ valid }) => valid === true,
    );
  const candidates = targets.map((target) =>
    candidateOf(environment, target, {
      requests: async (count) => guesses(await target.createAcceptedSends(count), CODE),
      after: target.clear,
    }),
  );
  return compare('verify, right', candidates, options);
}

/** @param {Context} context */
export async function measureWrongGuesses({ environment, options, targets }) {
  for (const target of targets)
    await expectAnswers(
      target,
      guesses(await target.createAcceptedSends(CHECKED_SENDS), WRONG_CODE),
      ({ valid, attempts_left: left }) => valid === false && left === WRONG_GUESSES,
    );
  const candidates = targets.map((target) =>
    candidateOf(environment, target, {
      async requests(count) {
        const sends = await target.createAcceptedSends(Math.ceil(count / WRONG_GUESSES));
        const wrong = guesses(sends, WRONG_CODE);
        return Array.from({ length: WRONG_GUESSES }, () => wrong).flat();
      },
      after: target.clear,
    }),
  );
  return compare('verify, wrong', candidates, options);
}

/**
 * Receipts, which are stored before their post is answered, by the size of the posts.
 * @param {Context} context
 */
export async function measureReceiptPosts({ environment, options, targets }) {
  const rows = [];
  for (const size of POST_SIZES) {
    const candidates = targets.map((target) =>
      candidateOf(environment, target, {
        requests: (count) => webhooks(reportsOfUnknownMessages(count * size), size, target.secret),
        itemsPerRequest: size,
        after: target.clear,
      }),
    );
    rows.push(...(await compare(`receipts, posts of ${size}`, candidates, options)));
  }
  return rows;
}

/** @param {Service} api */
const endpointOf = (api) => ({ url: api.url, pids: { api: api.pid } });

/**
 * @param {Environment} environment
 * @param {Target} target
 * @param {Parameters<typeof fullLoad>[2]} load
 */
function candidateOf(environment, { name, api }, load) {
  return { target: name, load: fullLoad(environment, endpointOf(api), load) };
}

/**
 * Sends each request once.
 * @param {Target} target
 * @param {readonly Request[]} requests
 * @returns {Promise<any[]>} the answers
 */
function sendEach({ name, api }, requests) {
  return runConcurrently(requests.length, WORKERS, async (index) => {
    const { method, path, headers, body } = roundRobin(requests, index);
    const answer = await request(api.url + path, { method, headers, body: body ?? null });
    if (answer.statusCode >= 300)
      throw new Error(`${name} answered ${answer.statusCode} to ${method} ${path}.`);
    return answer.body.json();
  });
}

/**
 * Checks the answers before the load, because a measurement of wrong answers is useless.
 * @param {Target} target
 * @param {readonly Request[]} requests
 * @param {(answer: any) => boolean} isExpected
 */
async function expectAnswers(target, requests, isExpected) {
  if (!(await sendEach(target, requests)).every(isExpected))
    throw new Error(`${target.name} does not answer as expected.`);
}
