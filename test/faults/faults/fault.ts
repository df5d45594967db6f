import type { FaultCluster } from '../cluster/faultCluster.js';
import type { Random } from '../load/plan.js';

type Family = 'kills' | 'redis' | 'postgres' | 'provider' | 'network' | 'clocks';

/** One fault that the suite can inject into a cluster. */
export interface Fault {
  name: string;
  family: Family;
  /** How long it lasts, in milliseconds. */
  holdMs: number;
  /** Whether `/readyz` must answer 200 some time after the start of the fault; absent if both answers are correct. */
  ready?: { apis?: boolean; workers?: boolean };
  /** Time limit of each recovery in milliseconds, for faults after which the service waits on purpose. */
  recoveryMs?: number;
  /** Every request must be answered in time, even if with 500. */
  answers?: 'always';
  /** Changes the cluster before the fault. @returns a function that reverts the change after the fault */
  prepare?(cluster: FaultCluster): Promise<() => Promise<void>>;
  inject(cluster: FaultCluster, random: Random): Promise<EndFault>;
}

/** Ends the fault and waits until the cluster is complete again. @returns a description of injections that failed */
export type EndFault = () => Promise<string[] | void>;
