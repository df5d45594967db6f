import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

it('the web application can be built in a folder with a space and an accent in its name', () => {
  const folder = mkdtempSync(join(tmpdir(), 'código aberto '));
  try {
    const workspace = join(folder, 'apps/console');
    mkdirSync(workspace, { recursive: true });
    for (const file of ['package.json', 'vite.config.ts'])
      copyFileSync(join('apps/console', file), join(workspace, file));
    // npm installs a package in the root folder or in the workspace.
    for (const modules of ['node_modules', 'apps/console/node_modules'])
      symlinkSync(resolve(modules), join(folder, modules));
    const script = `
      import { loadConfigFromFile } from 'vite';
      const { config } = await loadConfigFromFile({ command: 'build', mode: 'production' }, process.argv[1]);
      console.log(config.root);`;
    const args = ['--input-type=module', '-e', script, join(workspace, 'vite.config.ts')];
    expect(execFileSync(process.execPath, args, { encoding: 'utf8' }).trim()).toBe(join(workspace, 'web'));
  } finally {
    rmSync(folder, { recursive: true });
  }
});
