import type { House } from '../house/house.js';
import type { Random } from '../load/plan.js';

export const FAMILIES = ['kills', 'redis', 'postgres', 'provider', 'network', 'clocks'] as const;
type Family = (typeof FAMILIES)[number];

/** One way to break the house. */
export interface Fault {
  name: string;
  family: Family;
  /** How long it lasts, in milliseconds. */
  holdMs: number;
  /** What `/readyz` has to say once it has lasted a while; absent where it may say either. */
  ready?: { apis?: boolean; workers?: boolean };
  /** What every request that is made meanwhile must come to: an answer in time, even if it is a 500. */
  answers?: 'always';
  inject(house: House, random: Random): Promise<EndFault>;
}

/** Ends a fault; kept when what was broken is whole again. @returns what of the fault could not be done, in words */
export type EndFault = () => Promise<string[] | void>;
