import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { SCRIPT_COMMANDS } from '../src/redis/check.js';

/** The folder of the Lua scripts in the release of BullMQ that is installed. */
const scripts = join(dirname(createRequire(import.meta.url).resolve('bullmq')), '../esm/scripts');

it('the check of Redis tries every command that a script of BullMQ calls', () => {
  const called = readdirSync(scripts)
    .filter((name) => name.endsWith('.js'))
    .flatMap((name) => [
      ...readFileSync(join(scripts, name), 'utf8').matchAll(/\b(?:rcall|redis\.p?call)\(\s*["'](\w+)["']/g),
    ])
    .map(([, command]) => command!.toLowerCase());
  expect(called.length).toBeGreaterThan(100);
  const tried = new Set(SCRIPT_COMMANDS.map(([command]) => command));
  expect([...new Set(called)].filter((command) => !tried.has(command)).toSorted()).toEqual([]);
});
