import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * Unpacks a package of this system, with the dependencies that the system lacks, into a folder. This needs neither root nor a change to the
 * system. It uses the system's package lists or, if that fails, newly downloaded ones, because a container often has no lists, and old
 * lists name deleted packages.
 * @param {string} folder replaced once everything is there
 * @param {string} name of the package
 * @returns {boolean} whether it could be had
 */
export function fetchPackages(folder, name) {
  return unpack(folder, (own, downloads) => {
    /** @param {string[]} options */
    const download = (options) => {
      const plan = apt(['--simulate', '--no-install-recommends', 'install', name], options, downloads);
      const names = plan?.match(/^Inst \S+/gm)?.map((line) => line.slice('Inst '.length));
      return names !== undefined && apt(['download', ...names], options, downloads) !== undefined;
    };
    const ownLists = [...listsIn(own), 'Dir::State::status=/var/lib/dpkg/status'];
    return download([]) || (apt(['update'], ownLists, downloads) !== undefined && download(ownLists));
  });
}

/**
 * Unpacks packages of another release of Debian into a folder, from the address of this system's packages.
 * @param {string} folder replaced once everything is there
 * @param {string} release its code name
 * @param {string[]} names of the packages, with the libraries that they need to run here
 * @returns {boolean} whether they were available
 */
export function fetchReleasePackages(folder, release, names) {
  const source = debianSource();
  if (source === undefined) return false;
  return unpack(folder, (own, downloads) => {
    writeFileSync(join(own, 'sources.list'), `deb [signed-by=${KEYRING}] ${source} ${release} main\n`);
    const options = [
      ...listsIn(own),
      `Dir::Etc::SourceList=${join(own, 'sources.list')}`,
      'Dir::Etc::SourceParts=/dev/null',
    ];
    return (
      apt(['update'], options, downloads) !== undefined &&
      apt(['download', ...names], options, downloads) !== undefined
    );
  });
}

const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg';

/** Returns the address from which this system gets Debian's packages. */
function debianSource() {
  const format = '$(ORIGIN) $(COMPONENT) $(REPO_URI)';
  const { stdout } = spawnSync('apt-get', ['indextargets', '--format', format, 'Created-By: Packages'], {
    encoding: 'utf8',
  });
  return /^Debian main (\S+)$/m.exec(stdout ?? '')?.[1];
}

/**
 * Returns the folders below a folder that contain libraries.
 * @param {string} folder
 * @returns {string[]}
 */
export function librariesIn(folder) {
  const libraries = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.name.includes('.so'))
    .map((entry) => entry.parentPath ?? entry.path);
  return [...new Set(libraries)];
}

/**
 * @param {string} folder
 * @param {(own: string, downloads: string) => boolean} download into the second folder; the first is for its own files
 */
function unpack(folder, download) {
  mkdirSync(dirname(folder), { recursive: true });
  const fresh = mkdtempSync(`${folder}.new-`);
  const own = join(fresh, 'apt');
  for (const part of ['lists/partial', 'cache/archives/partial', 'packages']) {
    mkdirSync(join(own, part), { recursive: true });
  }
  const downloads = join(own, 'packages');
  if (!download(own, downloads)) {
    rmSync(fresh, { recursive: true, force: true });
    return false;
  }
  for (const file of readdirSync(downloads)) {
    execFileSync('dpkg', ['-x', join(downloads, file), fresh], { stdio: 'pipe' });
  }
  rmSync(own, { recursive: true });
  rmSync(folder, { recursive: true, force: true });
  renameSync(fresh, folder);
  return true;
}

/** @param {string} own */
const listsIn = (own) => [`Dir::State=${own}`, `Dir::Cache=${join(own, 'cache')}`];

/**
 * @param {string[]} args
 * @param {string[]} options
 * @param {string} cwd
 * @returns {string | undefined} its output, or undefined when it failed
 */
function apt(args, options, cwd) {
  const always = ['Debug::NoLocking=1', 'Acquire::Retries=1', 'Acquire::http::Timeout=20'];
  const flags = [...always, ...options].flatMap((option) => ['-o', option]);
  const { status, stdout } = spawnSync('apt-get', ['-q', ...flags, ...args], { cwd, encoding: 'utf8' });
  return status === 0 ? stdout : undefined;
}
