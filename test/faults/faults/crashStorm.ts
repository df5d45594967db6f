import { startLoop } from '@onecode/runtime';
import { buildSend } from '@onecode/store/testing';
import { until } from '../../harness/until.js';
import { crashPoints } from '../house/crashPoints.mjs';
import type { Handicap, House } from '../house/house.js';
import type { Random } from '../load/plan.js';
import type { Fault } from './fault.js';

/** Every crash point of the built files. */
const POINTS: readonly string[] = crashPoints().map(({ name }) => name);

const STORM_MS_MAX = 150_000;
const FEED_MS = 1_000;

/** Each life of one API and of the workers ends at one of their crash points, until each has had its turn. */
export const crashStorm: Fault = {
  name: 'kill -9 at each crash point in turn',
  family: 'kills',
  holdMs: 0,
  async inject(house, random) {
    // The other API goes on, so that there is work to be killed at.
    const mortal = [random.of(house.apis), ...house.workers];
    const since = house.ends.length;
    const missing = (): string[] => {
      const hit = new Set(house.ends.slice(since).map(({ point }) => point));
      return POINTS.filter((point) => !hit.has(point));
    };
    const names = new Set(mortal.map(({ name }) => name));
    house.handicap = (name) => (names.has(name) ? ordersFor(name, missing(), random) : {});
    const feeding = startLoop(
      () => feed(house),
      FEED_MS,
      () => {},
    );
    for (const one of mortal) one.kill();
    await until('a kill at each crash point', () => missing().length === 0, STORM_MS_MAX).catch(() => {});
    return async () => {
      await feeding.stop();
      house.handicap = () => ({});
      for (const one of mortal) one.kill();
      await house.simulator.clearRules();
      await house.resumeSenders();
      await house.untilUp();
      return missing().map((point) => `nothing came by the crash point “${point}”`);
    };
  },
};

/** The crash points that a process has left to come by, each with the visit at which it kills; the workers share theirs out. */
function ordersFor(process: string, missing: readonly string[], random: Random): Handicap {
  const [kind = '', n = '0'] = process.split(' ');
  const left = missing.filter((point) => point.startsWith(kind));
  const share = left.filter((_, index) => kind !== 'worker' || index % 2 === Number(n));
  const orders = (share.length === 0 ? left : share).map((point) => {
    // A sweep comes by once a second, and these others seldom.
    const nth = /sweep|expire|pause|simulate/.test(point) ? 1 : random.between(1, 3);
    return `${point}=#${nth}${point === 'worker during call' ? `:kill:${random.between(1, 40)}` : ''}`;
  });
  return orders.length === 0 ? {} : { crashPoints: orders.join(',') };
}

/**
 * What the load does not bring by itself: a sender that faults, a send whose deadline has come, and one that waits for a sender.
 * Written with the version, so that no claim of now is written after it.
 */
async function feed(house: House): Promise<void> {
  await house.simulator.clearRules();
  await house.resumeSenders();
  await house.simulator.addRule({ fault: { error: 133010 }, times: 1 });
  await house.simulator.addRule({ fault: { latencyMs: 30 } });
  for (const change of [
    'expires_at = clock_timestamp()',
    'awaiting_sender = true, due_at = expires_at, next_enqueue_at = expires_at',
  ])
    await house.db.sql(
      `update sends set ${change}, version = version + 1 where id = $1 and status = 'queued'`,
      [await buildSend(house.db.database, house.prober)],
    );
}
