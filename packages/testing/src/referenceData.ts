import { existsSync, readFileSync } from 'node:fs';
import { describeIf } from './describeIf.js';

/** Reference data of the provider, which may lie beside the repository and is no part of the project. */
const FOLDER = new URL('../../../../shared/whatsapp/', import.meta.url);

const isAvailable = existsSync(FOLDER);

/** `describe` where the reference data is available. Elsewhere the report shows its tests as skipped. */
export const describeWithReference = describeIf(isAvailable);

/** The text of a reference file, or the empty string without the reference data. */
export function reference(name: string): string {
  return isAvailable ? readFileSync(new URL(name, FOLDER), 'utf8') : '';
}
