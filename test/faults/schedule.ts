import { crashStorm } from './faults/crashStorm.js';
import { FAMILIES, type Fault } from './faults/fault.js';
import { FAULTS } from './faults/index.js';
import { KILLS } from './faults/kills.js';
import type { Random } from './load/plan.js';

/** Kills come again after so many other faults. */
const KILLS_EVERY = 8;

/** Every fault in an order that the seed gives, again and again, with kills in between. */
export function* everything(random: Random): Generator<Fault, never> {
  for (;;)
    for (const [n, fault] of random.shuffled(FAULTS).entries()) {
      yield fault;
      if (n % KILLS_EVERY === KILLS_EVERY - 1) yield KILLS[((n / KILLS_EVERY) % 2) | 0] as Fault;
    }
}

/** One fault of each family, which the seed picks, and none for longer than `holdMsMax`; the kills are those at crash points. */
export function oneOfEach(random: Random, holdMsMax: number): Fault[] {
  return FAMILIES.map((family) => {
    const fault = family === 'kills' ? crashStorm : random.of(FAULTS.filter((one) => one.family === family));
    return { ...fault, holdMs: Math.min(fault.holdMs, holdMsMax) };
  });
}

/** The faults whose name holds a text, one after another. */
export function named(text: string): Fault[] {
  return FAULTS.filter(({ name }) => name.includes(text));
}
