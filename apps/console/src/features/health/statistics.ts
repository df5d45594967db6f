import { healthFindings, type Finding } from '@onecode/domain';
import type { Queues } from '@onecode/runtime';
import type { Database } from '@onecode/store/client';
import {
  createHealthReader,
  listIncidents,
  readAttemptMinutes,
  recordIncidents,
  source,
  type AttemptMinute,
  type Incident,
  type ServiceHealth,
} from '@onecode/store/operations';

/** The statistics of the health page. Null means that a source did not respond in time. */
export interface ConsoleHealthStatistics extends ServiceHealth {
  attempts: AttemptMinute[] | null;
  findings: Finding[];
  /** Of the last day, latest first. */
  incidents: Incident[] | null;
}

const CHART_MINUTES = 30;

/** Returns a function that reads all statistics concurrently. Simultaneous requests share the results. */
export function createStatisticsReader({
  database,
  queues,
}: {
  database: Database;
  queues: Queues;
}): () => Promise<ConsoleHealthStatistics> {
  const readHealth = createHealthReader(database, () => queues.readHealth());
  const readAttempts = source(() => readAttemptMinutes(database, CHART_MINUTES));
  let findings: Finding[] = [];
  const readIncidents = source(async () => {
    await recordIncidents(database, findings);
    return listIncidents(database);
  });
  return async () => {
    const [health, attempts] = await Promise.all([readHealth(), readAttempts()]);
    findings = healthFindings(health);
    return { ...health, attempts, findings, incidents: await readIncidents() };
  };
}
