import { existsSync, readFileSync } from 'node:fs';
import { describeIf } from './describeIf.js';

/** Reference data of Meta, which may exist next to the repository but is not part of the project. */
const FOLDER = new URL('../../../../shared/whatsapp/', import.meta.url);

const isAvailable = existsSync(FOLDER);

/** `describe`, or `describe.skip` without the reference data. */
export const describeWithReference = describeIf(isAvailable);

/** Returns the text of a reference file, or the empty string without the reference data. */
export function reference(name: string): string {
  return isAvailable ? readFileSync(new URL(name, FOLDER), 'utf8') : '';
}
