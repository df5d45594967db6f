import { readRedisHealth, type Queues } from '@onecode/runtime';
import {
  createHealthReader,
  readAttemptMinutes,
  source,
  type AttemptMinute,
  type Database,
  type ServiceHealth,
} from '@onecode/store';

/** The statistics of the health page. Null means that a source did not answer in time. */
export interface ConsoleHealthStatistics extends ServiceHealth {
  attempts: AttemptMinute[] | null;
}

const CHART_MINUTES = 30;

/** Returns a function that reads all statistics concurrently. People who watch the page at the same time share the answers. */
export function createStatisticsReader({
  database,
  queues,
}: {
  database: Database;
  queues: Queues;
}): () => Promise<ConsoleHealthStatistics> {
  const readHealth = createHealthReader(database, () => readRedisHealth(queues));
  const readAttempts = source(() => readAttemptMinutes(database, CHART_MINUTES));
  return async () => {
    const [health, attempts] = await Promise.all([readHealth(), readAttempts()]);
    return { ...health, attempts };
  };
}
