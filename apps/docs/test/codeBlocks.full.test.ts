import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describeIf } from '@onecode/testing';
import { GROUPS } from '../src/navigation.js';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const DIST = fileURLToPath(new URL('../dist/', import.meta.url));
const CHECK_MS_MAX = 180_000;

interface Block {
  page: string;
  language: string;
  /** The text after the language, or the line above a block that was behind a tab. */
  label: string;
  code: string;
}

/** Every block of every page; both languages have the same. */
const blocks: Block[] = GROUPS.flatMap(({ pages }) => pages).flatMap(([path]) => {
  const page = path.replace(/\/$/, '/index');
  const text = readFileSync(join(DIST, `${page}.md`), 'utf8');
  return [...text.matchAll(/(?:^(.*):\n\n)?^```(\S+)(.*)\n([\s\S]*?)^```$/gm)].map(
    ([, label = '', language = '', more = '', code = '']) => ({
      page,
      language,
      label: more.trim() || label,
      code,
    }),
  );
});
const of = (...languages: string[]): Block[] => blocks.filter(({ language }) => languages.includes(language));

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'onecode-blocks-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const isHere = (command: string): boolean => spawnSync(command, ['--version']).error === undefined;

/** Runs a checker on a file with a block. @returns its complaints */
function check(block: Block, name: string, command: string, ...args: string[]): string {
  const own = mkdtempSync(join(folder, 'block-'));
  const file = join(own, name);
  writeFileSync(file, block.code);
  const { status, stdout, stderr } = spawnSync(command, [...args, file], { cwd: own, encoding: 'utf8' });
  return status === 0 ? '' : `${block.page}: ${stdout}${stderr}`;
}

it('every code block is in a known language', () => {
  const known = new Set([
    'ts',
    'json',
    'sh',
    'python',
    'php',
    'go',
    'java',
    'http',
    'text',
    'yaml',
    'dockerfile',
    'html',
    'xml',
    'jsonnet',
  ]);
  expect(blocks.filter(({ language }) => !known.has(language))).toEqual([]);
  for (const language of ['ts', 'sh', 'json', 'python', 'php', 'go', 'java'])
    expect(of(language).length).toBeGreaterThan(3);
});

it('JSON blocks are valid JSON', () => {
  for (const { code } of of('json')) expect(() => JSON.parse(code) as unknown).not.toThrow();
});

// Blocks in other languages are samples of the reference, which apps/api/test/guides.full.test.ts runs.
describe.each([
  ['sh', 'a.sh', 'sh', '-n'],
  ['python', 'a.py', 'python3', '-m', 'py_compile'],
])('a block of %s', (language, file, command, ...args) => {
  describeIf(isHere(command))(`if ${command} is installed`, () => {
    it('is well-formed', () => {
      const complaints = of(language).map((block) => check(block, file, command, ...args));
      expect(complaints.filter(Boolean)).toEqual([]);
    });
  });
});

const SDK = join(ROOT, 'packages/client/src');
describeIf(existsSync(SDK))('if the SDK is present', () => {
  it(
    'blocks of TypeScript compile against the types of the SDK, in strict mode',
    () => {
      const checked = of('ts').filter(({ label }) => !label.startsWith('no-check'));
      const own = mkdtempSync(join(folder, 'ts-'));
      const files = checked.map(({ page, label, code }, index) => {
        // Other blocks may import a block with a file name.
        const name = /^\[?([\w.]+\.ts)\]?$/.exec(label)?.[1] ?? `block${index}.ts`;
        const file = join(own, page, name);
        mkdirSync(dirname(file), { recursive: true });
        writeFileSync(file, code);
        return file;
      });
      writeFileSync(
        join(own, 'tsconfig.json'),
        JSON.stringify({
          extends: join(ROOT, 'tsconfig.base.json'),
          compilerOptions: {
            composite: false,
            declaration: false,
            declarationMap: false,
            noEmit: true,
            lib: ['es2023', 'dom', 'dom.iterable'],
            // A page may use the files of another page.
            rootDirs: [...new Set(files.map(dirname))],
            typeRoots: [join(ROOT, 'node_modules/@types')],
            types: ['node'],
            paths: {
              '@onecode/client': [join(SDK, 'index.ts')],
              '@onecode/client/testing': [join(SDK, 'testing/index.ts')],
              'better-auth': [join(ROOT, 'apps/console/node_modules/better-auth/dist/index.d.mts')],
              'better-auth/plugins': [
                join(ROOT, 'apps/console/node_modules/better-auth/dist/plugins/index.d.mts'),
              ],
              express: [join(ROOT, 'node_modules/@types/express/index.d.ts')],
              standardwebhooks: [join(ROOT, 'node_modules/standardwebhooks/dist/index.d.ts')],
              'libphonenumber-js': [join(ROOT, 'node_modules/libphonenumber-js/index.d.ts')],
            },
          },
          files,
        }),
      );
      writeFileSync(join(own, 'package.json'), '{"type":"module"}');
      const { stdout } = spawnSync(
        process.execPath,
        [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', own],
        {
          encoding: 'utf8',
        },
      );
      expect(
        stdout.split('\n').filter((line) => line.includes(`${basename(own)}/`) || line.startsWith('error')),
      ).toEqual([]);
    },
    CHECK_MS_MAX,
  );
});
