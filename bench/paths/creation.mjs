import { fullLoad, pacedLoad } from './loads.mjs';
import { creations, otpSends } from './requests.mjs';
import { compare } from './rounds.mjs';

/** @typedef {import('./suite.mjs').Bench} Bench */

/**
 * Creation in live mode by everybody.
 * @param {Bench} bench
 */
export async function creation({ house, options, contenders, others, forget }) {
  const entries = [
    ...contenders.flatMap(({ name, api, keys }) => {
      const of = (/** @type {string[]} */ keys, /** @type {boolean} */ keyed) =>
        full(house, api, (count) => creations(keys, count, keyed), forget);
      return [
        { who: name, load: of(keys, true) },
        { who: `${name}, one hot account`, load: of(keys.slice(0, 1), true) },
        { who: `${name}, no idempotency key`, load: of(keys, false) },
      ];
    }),
    ...others.map(({ name, api, keys }) => ({
      who: name,
      load: full(
        house,
        api,
        (count) => (keys.length > 0 ? creations(keys, count, true) : otpSends(count)),
        forget,
      ),
    })),
  ];
  return compare('create', entries, options);
}

/**
 * Creation at half of what ours makes at full speed, at the same rate by each.
 * @param {Bench} bench
 */
export async function halfLoad({ house, options, contenders, forget }) {
  const [ours] = contenders;
  if (ours === undefined) return [];
  const probe = full(house, ours.api, (count) => creations(ours.keys, count, true), forget);
  await probe(1);
  const perSecond = Math.round((await probe(options.seconds)).perSecond / 2);
  const entries = contenders.map(({ name, api, keys }) => ({
    who: name,
    load: async (/** @type {number} */ seconds) => {
      const requests = creations(keys, Math.ceil(perSecond * seconds), true);
      const { figure } = await pacedLoad(house, target(api), { requests, perSecond, seconds });
      await forget();
      return figure;
    },
  }));
  return compare('create, half load', entries, options);
}

/** @param {import('./service.mjs').Service} api */
const target = (api) => ({ url: api.url, pids: { api: api.pid } });

/**
 * @param {import('../run.mjs').House} house
 * @param {import('./service.mjs').Service} api
 * @param {(count: number) => import('./requests.mjs').Request[]} requests
 * @param {() => Promise<void>} after
 */
const full = (house, api, requests, after) => fullLoad(house, target(api), { requests, after });
