import { readFileSync } from 'node:fs';

/** The version of this release, as in every package.json. */
export const VERSION = (
  JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }
).version;

/** The commit of this build, from a file that the build writes next to the code; null if the build did not know it. */
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
