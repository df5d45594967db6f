import { contractFaults, type Contract, type RunningProcess } from '@onecode/domain';
import type pg from 'pg';

export class ContractRefused extends Error {
  /** Thrown when a contracting migration would break something. @param faults what it would break, one sentence each */
  constructor(readonly faults: readonly string[]) {
    super(
      `${faults.join('; ')}. Deploy the release in between, or stop the older processes and wait a minute; npm run migrate -- --force migrates anyway`,
    );
  }
}

/** Processes report that they run every five seconds. A process that was silent for longer than this has ended. */
export const SILENT_SECONDS = 60;

/** Returns what contracting migrations would break in this database now, one sentence each. */
export async function findContractFaults(
  client: pg.ClientBase,
  pending: readonly Contract[],
): Promise<string[]> {
  if (pending.length === 0) return [];
  return contractFaults(pending, await runningProcesses(client), await seenReleases(client));
}

async function runningProcesses(client: pg.ClientBase): Promise<RunningProcess[]> {
  const { rows } = await client.query<RunningProcess>(
    `select kind, release, last_migration as "lastMigration" from processes
     where stopped_at is null and seen_at > clock_timestamp() - make_interval(secs => ${SILENT_SECONDS}) order by started_at`,
  );
  return rows;
}

async function seenReleases(client: pg.ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ release: string }>('select distinct release from processes');
  return rows.map(({ release }) => release);
}
