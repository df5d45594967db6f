import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { startProcess } from '@onecode/testing';
import { buildRelease, commitOf } from '../../scripts/release.mjs';

const previous = JSON.parse(readFileSync(new URL('previous-release.json', import.meta.url), 'utf8')) as {
  version: string;
  commit: string;
};

/** A build of the release that runs while this one is deployed. */
export interface PreviousRelease {
  /** Ends with a slash. */
  folder: string;
  remove(): Promise<void>;
}

/** Why the previous release cannot be built here, or null when it can. */
export function missingHistory(): string | null {
  if (commitOf(previous.commit) !== null) return null;
  return `test/rolling/previousRelease.test.ts is skipped: release ${previous.version} (${previous.commit.slice(0, 7)}) is not in this copy's git history`;
}

/** Builds the release that `previous-release.json` names, in a temporary folder. */
export async function buildPreviousRelease(): Promise<PreviousRelease> {
  const folder = await buildRelease(previous.commit, tmpdir());
  return { folder: `${folder}/`, remove: () => rm(folder, { recursive: true }) };
}

/** Migrates a database as `npm run migrate` does in a release's folder; '' is this release. @throws when it fails */
export async function migrate(folder: string, url: string): Promise<void> {
  const migration = startProcess(`${folder}packages/store/dist/migrate.js`, { DATABASE_URL: url });
  const { code } = await migration.exited;
  if (code !== 0) throw new Error(migration.output());
}
