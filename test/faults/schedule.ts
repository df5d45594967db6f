import { CLOCK_FAULTS } from './faults/clocks.js';
import { FAMILIES, type Fault } from './faults/fault.js';
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

/** Every fault in a random order, again and again. */
export function* allFaults(random: Random): Generator<Fault, never> {
  for (;;) yield* random.shuffled(FAULTS);
}

/** A random fault of each family, none for longer than `holdMsMax`. The kills are those at a third of the crash points. */
export function oneOfEachFamily(random: Random, holdMsMax: number): Fault[] {
  return FAMILIES.map((family) => {
    const fault =
      family === 'kills' ? crashPointKills(1 / 3) : random.of(FAULTS.filter((one) => one.family === family));
    return { ...fault, holdMs: Math.min(fault.holdMs, holdMsMax) };
  });
}

/** The faults whose name contains a text. */
export function faultsNamed(text: string): Fault[] {
  return FAULTS.filter(({ name }) => name.includes(text));
}
