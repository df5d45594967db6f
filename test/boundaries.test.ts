import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const REFUSED: readonly [path: string, specifier: string, why: string][] = [
  ['packages/domain/src/a.ts', 'node:fs', 'domain is pure'],
  ['packages/domain/src/a.ts', '@onecode/store/sends', 'domain knows no other package'],
  ['packages/domain/src/a.ts', '../../store/src/sends/index.js', 'not even by a path'],
  ['packages/domain/src/sends/a.ts', '../../../store/src/sends/index.js', 'nor from a folder'],
  ['packages/code-samples/src/a.ts', '@onecode/domain', 'code-samples knows no other package'],
  ['packages/code-samples/src/a.ts', 'node:fs', 'code-samples is pure'],
  ['packages/store/src/a.ts', '@onecode/whatsapp', 'store knows domain only'],
  ['packages/store/src/migrate.ts', '@onecode/whatsapp', 'nor does its process'],
  ['packages/store/src/a.ts', 'bullmq', 'store knows no queue'],
  ['packages/store/src/a.ts', 'express', 'store knows no HTTP'],
  ['packages/whatsapp/src/a.ts', '@onecode/store/sends', 'whatsapp knows domain only'],
  ['packages/whatsapp/src/a.ts', 'pg', 'only store knows SQL'],
  ['packages/runtime/src/a.ts', '@onecode/domain', 'runtime knows no sibling'],
  ['packages/runtime/src/a.ts', '@onecode/store/sign-in', 'nor a part of it'],
  ['packages/runtime/src/a.ts', '@prisma/client', 'only store knows Prisma'],
  ['packages/simulator/src/a.ts', '@onecode/whatsapp', 'the simulator knows no sibling'],
  ['packages/client/src/a.ts', '@onecode/domain', 'the SDK imports no other package'],
  ['packages/client/src/a.ts', '../../domain/src/sends/code.js', 'not even by a path'],
  ['packages/client/src/a.ts', 'undici', 'nor any dependency'],
  ['packages/client/src/a.ts', 'node:crypto', 'nor what only Node has'],
  ['packages/client/src/testing/a.ts', '@onecode/domain', 'the test double imports no other package'],
  ['packages/client/src/testing/a.ts', '../../../domain/src/sends/code.js', 'not even by a path'],
  ['packages/client/src/testing/a.ts', 'express', 'nor any dependency'],
  ['apps/api/src/a.ts', '@onecode/worker', 'no app imports an app'],
  ['apps/api/src/a.ts', '../../worker/src/deliver.js', 'not even by a path'],
  ['apps/api/src/routes/a.ts', '../../../worker/src/deliver.js', 'from no depth'],
  [
    'apps/console/src/features/sends/a.ts',
    '../../../../worker/src/deliver.js',
    'from a feature of the console',
  ],
  ['apps/console/web/src/a.ts', '../../src/app.js', 'pages know views only'],
  ['apps/api/src/a.ts', 'pg', 'only store knows SQL'],
  ['apps/worker/src/a.ts', '@prisma/client', 'only store knows Prisma'],
  ['apps/worker/src/a.ts', '@onecode/simulator', 'nothing in production knows the simulator'],
  ['apps/console/src/features/sends/a.ts', '@onecode/simulator', 'from no depth'],
  ['apps/api/src/a.ts', '@onecode/testing', 'nothing in production knows the test environment'],
  ['apps/console/src/features/sends/a.ts', '@onecode/testing/contract', 'nor a part of it'],
  ['packages/store/src/a.ts', '../../testing/src/until.js', 'not even by a path'],
  ['packages/testing/src/a.ts', '@onecode/api', 'no package imports an app'],
  ['packages/testing/src/a.ts', '@prisma/client', 'the builders call store'],
  [
    'packages/testing/src/a.ts',
    '../../store/src/sends/createSend.js',
    'packages are imported by their names',
  ],
  [
    'packages/runtime/test/a.test.ts',
    '../../store/test/sends.js',
    'no test imports the tests of another package',
  ],
  ['apps/console/test/a.test.ts', '../../../test/fuzz/request.js', 'nor the tests of the whole'],
  ['apps/worker/test/a.test.ts', '../../api/src/app.js', 'a test knows the sources of its own workspace'],
  ['apps/worker/test/a.test.ts', 'pg', 'only store and testing know SQL'],
  ['test/fuzz/a.test.ts', '../../apps/api/test/testApi.js', 'what tests share is in testing'],
  ['apps/api/src/a.ts', '@onecode/store/dist/sends/updateSends.js', 'packages are imported by their names'],
];

/**
 * Lints files with one import each, at paths as in this repository. The lint of the repository shows that allowed imports pass.
 * @returns the files that a rule of the boundaries refuses
 */
function refusedFiles(): Set<string> {
  const folder = mkdtempSync(join(tmpdir(), 'onecode-boundaries-'));
  try {
    cpSync('.oxlintrc.json', join(folder, '.oxlintrc.json'));
    REFUSED.forEach(([path, specifier], index) => {
      const file = join(folder, fileOf(path, index));
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, `export * from '${specifier}';\n`);
    });
    const oxlint = join(process.cwd(), 'node_modules/oxlint/bin/oxlint');
    const run = spawnSync(process.execPath, [oxlint, '--format=unix'], { cwd: folder, encoding: 'utf8' });
    const reports = run.stdout.split('\n').filter((line) => line.includes('no-restricted-imports'));
    return new Set(reports.map((line) => line.split(':')[0] as string));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const fileOf = (path: string, index: number): string => path.replace(/a(\.test)?\.ts$/, `a${index}$1.ts`);

describe('the boundaries between packages', () => {
  const refused = refusedFiles();

  it.each(REFUSED.map(([path, specifier, why], index) => ({ path, specifier, why, index })))(
    '$path may not import $specifier: $why',
    ({ path, index }) => {
      expect(refused).toContain(fileOf(path, index));
    },
  );
});

describe('the pages of the console', () => {
  // `import/no-cycle` does not follow an import of `./a.js` to `a.tsx`.
  it('have no circular imports', () => {
    const folder = 'apps/console/web/src';
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
    const imports = new Map(
      files
        .filter((file) => /\.tsx?$/.test(file))
        .map((file) => {
          const specifiers = readFileSync(join(folder, file), 'utf8').matchAll(/ from '(\..+)\.js';$/gm);
          const imported = [...specifiers].map(([, specifier]) => join(dirname(file), specifier!));
          return [file.replace(/\.tsx?$/, ''), new Set(imported)];
        }),
    );
    let left = [...imports.keys()];
    let before: number;
    do {
      before = left.length;
      left = left.filter((file) => left.some((other) => imports.get(file)!.has(other)));
    } while (left.length < before);
    expect(left).toEqual([]);
  });
});
