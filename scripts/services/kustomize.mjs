import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../checkout.mjs';
import { fetchReleasePackages } from './packages.mjs';

/**
 * The command of a Kustomize on this machine: with a folder as last argument, it prints the rendered kustomization.
 * @typedef {{ command: string, args: string[] }} Kustomize
 */

/** A release of Debian that has Kustomize. The program needs only a basic system. */
const RELEASE = 'trixie';
/** The first version that supports `labels`. */
const MAJOR_MIN = 4;

/**
 * Returns a Kustomize from the path, from the kubectl on the path, or from a release of Debian, unpacked into .cache.
 * @returns {Kustomize | null} null where this machine cannot have one
 */
export function findKustomize() {
  const folder = join(root, '.cache', `kustomize-${RELEASE}-${process.arch}`);
  const program = join(folder, 'usr/bin/kustomize');
  const fetched = () => existsSync(program) || fetchReleasePackages(folder, RELEASE, ['kustomize']);
  if (isRecent('kustomize', ['version'])) return { command: 'kustomize', args: ['build'] };
  if (isRecent('kubectl', ['version', '--client'])) return { command: 'kubectl', args: ['kustomize'] };
  return fetched() && isRecent(program, ['version']) ? { command: program, args: ['build'] } : null;
}

/**
 * @param {string} command
 * @param {string[]} args
 */
function isRecent(command, args) {
  const { status, stdout } = spawnSync(command, args, { encoding: 'utf8' });
  if (status !== 0) return false;
  // Debian's build prints `(devel)`. A kubectl that does not print its Kustomize's version has an old one.
  const version = /(?:Kustomize Version: |^)(?:\{?kustomize\/)?v(\d+)\.\d+/m.exec(stdout)?.[1];
  return version === undefined ? stdout.trim() === '(devel)' : Number(version) >= MAJOR_MIN;
}
