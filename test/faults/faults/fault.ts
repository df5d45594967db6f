import type { FaultCluster } from '../cluster/faultCluster.js';
import type { Random } from '../load/plan.js';

type Family = 'kills' | 'redis' | 'postgres' | 'provider' | 'network' | 'clocks';

/** One fault that the suite can inject into a cluster. */
export interface Fault {
  name: string;
  family: Family;
  /** How long it lasts, in milliseconds. */
  holdMs: number;
  /** Whether `/readyz` must answer 200 once the fault has lasted a while; absent where either is right. */
  ready?: { apis?: boolean; workers?: boolean };
  /** Each recovery may take so long, in milliseconds, where the product waits on purpose. */
  recoveryMs?: number;
  /** Every request must be answered in time, even if with 500. */
  answers?: 'always';
  /** Changes the cluster first, which does not count as the fault. @returns what changes it back once the fault's work is done */
  prepare?(cluster: FaultCluster): Promise<() => Promise<void>>;
  inject(cluster: FaultCluster, random: Random): Promise<EndFault>;
}

/** Ends the fault and waits until the cluster is complete again. @returns what could not be injected, in words */
export type EndFault = () => Promise<string[] | void>;
