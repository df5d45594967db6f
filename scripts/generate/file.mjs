import { readFileSync } from 'node:fs';

/**
 * A file's text; null when there is no such file.
 * @param {string} file
 */
export function readIfAny(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}
