import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Lints these files in a folder of their own. @returns the names of those that the rule against import cycles reports */
function filesInCycles(files: Readonly<Record<string, string>>): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'onecode-cycles-'));
  try {
    cpSync('.oxlintrc.json', join(folder, '.oxlintrc.json'));
    for (const [name, source] of Object.entries(files)) writeFileSync(join(folder, name), source);
    const oxlint = join(process.cwd(), 'node_modules/oxlint/bin/oxlint');
    const run = spawnSync(process.execPath, [oxlint, '--format=unix'], { cwd: folder, encoding: 'utf8' });
    const reports = run.stdout.split('\n').filter((line) => line.includes('no-cycle'));
    return reports.map((line) => line.split(':')[0] as string).toSorted();
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe('the lint rule against import cycles', () => {
  it.each([
    { what: 'values', keyword: 'import' },
    { what: 'types alone', keyword: 'import type' },
  ])('reports files that import $what from each other, over a third one too', ({ keyword }) => {
    const importing = (name: string): string =>
      `${keyword} { Shape } from './${name}.js';\nexport class Shape2 { shape: Shape | null = null }\nexport { Shape2 as Shape };\n`;
    expect(filesInCycles({ 'a.ts': importing('b'), 'b.ts': importing('c'), 'c.ts': importing('a') })).toEqual(
      ['a.ts', 'b.ts', 'c.ts'],
    );
  });

  it('reports no file that is imported twice', () => {
    const files = {
      'a.ts': `export * from './b.js';\nexport * from './c.js';\n`,
      'b.ts': `export { third } from './c.js';\n`,
      'c.ts': `export const third = 3;\n`,
    };
    expect(filesInCycles(files)).toEqual([]);
  });
});
