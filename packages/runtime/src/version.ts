import { readFileSync } from 'node:fs';

/** The version of this release, as every package.json states it. */
export const VERSION = (
  JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }
).version;

/** The commit that was built, which the build leaves beside the code; null where it could not know. */
export const COMMIT = readCommit();

/** The version with its commit, as build metadata (semver.org, 10). */
export const RELEASE = COMMIT === null ? VERSION : `${VERSION}+${COMMIT}`;

function readCommit(): string | null {
  try {
    return readFileSync(new URL('../dist/commit', import.meta.url), 'utf8') || null;
  } catch {
    return null;
  }
}
