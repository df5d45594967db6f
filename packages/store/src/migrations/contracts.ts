import { contractFaults, type Contract, type RunningProcess } from '@onecode/domain';
import type pg from 'pg';

/** A contracting migration was refused. */
export class ContractRefused extends Error {
  /** @param faults what it would break, a sentence each */
  constructor(readonly faults: readonly string[]) {
    super(
      `${faults.join('; ')}. Deploy the release in between, or stop what is too old and wait a minute; npm run migrate -- --force goes on all the same`,
    );
  }
}

/**
 * What a migration with the line `-- contract: [since X.Y.Z: ]<why>` takes away; null for all others. The version is the oldest release
 * that no longer needs it.
 */
export function contractOf({ name, sql }: { name: string; sql: string }): Contract | null {
  const match = /^-- contract: +(?:since (\d+\.\d+\.\d+): +)?(\S.*)$/m.exec(sql);
  return match === null ? null : { migration: name, oldestRelease: match[1] ?? null, reason: match[2]! };
}

/** A process that was silent for longer does not run any more: it tells of itself every ten seconds. */
export const SILENT_SECONDS = 60;

/** What contracting migrations would break in this database now, a sentence each. */
export async function findContractFaults(client: pg.Client, pending: readonly Contract[]): Promise<string[]> {
  if (pending.length === 0) return [];
  return contractFaults(pending, await runningProcesses(client), await seenReleases(client));
}

async function runningProcesses(client: pg.Client): Promise<RunningProcess[]> {
  const { rows } = await client.query<RunningProcess>(
    `select kind, release, last_migration as "lastMigration" from processes
     where stopped_at is null and seen_at > clock_timestamp() - make_interval(secs => ${SILENT_SECONDS}) order by started_at`,
  );
  return rows;
}

async function seenReleases(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ release: string }>('select release from releases');
  return rows.map(({ release }) => release);
}

/** Notes that a contracting migration is applied, so that processes can tell. */
export async function recordContract(client: pg.Client, contract: Contract): Promise<void> {
  await client.query(
    `insert into schema_contracts (migration_name, oldest_release, reason) values ($1, $2, $3) on conflict do nothing`,
    [contract.migration, contract.oldestRelease, contract.reason],
  );
}
