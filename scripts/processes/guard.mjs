import { rmSync } from 'node:fs';
import { hurried, readRecord, removeRecord, stopChildren } from './processes.mjs';

/**
 * `node guard.mjs FOLDER [--remove]`: waits until the process at the other end of its standard input has ended, even if it was killed, and
 * then stops the children that it left running. With --remove it removes the folder too.
 */
const [folder = '', remove] = process.argv.slice(2);

process.stdin.resume().once('end', async () => {
  await stopChildren(hurried(readRecord(folder).children));
  removeRecord(folder);
  if (remove === '--remove') rmSync(folder, { recursive: true, force: true });
  process.exit(0);
});
