import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { bodyOf, closeAll, SENDER, startReceiver, until } from './sending.js';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url));

const running: ChildProcess[] = [];

beforeAll(() => {
  const built = spawnSync(process.execPath, ['node_modules/typescript/bin/tsc', '-b', 'packages/simulator'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  if (built.status !== 0) throw new Error(built.stdout);
}, 120_000);

afterEach(async () => {
  for (const child of running.splice(0)) child.kill('SIGKILL');
  await closeAll();
});

/** Starts the process with this environment and nothing else of ours. */
function run(env: Record<string, string>) {
  const child = spawn(process.execPath, [MAIN], { env: { PATH: process.env['PATH'] ?? '', ...env } });
  running.push(child);
  const output = { out: '', err: '', exit: undefined as number | null | undefined };
  child.stdout.on('data', (chunk: Buffer) => (output.out += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output.err += chunk.toString()));
  child.on('exit', (code) => (output.exit = code));
  return { child, output };
}

const GOOD = { PORT: '0', WHATSAPP_APP_SECRET: 'planted-secret', WEBHOOK_URL: 'http://127.0.0.1:9/' };

describe('the process', () => {
  it('prints one line with its addresses, is alive and ready on both ports, and simulates', async () => {
    const receiver = await startReceiver();
    const { child, output } = run({
      ...GOOD,
      METRICS_PORT: '0',
      WEBHOOK_URL: receiver.url,
      WHATSAPP_VERIFY_TOKEN: 'planted-token',
      SENT_DELAY_MS: '0',
      DELIVERED_DELAY_MS: '10',
      READ_DELAY_MS: '20',
    });
    await until(() => output.out.includes('\n'));
    const line = /^simulator ready: (http:\S+), health: (http:\S+)\n$/.exec(output.out);
    expect(line).not.toBeNull();
    const [, url, metrics] = line!;
    for (const address of [url, metrics])
      for (const path of ['livez', 'readyz']) expect((await fetch(`${address}/${path}`)).status).toBe(200);

    const answer = await fetch(`${url}/v25.0/${SENDER}/messages`, {
      method: 'POST',
      headers: { Authorization: 'Bearer planted-bearer', 'Content-Type': 'application/json' },
      body: JSON.stringify(bodyOf()),
    });
    expect(answer.status).toBe(200);
    await until(() => receiver.words.length === 3);
    expect(receiver.words).toEqual(['sent', 'delivered', 'read']);
    expect(receiver.handshakes[0]!.get('hub.verify_token')).toBe('planted-token');
    expect((await fetch(`${url}/`)).headers.get('content-type')).toContain('text/html');

    child.kill('SIGTERM');
    await until(() => output.exit !== undefined);
    expect(output.exit).toBe(0);
    expect(output.out + output.err).not.toMatch(/planted|wamid|042913|98765/);
  });

  it.each(['SIGTERM', 'SIGINT'] as const)(
    'stops on %s with exit code 0 while requests hang',
    async (signal) => {
      const { child, output } = run(GOOD);
      await until(() => output.out.includes('\n'));
      const url = /http:\S+/.exec(output.out)![0];
      await fetch(`${url}/simulator/rules`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: '{"fault":{"hang":true}}',
      });
      const hung = fetch(`${url}/v25.0/${SENDER}/messages`, {
        method: 'POST',
        headers: { Authorization: 'Bearer t', 'Content-Type': 'application/json' },
        body: JSON.stringify(bodyOf()),
      }).catch(() => 'cut');
      const page = await fetch(`${url}/simulator/events`);
      let requests: { outcome: string }[] = [];
      while (requests[0]?.outcome !== 'hung')
        requests = (await (await fetch(`${url}/simulator/requests`)).json()) as { outcome: string }[];
      child.kill(signal);
      await until(() => output.exit !== undefined);
      expect(output.exit).toBe(0);
      expect(await hung).toBe('cut');
      await page.body?.cancel().catch(() => undefined);
    },
  );

  it('says in one line for each fault what is wrong with its environment, without its secrets', async () => {
    const { output } = run({
      PORT: '70000',
      METRICS_PORT: 'some',
      WEBHOOK_URL: 'ftp://planted-place/',
      SENT_DELAY_MS: '-1',
    });
    await until(() => output.exit !== undefined);
    expect(output.exit).toBe(1);
    expect(output.err.split('\n').toSorted()).toEqual([
      '',
      'simulator: METRICS_PORT must be an integer from 0 to 65535',
      'simulator: PORT must be an integer from 0 to 65535',
      'simulator: SENT_DELAY_MS must be an integer from 0 to 3600000',
      'simulator: WEBHOOK_URL must be an http or https address',
      'simulator: WHATSAPP_APP_SECRET is missing',
    ]);
    expect(output.out).toBe('');
  });

  it('says in one line that its port is in use', async () => {
    const holder = createServer().listen(0, '0.0.0.0');
    await until(() => holder.listening);
    const { port } = holder.address() as AddressInfo;
    const { output } = run({ ...GOOD, PORT: String(port) });
    await until(() => output.exit !== undefined);
    holder.close();
    expect([output.exit, output.err]).toEqual([1, `simulator: port ${port} is in use\n`]);
  });
});
