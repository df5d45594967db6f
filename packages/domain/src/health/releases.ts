/** A migration that removes something older releases need. */
export interface Contract {
  migration: string;
  /** The oldest release that works after it, X.Y.Z; null if only releases that contain the migration do. */
  oldestRelease: string | null;
}

/** Returns the contract of a migration with a name that contains `_contract_` or `_contract_since_X_Y_Z_`; null for all others. */
export function parseContract(migration: string): Contract | null {
  const match = /^\d+_contract(?:_since_(\d+)_(\d+)_(\d+))?_/.exec(migration);
  if (match === null) return null;
  return { migration, oldestRelease: match[1] === undefined ? null : match.slice(1, 4).join('.') };
}

/** A release: its version, X.Y.Z, and the names of its migrations in order. */
export interface Release {
  version: string;
  migrations: readonly string[];
}

/** A process that was seen recently. */
export interface RunningProcess {
  kind: 'api' | 'worker' | 'console';
  release: string;
  /** The newest migration that the process knows. */
  lastMigration: string;
}

/** Compares two versions X.Y.Z: negative if the first is older. */
export const compareReleases = new Intl.Collator('en', { numeric: true }).compare;

/**
 * Returns in one sentence why a release cannot work with a database; null if it can. A newer schema is accepted unless its migrations
 * removed something that this release needs.
 *
 * @param applied names of the applied migrations
 */
export function schemaFault(release: Release, applied: readonly string[]): string | null {
  const [missing, ...others] = release.migrations.filter((name) => !applied.includes(name));
  if (missing !== undefined) {
    const more = others.length === 0 ? '' : `, and ${others.length} more`;
    return `the schema is too old for release ${release.version}: migration ${missing} is missing${more}; run npm run migrate with this release first`;
  }
  const contract = applied
    .filter((name) => !release.migrations.includes(name))
    .flatMap((name) => parseContract(name) ?? [])
    .find(
      ({ oldestRelease }) => oldestRelease === null || compareReleases(release.version, oldestRelease) < 0,
    );
  if (contract === undefined) return null;
  const { migration, oldestRelease } = contract;
  return `the schema is too new for release ${release.version}: migration ${migration} removed something that it needs; run ${
    oldestRelease === null ? 'a newer release' : `release ${oldestRelease} or a newer one`
  }`;
}

/** Returns what contracting migrations would break now, one sentence each. @param seen the releases that have run on this database */
export function contractFaults(
  pending: readonly Contract[],
  processes: readonly RunningProcess[],
  seen: readonly string[],
): string[] {
  return pending.flatMap(({ migration, oldestRelease }) => {
    const works = ({ release, lastMigration }: RunningProcess): boolean =>
      lastMigration >= migration || (oldestRelease !== null && compareReleases(release, oldestRelease) >= 0);
    const isSkipped =
      oldestRelease !== null && !seen.some((release) => compareReleases(release, oldestRelease) >= 0);
    return [
      ...describe(processes.filter((process) => !works(process))).map(
        (who) => `migration ${migration} breaks ${who}: it removes something that they need`,
      ),
      ...(isSkipped
        ? [
            `migration ${migration} skips release ${oldestRelease}, which has never run here: data that only it writes is missing`,
          ]
        : []),
    ];
  });
}

/** Returns the number of processes by kind and release, such as `2 × api of release 0.9.0`. */
function describe(processes: readonly RunningProcess[]): string[] {
  const counts = new Map<string, number>();
  for (const { kind, release } of processes) {
    const who = `${kind} of release ${release}`;
    counts.set(who, (counts.get(who) ?? 0) + 1);
  }
  return [...counts].toSorted(([a], [b]) => a.localeCompare(b)).map(([who, count]) => `${count} × ${who}`);
}
