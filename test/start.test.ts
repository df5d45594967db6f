import { mkdtempSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '@onecode/testing';
import { Logs } from '../scripts/processes/logs.mjs';
import { Supervisor } from '../scripts/start/supervisor.mjs';

describe('a process that ends by itself', () => {
  const end = new AbortController();
  afterAll(() => end.abort());

  function supervise() {
    const lines: string[] = [];
    const errors: Error[] = [];
    const supervisor = new Supervisor({
      signal: end.signal,
      log: (line) => lines.push(line),
      giveUp: (error) => errors.push(error),
      firstPauseMs: 1,
    });
    return { supervisor, lines, errors };
  }

  /** A process whose end the test decides. */
  function startedProcess() {
    let exit = (_how: string): void => {};
    const exited = new Promise<string>((resolve) => (exit = resolve));
    return { started: { name: 'worker', pid: 1, exited }, exit };
  }

  it('is started again, and each step is logged', async () => {
    const { supervisor, lines, errors } = supervise();
    const [first, second] = [startedProcess(), startedProcess()];
    supervisor.watch(first.started, () => Promise.resolve(second.started));
    first.exit('SIGKILL');
    await until('the start', () => lines.length === 2);
    expect(lines).toEqual([
      'The worker process ended (SIGKILL): it starts again.',
      'The worker process is ready again.',
    ]);
    expect(errors).toEqual([]);
  });

  it('is given up with its own message when it fails to start five times in a row', async () => {
    const { supervisor, lines, errors } = supervise();
    const { started, exit } = startedProcess();
    let starts = 0;
    supervisor.watch(started, () => {
      starts += 1;
      return Promise.reject(new Error('port 3000 is in use'));
    });
    exit('exit code 1');
    await until('the end', () => errors.length === 1);
    expect(starts).toBe(5);
    expect(errors[0]!.message).toBe(
      'port 3000 is in use\nThe worker process failed to start 5 times in a row.',
    );
    expect(lines.at(-1)).toBe('The worker process failed to start (4 of 5 times).');
  });
});

it("a log begins anew with each start, and the earlier one's is kept beside it", () => {
  const folder = mkdtempSync(join(tmpdir(), 'onecode-logs-'));
  try {
    for (const text of ['one\ntwo\n', 'three\n']) {
      const logs = new Logs(folder);
      writeSync(logs.open('api'), text);
      // Opened again, as after a restart: it goes on.
      writeSync(logs.open('api'), 'end\n');
      expect(logs.tail('api', 2)).toBe(`${text.trim().split('\n').at(-1)}\nend`);
    }
    expect(readFileSync(join(folder, 'logs/api.log'), 'utf8')).toBe('three\nend\n');
    expect(readFileSync(join(folder, 'logs/api.log.1'), 'utf8')).toBe('one\ntwo\nend\n');
  } finally {
    rmSync(folder, { recursive: true });
  }
});
