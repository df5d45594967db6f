import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url));
const PACKAGE = fileURLToPath(new URL('../..', import.meta.url));

/** An integrator's project with the files that the README shows, and the built package installed. */
let project: string;
beforeAll(() => {
  project = mkdtempSync(join(tmpdir(), 'onecode-readme-'));
  mkdirSync(join(project, 'node_modules/@onecode'), { recursive: true });
  symlinkSync(PACKAGE, join(project, 'node_modules/@onecode/client'));
  write('package.json', '{ "type": "module" }');
  for (const [name, text] of examples()) write(name, text);
});
afterAll(() => rmSync(project, { recursive: true, force: true }));

const write = (name: string, text: string): void => writeFileSync(join(project, name), text);

/** The code blocks of the README that begin with the name of their file. */
function examples(): Map<string, string> {
  const readme = readFileSync(join(PACKAGE, 'README.md'), 'utf8');
  const blocks = readme.matchAll(/^```js\n\/\/ (\S+\.js)\n(.*?)^```$/gms);
  return new Map([...blocks].map(([, name = '', text = '']) => [name, text]));
}

it('the README’s example passes with node --test, and leaves nothing open', () => {
  const output = execFileSync(process.execPath, ['--test', '--test-reporter=tap', 'signIn.test.js'], {
    cwd: project,
    encoding: 'utf8',
    // The runner of this test must not be taken for that of the example.
    env: { PATH: process.env['PATH'] },
  });
  expect(output).toMatch(/^# pass 5$/m);
  expect(output).toMatch(/^# fail 0$/m);
});

it('the README’s example passes in Jest with the change that the README names', () => {
  const text = examples().get('signIn.test.js') ?? '';
  const imports = "import { after, before, it } from 'node:test';\n";
  expect(text).toContain(imports);
  write(
    'jest.test.js',
    text
      .replace(imports, '')
      .replace(/^before\(/m, 'beforeAll(')
      .replace(/^after\(/m, 'afterAll('),
  );
  write(
    'jest.config.json',
    '{ "transform": {}, "testMatch": ["<rootDir>/jest.test.js"], "watchman": false }',
  );
  const { status, stderr } = spawnSync(
    process.execPath,
    ['--experimental-vm-modules', join(ROOT, 'node_modules/jest/bin/jest.js'), '-i', '--no-cache'],
    { cwd: project, encoding: 'utf8', env: { PATH: process.env['PATH'] } },
  );
  expect(stderr).toMatch(/^Tests: +5 passed, 5 total$/m);
  expect(stderr).not.toContain('did not exit');
  expect(status).toBe(0);
});
