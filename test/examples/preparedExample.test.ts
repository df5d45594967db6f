import { spawn } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { transformSync } from '@swc/core';

const ROOT = resolve(import.meta.dirname, '../..');

/** Prepares the example `shop` with a build that takes its time and notes that it ran. Prints the folder, or why there is none. */
const PROGRAM = `
import { appendFileSync, readFileSync } from 'node:fs';
import { prepareExample } from './preparedExample.js';
const build = (folder) => {
  appendFileSync(process.argv[2], folder + '\\n');
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
  if (readFileSync(folder + '/server.js', 'utf8') === 'broken') throw new Error('no such thing');
};
console.log(await prepareExample({ name: 'shop', build }).catch((error) => error.message));
`;

/** A repository of its own, with one example, an SDK, and the module that is tested. */
let root: string;
beforeEach(() => {
  mkdirSync(join(ROOT, '.data'), { recursive: true });
  root = mkdtempSync(join(ROOT, '.data/prepared-'));
  for (const folder of ['test/examples', 'examples/shop', 'packages/client/dist'])
    mkdirSync(join(root, folder), { recursive: true });
  writeFileSync(join(root, 'examples/shop/server.js'), 'first');
  writeFileSync(join(root, 'packages/client/package.json'), '{}');
  writeFileSync(join(root, 'packages/client/dist/index.js'), '');
  const source = readFileSync(join(ROOT, 'test/examples/preparedExample.ts'), 'utf8');
  const { code } = transformSync(source, {
    jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
    module: { type: 'es6' },
  });
  writeFileSync(join(root, 'test/examples/preparedExample.js'), code);
  writeFileSync(join(root, 'test/examples/program.js'), PROGRAM);
});
afterEach(() => rmSync(root, { recursive: true }));

async function prepare(): Promise<string> {
  const child = spawn(process.execPath, [join(root, 'test/examples/program.js'), join(root, 'builds')]);
  let output = '';
  child.stdout.on('data', (bytes: Buffer) => (output += bytes.toString()));
  child.stderr.on('data', (bytes: Buffer) => (output += bytes.toString()));
  await new Promise((end) => child.once('close', end));
  return output.trim();
}

const builds = (): string[] => readFileSync(join(root, 'builds'), 'utf8').trim().split('\n');

it('builds once for processes that need the example at the same time, and for those that come later', async () => {
  const folders = await Promise.all([prepare(), prepare(), prepare(), prepare()]);
  expect(new Set([...folders, await prepare()])).toEqual(new Set(builds()));
  expect(builds()).toHaveLength(1);
  expect(readFileSync(join(folders[0], 'server.js'), 'utf8')).toBe('first');
});

it('builds anew after a change of the example or of the SDK, beside the old copy', async () => {
  const first = await prepare();
  writeFileSync(join(root, 'examples/shop/server.js'), 'second');
  const second = await prepare();
  writeFileSync(join(root, 'packages/client/dist/index.js'), '// changed');
  expect(new Set([first, second, await prepare()]).size).toBe(3);
  expect(readFileSync(join(first, 'server.js'), 'utf8')).toBe('first');
  expect(readFileSync(join(second, 'server.js'), 'utf8')).toBe('second');
});

it('takes over from a process that was killed while it built', async () => {
  const folder = await prepare();
  const link = folder.replace(/\.\w+$/, '');
  rmSync(link);
  const ended = spawn(process.execPath, ['--version']);
  await new Promise((end) => ended.once('close', end));
  symlinkSync(String(ended.pid), `${link}.lock`);
  expect(await prepare()).not.toBe(folder);
});

it('names the example whose build failed, and leaves nothing of it', async () => {
  writeFileSync(join(root, 'examples/shop/server.js'), 'broken');
  expect(await prepare()).toBe('the shop example could not be built: no such thing');
  expect(readdirSync(join(root, '.cache/examples'))).toEqual([]);
});
