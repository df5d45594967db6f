import { mkdtempSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '@onecode/testing';
import { Logs } from '../scripts/processes/logs.mjs';
import { apps } from '../scripts/start/apps.mjs';
import { banner } from '../scripts/start/banner.mjs';
import { addresses, COMMAND_LINE_VARIABLES, type Ports } from '../scripts/start/settings.mjs';
import { Supervisor } from '../scripts/start/supervisor.mjs';

it('npm start gives the command line all variables that the documentation lists', () => {
  const page = readFileSync('docs/configuration.md', 'utf8');
  const [, table] = /^## Command line$([^]*?)^## /m.exec(page)!;
  const listed = new Set(table!.match(/`[A-Z_]+`/g)!.map((name) => name.slice(1, -1)));
  // NUMBER_PEPPER is always set, and the shell names the person and the environment.
  for (const other of ['CODE_PEPPER', 'ONECODE_ACTOR', 'NODE_ENV']) listed.delete(other);
  expect(COMMAND_LINE_VARIABLES.toSorted()).toEqual([...listed].toSorted());
});

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

  /** A process that the test ends. */
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

  it('is not restarted after it fails to start five times in a row, and its message is shown', async () => {
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

it('Logs starts a new file at each start, and keeps the previous one next to it', () => {
  const folder = mkdtempSync(join(tmpdir(), 'onecode-logs-'));
  try {
    for (const text of ['one\ntwo\n', 'three\n']) {
      const logs = new Logs(folder);
      writeSync(logs.open('api'), text);
      // Opened again, as after a restart: it appends.
      writeSync(logs.open('api'), 'end\n');
      expect(logs.tail('api', 2)).toBe(`${text.trim().split('\n').at(-1)}\nend`);
    }
    expect(readFileSync(join(folder, 'logs/api.log'), 'utf8')).toBe('three\nend\n');
    expect(readFileSync(join(folder, 'logs/api.log.1'), 'utf8')).toBe('one\ntwo\nend\n');
  } finally {
    rmSync(folder, { recursive: true });
  }
});

const PORTS = {
  api: 1,
  console: 2,
  simulator: 3,
  mailbox: 4,
  metrics: { api: 5, worker: 6, console: 7, simulator: 8 },
};

describe('npm start', () => {
  it('has an address of this machine only for each process unless HOST is set', () => {
    expect(addresses(PORTS, {})).toMatchObject({ HOST: '127.0.0.1', METRICS_HOST: '127.0.0.1' });
  });

  it.each([
    [undefined, 'localhost', '127.0.0.1', 'any'],
    ['127.0.0.1', 'localhost', '127.0.0.1', 'any'],
    ['127.0.0.2', '127.0.0.2', '127.0.0.2', 'any'],
    ['localhost', 'localhost', 'localhost', 'any'],
    ['::1', '[::1]', '[::1]', 'any'],
    ['0.0.0.0', 'localhost', '127.0.0.1', 'public'],
    ['::', 'localhost', '127.0.0.1', 'public'],
    ['192.0.2.7', '192.0.2.7', '192.0.2.7', 'public'],
    ['2001:db8::7', '[2001:db8::7]', '[2001:db8::7]', 'public'],
    ['onecode.example', 'onecode.example', 'onecode.example', 'public'],
  ])(
    'has addresses for HOST=%s: %s for users, %s for processes, and %s addresses for webhooks',
    (HOST, name, server, events) => {
      const found = addresses(PORTS, { HOST });
      expect(found).toMatchObject({
        BASE_URL: `http://${name}:1`,
        CONSOLE_URL: `http://${name}:2`,
        API_URL: `http://${server}:1`,
        EVENT_ADDRESSES: events,
      });
      const [simulator] = apps(PORTS, found);
      expect(simulator!.env['WEBHOOK_URL']).toBe(`http://${server}:1/webhooks/whatsapp`);
    },
  );

  const printed = (given: { HOST?: string; EVENT_ADDRESSES?: string }, ports: Ports = PORTS): string => {
    const signIn = { email: '', password: '' };
    const people = { member: signIn, operator: signIn, onCall: signIn };
    const [test, live] = ['ak_test_1', 'ak_live_1'].map((key) => ({ application: '', id: '', key }));
    const start = { tookMs: 0, logFolder: null, workerPid: 1 };
    const seed = { account: '', test: test!, live: live!, people };
    return banner(ports, { ...addresses(ports, given), ...given }, seed, start);
  };

  it('prints sends with a new idempotency key each, and how to read the code of the live one', () => {
    const sends = printed({}).match(/^ +curl -s \S+\/v1\/send -H .*$/gm);
    expect(sends).toEqual([expect.stringContaining('ak_test_1'), expect.stringContaining('ak_live_1')]);
    for (const send of sends!) expect(send).toContain('-H "Idempotency-Key: $(openssl rand -hex 16)"');
    expect(printed({})).toContain(
      `curl -sG http://localhost:${PORTS.simulator}/simulator/messages -d limit=1 --data-urlencode 'recipient=+5511987654321'`,
    );
    expect(printed({}, { ...PORTS, simulator: null })).not.toContain('simulator/messages');
  });

  it('warns when other machines reach it and webhooks may go to any address', () => {
    expect(printed({})).not.toMatch(/Network|Warning/);
    expect(printed({ HOST: '0.0.0.0' })).toMatch(/Network.*HOST=0\.0\.0\.0/);
    expect(printed({ HOST: '0.0.0.0' })).not.toContain('Warning');
    expect(printed({ HOST: '0.0.0.0', EVENT_ADDRESSES: 'any' })).toMatch(/Warning.*EVENT_ADDRESSES=any/);
  });
});
