import { CLOCK_FAULTS } from './faults/clocks.js';
import type { Fault } from './faults/fault.js';
import { crashPointKills, KILL_FAULTS } from './faults/kills.js';
import { NETWORK_FAULTS } from './faults/network.js';
import { POSTGRES_FAULTS } from './faults/postgres.js';
import { PROVIDER_FAULTS } from './faults/provider.js';
import { REDIS_FAULTS } from './faults/redis.js';
import type { Random } from './load/plan.js';

/** Every fault that the suite can inject. */
const FAULTS: readonly Fault[] = [
  ...KILL_FAULTS,
  ...REDIS_FAULTS,
  ...POSTGRES_FAULTS,
  ...PROVIDER_FAULTS,
  ...NETWORK_FAULTS,
  ...CLOCK_FAULTS,
];

/** The number of other faults between two extra kills. */
const KILLS_EVERY = 8;

/** Every fault in a random order, again and again, with extra kills in between. */
export function* allFaults(random: Random): Generator<Fault, never> {
  for (;;)
    for (const [n, fault] of random.shuffled(FAULTS).entries()) {
      yield fault;
      if (n % KILLS_EVERY === KILLS_EVERY - 1) yield KILL_FAULTS[((n / KILLS_EVERY) % 2) | 0] as Fault;
    }
}

/** Returns the faults with a text in their name. */
export function faultsNamed(text: string): Fault[] {
  return FAULTS.filter(({ name }) => name.includes(text));
}

/** A crash at each of these points leaves work to other processes. The load alone reaches them within seconds. */
const SHORT_CRASH_POINTS = ['api create after commit', 'worker after claim', 'worker after call'];

/** Kills of one API and one worker at three crash points, and a network that loses the answers about commits. */
export function shortFaults(): Fault[] {
  return [
    crashPointKills(SHORT_CRASH_POINTS, 1),
    ...faultsNamed('between API and PostgreSQL: answers lost on the way'),
  ];
}
