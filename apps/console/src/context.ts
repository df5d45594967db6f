import type { Logger, Queues } from '@onecode/runtime';
import type { Database } from '@onecode/store/client';
import type { ConsoleConfig } from './config.js';
import type { ConsoleHealthStatistics } from './features/health/statistics.js';
import type { Identity } from './auth/identity.js';

/** What the server is built from. */
export interface ConsoleDependencies {
  config: ConsoleConfig;
  database: Database;
  queues: Queues;
  log: Logger;
}

/** What every route gets. */
export interface ConsoleContext extends ConsoleDependencies {
  identity: Identity;
  readHealth: () => Promise<ConsoleHealthStatistics>;
}
