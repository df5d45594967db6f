import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { startProcess, useTestEnvironment, type StartedProcess } from '@onecode/testing';
import { freePort } from '../scripts/services/ports.mjs';
import { apps, onecode, ready } from '../scripts/start/apps.mjs';
import { addresses } from '../scripts/start/settings.mjs';
import { PROCESS_VARIABLES } from './processVariables.js';

/** The addresses at which a process listens, as Linux writes them: in hexadecimal, each word with its last byte first. */
function listeningAddresses(pid: number): string[] {
  const sockets = new Set(
    readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      try {
        return [/^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1]];
      } catch {
        return []; // it was closed meanwhile
      }
    }),
  );
  return ['tcp', 'tcp6']
    .flatMap((table) => readFileSync(`/proc/${pid}/net/${table}`, 'utf8').trim().split('\n').slice(1))
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , , state, , , , , , socket]) => state === '0A' && sockets.has(socket))
    .map(([, address]) => address!.split(':')[0]!);
}

const [LOOPBACK, OTHER_LOOPBACK, ALL_ADDRESSES] = ['0100007F', '0200007F', '00000000'];
describe('npm start', () => {
  const environment = useTestEnvironment();
  let started: StartedProcess[] = [];
  afterEach(async () => {
    await Promise.all(started.map((process) => process.stop()));
    started = [];
  });

  /** Starts all processes as `npm start` does with this environment. @returns the address of each */
  async function startAll(given: { HOST?: string }): Promise<Record<string, string[]>> {
    const ports = {
      api: await freePort(),
      console: await freePort(),
      simulator: await freePort(),
      mailbox: null,
      metrics: {
        api: await freePort(),
        worker: await freePort(),
        console: await freePort(),
        simulator: await freePort(),
      },
    };
    const all = apps(ports, {
      ...PROCESS_VARIABLES,
      ...addresses(ports, given),
      ...environment.variables,
    });
    started = all.map(({ script, env }) => startProcess(script, env as Record<string, string>));
    const ended = started.map(async (process) => {
      await process.exited;
      throw new Error(`A process ended before it was ready: ${process.output()}`);
    });
    await Promise.race([Promise.all(all.map((app) => ready(app, new AbortController().signal))), ...ended]);
    return Object.fromEntries(
      all.map(({ name }, index) => [name, listeningAddresses(started[index]!.pid).toSorted()]),
    );
  }

  it.each([
    ['127.0.0.2', OTHER_LOOPBACK],
    ['0.0.0.0', ALL_ADDRESSES],
  ])(
    'makes the API and the console listen only at HOST=%s, and everything else only at 127.0.0.1',
    async (HOST, address) => {
      expect(await startAll({ HOST })).toEqual({
        simulator: [LOOPBACK, LOOPBACK],
        api: [LOOPBACK, address].toSorted(),
        worker: [LOOPBACK],
        console: [LOOPBACK, address].toSorted(),
      });
    },
  );

  it('runs commands that write to the audit log under NODE_ENV=production', async () => {
    const { DATABASE_URL } = environment.variables;
    const run = (...args: string[]) => onecode({ DATABASE_URL, NODE_ENV: 'production' }, ...args);
    await run('account', 'create', '--name', 'Demonstration');
    expect(await run('audit', 'list')).toEqual([
      expect.objectContaining({ actor: 'npm start', action: 'account.create' }),
    ]);
  });
});
