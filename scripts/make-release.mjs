import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { root } from './checkout.mjs';
import { reportError, UserError } from './user-error.mjs';

const CHANGELOG = 'CHANGELOG.md';
const PREVIOUS = 'test/rolling/previous-release.json';
/** Files with the version in addition to package.json. The SDK sends it in requests and cannot read its package.json there. */
export const NAMING_FILES = [
  'clients/python/pyproject.toml',
  'packages/client/src/version.ts',
  'deploy/helm/onecode/Chart.yaml',
  'deploy/kubernetes/overlays/production/kustomization.yaml',
  'deploy/kubernetes/overlays/single-node/kustomization.yaml',
  'deploy/prometheus/prometheus.yml',
  'docker-compose.yml',
  'docs/deploy.md',
  'docs/kubernetes.md',
];
const DEPENDENCIES = ['dependencies', 'devDependencies', 'peerDependencies', 'optionalDependencies'];

/**
 * Returns the versions that may follow: the next patch, minor and major.
 * @param {string} version X.Y.Z
 * @returns {string[]}
 */
export function nextVersions(version) {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number);
  return [`${major}.${minor}.${patch + 1}`, `${major}.${minor + 1}.0`, `${major + 1}.0.0`];
}

/**
 * Returns the changelog with the lines of "Unreleased" moved under a version, or null if there are none.
 * @param {string} changelog
 * @param {string} version X.Y.Z
 * @param {string} previous X.Y.Z
 * @param {string} date YYYY-MM-DD
 * @returns {string | null}
 */
export function moveUnreleasedLines(changelog, version, previous, date) {
  const [, before, unreleased, after] =
    /^([^]*?## \[Unreleased\]\n)([^]*?)(\n## \[[^]*)$/.exec(changelog) ?? [];
  if (before === undefined || unreleased === undefined || after === undefined)
    throw new UserError(`${CHANGELOG} has no section "## [Unreleased]" before that of a release.`);
  if (!/^- /m.test(unreleased)) return null;
  return `${before}\n## [${version}] - ${date}\n${unreleased}${after}`.replace(
    /^\[unreleased\]: (.*)v[\d.]+\.\.\.HEAD$/m,
    (_, compare) =>
      `[unreleased]: ${compare}v${version}...HEAD\n[${version}]: ${compare}v${previous}...v${version}`,
  );
}

/**
 * Makes a release: moves the changelog's lines under its version, writes that version into every package.json, the lock file and
 * `NAMING_FILES`, commits, tags the commit `vX.Y.Z`, and in a second commit names it as the release that runs while the next one is
 * deployed. Pushes nothing.
 * @param {string} folder a clean checkout
 * @param {string | undefined} version X.Y.Z, one of `nextVersions`
 * @param {string} date YYYY-MM-DD
 * @returns {string} the tag
 * @throws {UserError} when it cannot be made; nothing has changed then
 */
export function makeRelease(folder, version, date) {
  /** @param {string[]} args */
  const git = (...args) => execFileSync('git', args, { cwd: folder, encoding: 'utf8' }).trim();
  /** @param {string} file */
  const read = (file) => readFileSync(join(folder, file), 'utf8');

  const current = JSON.parse(read('package.json')).version;
  const allowed = nextVersions(current);
  if (version === undefined || !allowed.includes(version))
    throw new UserError(
      `After ${current} comes ${allowed.slice(0, 2).join(', ')} or ${allowed[2]}, such as: npm run release -- ${allowed[1]}`,
    );
  if (git('status', '--porcelain') !== '') throw new UserError('There are uncommitted changes.');
  const tag = `v${version}`;
  if (git('tag', '--list', tag) !== '') throw new UserError(`The tag ${tag} already exists.`);
  const changelog = moveUnreleasedLines(read(CHANGELOG), version, current, date);
  if (changelog === null) throw new UserError(`${CHANGELOG} says nothing under "Unreleased".`);

  writeFileSync(join(folder, CHANGELOG), changelog);
  const packages = ['packages', 'apps', 'examples'].flatMap((parent) =>
    readdirSync(join(folder, parent)).map((name) => `${parent}/${name}`),
  );
  for (const file of ['package.json', ...packages.map((path) => `${path}/package.json`)])
    if (existsSync(join(folder, file))) writeJson(folder, file, withVersion(JSON.parse(read(file)), version));
  for (const file of NAMING_FILES) writeFileSync(join(folder, file), read(file).replaceAll(current, version));
  const lock = JSON.parse(read('package-lock.json'));
  lock.version = version;
  for (const path of ['', ...packages])
    if (lock.packages[path] !== undefined) lock.packages[path] = withVersion(lock.packages[path], version);
  writeJson(folder, 'package-lock.json', lock);
  git('commit', '--quiet', '--all', '--message', `chore: release ${version}`);
  git('tag', '--annotate', tag, '--message', `Release ${version}`);

  writeFileSync(
    join(folder, PREVIOUS),
    `{ "version": "${version}", "commit": "${git('rev-parse', 'HEAD')}" }\n`,
  );
  git('commit', '--quiet', '--all', '--message', `chore: test the next release next to ${version}`);
  return tag;
}

/**
 * Returns a package's manifest with another version, also for its dependencies in this repository.
 * @param {Record<string, any>} manifest
 * @param {string} version
 * @returns {Record<string, any>}
 */
function withVersion(manifest, version) {
  /** @type {Record<string, any>} */
  const result = { ...manifest, ...(manifest.version !== undefined && { version }) };
  for (const kind of DEPENDENCIES)
    if (result[kind] !== undefined)
      result[kind] = Object.fromEntries(
        Object.entries(result[kind]).map(([name, range]) => [
          name,
          name.startsWith('@onecode/') ? version : range,
        ]),
      );
  return result;
}

/**
 * @param {string} folder
 * @param {string} file
 * @param {object} value
 */
function writeJson(folder, file, value) {
  writeFileSync(join(folder, file), `${JSON.stringify(value, null, 2)}\n`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  try {
    const tag = makeRelease(root, process.argv[2], new Date().toISOString().slice(0, 10));
    console.log(`Made ${tag}. Review it, then: git push origin HEAD ${tag}`);
  } catch (error) {
    reportError(error);
    process.exitCode = 1;
  }
