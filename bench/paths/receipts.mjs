import { setTimeout as delay } from 'node:timers/promises';
import { request } from 'undici';
import { counted, fullLoad } from './loads.mjs';
import { strangeReports, webhooks } from './requests.mjs';
import { compare } from './rounds.mjs';

/** @typedef {import('./suite.mjs').Bench} Bench */

const POST_SIZES = [1, 50, 1_000];
const LOOK_MS = 50;
/** So many are made ready for each second of applying. */
const APPLIED_PER_SECOND = 4_000;
const STATUSES = ['sent', 'delivered', 'read'];

/**
 * Statuses that are stored before their post is answered, by the size of the posts.
 * @param {Bench} bench
 */
export async function accept({ house, options, contenders }) {
  const rows = [];
  for (const size of POST_SIZES) {
    const entries = contenders.map(({ name, api, secret, clear }) => ({
      who: name,
      load: fullLoad(
        house,
        { url: api.url, pids: { api: api.pid } },
        {
          requests: (count) => webhooks(strangeReports(count * size), size, secret),
          each: size,
          after: clear,
        },
      ),
    }));
    rows.push(...(await compare(`receipts, posts of ${size}`, entries, options)));
  }
  return rows;
}

/**
 * How fast a worker applies statuses that were stored: three for each of many sends. The floor applies none.
 * @param {Bench} bench
 */
export function apply({ house, options, contenders, provider }) {
  const entries = contenders
    .filter(({ name }) => name !== 'floor')
    .map((contender) => ({
      who: contender.name,
      load: async (/** @type {number} */ seconds) => {
        await contender.clear();
        const messages = await contender.makeSent(
          Math.ceil((APPLIED_PER_SECOND * seconds) / STATUSES.length),
        );
        const reports = STATUSES.flatMap((status) =>
          messages.map(({ messageId, attemptId }) => ({ id: messageId, attemptId, status })),
        );
        for (const { path, headers, body } of webhooks(reports, 500, contender.secret)) {
          const answer = await request(contender.api.url + path, {
            method: 'POST',
            headers,
            body: body ?? null,
          });
          await answer.body.dump();
          if (answer.statusCode !== 200) throw new Error(`A webhook was answered ${answer.statusCode}.`);
        }
        const worker = await contender.startWorker(provider.url, 50);
        const figure = await watchApplying(house, contender, worker.pid, reports.length);
        await worker.stop();
        await contender.clear();
        return figure;
      },
    }));
  return compare('receipts, applied', entries, options);
}

/**
 * @param {import('../run.mjs').House} house
 * @param {import('./contender.mjs').Contender} contender
 * @param {number} pid of the worker
 * @param {number} total
 * @returns {Promise<import('./rounds.mjs').Figure>}
 */
async function watchApplying(house, { pool }, pid, total) {
  /** @param {number} count */
  const untilAsFew = async (count) => {
    for (;;) {
      const { rows } = await pool.query(
        'select count(*)::integer as left from receipts where due_at is not null',
      );
      if (rows[0].left <= count) return { left: rows[0].left, at: performance.now() };
      await delay(LOOK_MS);
    }
  };
  const first = await untilAsFew(total * 0.9);
  const { played: last, cpuMs } = await counted(house, { url: '', pids: { worker: pid } }, () =>
    untilAsFew(total * 0.05),
  );
  const done = first.left - last.left;
  return {
    perSecond: done / ((last.at - first.at) / 1000),
    medianMs: Number.NaN,
    p99Ms: Number.NaN,
    cpuMs: Object.fromEntries(Object.entries(cpuMs).map(([name, ms]) => [name, ms / done])),
  };
}
