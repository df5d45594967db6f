import { rmSync } from 'node:fs';
import { hurried, readRecord, removeRecord, stopChildren } from './record.mjs';

/**
 * `node guard.mjs FOLDER [--remove]`: waits until the process at the other end of its standard input is gone, however it
 * went, and then stops what that one had left running. With --remove the folder goes too.
 */
const [folder = '', remove] = process.argv.slice(2);

process.stdin.resume().once('end', async () => {
  await stopChildren(hurried(readRecord(folder).children));
  removeRecord(folder);
  if (remove === '--remove') rmSync(folder, { recursive: true, force: true });
  process.exit(0);
});
