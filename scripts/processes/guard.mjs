import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { hurried, readRecord, removeRecord, stopChildren } from './processes.mjs';

/**
 * `node guard.mjs FOLDER [--remove]`: waits until the process at the other end of its standard input has ended, even if it was killed, and
 * then stops the children that it left running. With --remove it removes the folder too.
 */
const [folder = '', remove] = process.argv.slice(2);

process.stdin.resume().once('end', async () => {
  await stopChildren(hurried(readRecord(folder).children));
  removeRecord(folder);
  // Otherwise the command line would use addresses at which nothing listens.
  rmSync(join(folder, 'environment.json'), { force: true });
  if (remove === '--remove') rmSync(folder, { recursive: true, force: true });
  process.exit(0);
});
