import { spawnSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';

it('the log does not end the process while standard output is a file on a full disk', () => {
  const source = `
    import { createLog } from '@onecode/runtime';
    const log = createLog('test', 'info');
    for (let lines = 0; lines < 20_000; lines++) log.info('x'.repeat(200));
    process.stderr.write(process.memoryUsage().heapUsed < 50_000_000 ? 'runs' : 'keeps all lines');`;
  const full = openSync('/dev/full', 'w');
  const args = ['--input-type=module', '--eval', source];
  const { status, stderr } = spawnSync(process.execPath, args, { stdio: ['ignore', full, 'pipe'] });
  closeSync(full);
  expect([status, stderr.toString()]).toEqual([0, 'runs']);
});
