import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const OPTIONS =
  '--ignoreConfig --noEmit --strict --skipLibCheck --pretty false --module nodenext --target es2022';

/** Returns the faults that TypeScript finds in a module. The module is written next to `node_modules` so that imports resolve. */
export function typeFaults(source: string): string[] {
  const parent = 'node_modules/.cache';
  mkdirSync(parent, { recursive: true });
  const folder = mkdtempSync(join(parent, 'types-'));
  const file = join(folder, 'source.mts');
  writeFileSync(file, source);
  const args = ['node_modules/typescript/bin/tsc', ...OPTIONS.split(' '), file];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  rmSync(folder, { recursive: true });
  const faults = stdout.split('\n').filter((line) => /error TS\d+/.test(line));
  if (status !== 0 && faults.length === 0) throw new Error(`the types cannot be checked: ${stderr}`);
  return faults;
}
