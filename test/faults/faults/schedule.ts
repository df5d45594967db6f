import { CLOCKS } from './clocks.js';
import type { Fault } from './fault.js';
import { KILLS } from './kills.js';
import { NETWORK } from './network.js';
import { POSTGRES } from './postgres.js';
import { PROVIDER } from './provider.js';
import { REDIS } from './redis.js';

/** Everything that the suite can break. */
export const FAULTS: readonly Fault[] = [...KILLS, ...REDIS, ...POSTGRES, ...PROVIDER, ...NETWORK, ...CLOCKS];
