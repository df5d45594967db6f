import { takeSignInTry } from '@onecode/store/users';
import type { ConsoleEnvironment } from '../console.js';

/** Counts tries with an address as wrong passwords do. Each real one hashes a password, for a tenth of a second of CPU time. */
export async function addTries({ db }: ConsoleEnvironment, email: string, tries: number): Promise<void> {
  for (let n = 0; n < tries; n += 1) await takeSignInTry(db.database, email);
}
