import type { Logger, Queues } from '@onecode/runtime';
import type { Database } from '@onecode/store/client';
import type { CloudApi } from '@onecode/whatsapp/client';
import type { ConsoleConfig } from './config.js';
import type { ConsoleHealthStatistics } from './features/health/statistics.js';
import type { Identity } from './auth/identity.js';

/** The dependencies of the server. */
export interface ConsoleDependencies {
  config: ConsoleConfig;
  database: Database;
  queues: Queues;
  log: Logger;
}

/** The dependencies of every route. */
export interface ConsoleContext extends ConsoleDependencies {
  identity: Identity;
  /** Sets up senders, and sends their test codes. */
  cloudApi: CloudApi;
  readHealth: () => Promise<ConsoleHealthStatistics>;
}
