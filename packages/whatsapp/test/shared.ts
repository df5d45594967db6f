import { existsSync, readFileSync } from 'node:fs';

/** Reference data that may lie beside the repository. Nothing of it is part of the project. */
const FOLDER = new URL('../../../../shared/whatsapp/', import.meta.url);

const isHere = existsSync(FOLDER);

/** `describe` where the reference data is present; elsewhere a skip that the test report shows. */
export const describeWithReference = isHere ? describe : describe.skip;

/** A reference file's text, or the empty string where there is no reference data. */
export function reference(name: string): string {
  return isHere ? readFileSync(new URL(name, FOLDER), 'utf8') : '';
}
