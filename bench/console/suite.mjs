import { addressesOf } from './addresses.mjs';
import { openHouse } from './house.mjs';

const SENDS = 100_000;
const ROUNDS = 15;
const MEDIAN_MS_MAX = 300;

export const goal = `every read of the console answers within ${MEDIAN_MS_MAX} ms, with ${SENDS} sends of one account in 30 days`;

/**
 * Reads everything that the console's pages read, one after the other, as somebody who looks at one page at a time.
 * @param {import('../run.mjs').House} house
 * @returns {Promise<import('../run.mjs').Result>}
 */
export async function measure(house) {
  const { ids, member, operator } = await openHouse(house, SENDS);
  const { sends } = await member('GET', `/accounts/${ids['account']}/sends?status=failed&limit=1`);
  ids['send'] = sends[0].id;
  const rows = [];
  for (const { what, method, path, body, staff } of await addressesOf(ids)) {
    const reader = staff ? operator : member;
    const times = [];
    for (let round = 0; round < ROUNDS; round++) {
      const beganAt = performance.now();
      await reader(method, path, body);
      times.push(performance.now() - beganAt);
    }
    const sorted = times.toSorted((a, b) => a - b);
    const medianMs = Number(sorted[Math.floor(ROUNDS / 2)]);
    const worstMs = Number(sorted.at(-1));
    rows.push({ what, medianMs, worstMs, met: medianMs <= MEDIAN_MS_MAX });
  }
  return {
    tables: [rows.map(lineOf)],
    missed: rows.filter(({ met }) => !met).map(({ what }) => what),
    figures: { rows },
  };
}

/**
 * @param {{ what: string, medianMs: number, worstMs: number, met: boolean }} row
 * @returns {import('../table.mjs').Line}
 */
function lineOf({ what, medianMs, worstMs, met }) {
  const line = { read: what, 'median ms': medianMs.toFixed(1), 'worst ms': worstMs.toFixed(1) };
  return met ? line : { ...line, goal: 'missed' };
}
