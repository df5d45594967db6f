import { Processes } from '../processes/processes.mjs';
import { prepare } from './prepare.mjs';

/** Prepares the checkout and starts nothing. */
export async function run() {
  const processes = Processes.throwaway();
  try {
    await prepare(processes);
  } finally {
    await processes.stop();
  }
}
