import { spawnSync } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { startProcess, until, type Exit, type StartedProcess } from '@onecode/testing';
import { bodyOf, closeAll, SENDER, startReceiver } from './sending.js';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

const running: StartedProcess[] = [];

beforeAll(() => {
  const built = spawnSync(process.execPath, ['node_modules/typescript/bin/tsc', '-b', 'packages/simulator'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  if (built.status !== 0) throw new Error(built.stdout);
}, 120_000);

afterEach(async () => {
  for (const started of running.splice(0)) started.signal('SIGKILL');
  await closeAll();
});

/** Starts the process with this environment and nothing else of ours. */
function run(env: Record<string, string>): StartedProcess {
  const started = startProcess('packages/simulator/dist/main.js', env);
  running.push(started);
  return started;
}

const endOf = (started: StartedProcess): Promise<Exit> =>
  until('the end of the process', () => started.ended(), 10_000);

const GOOD = { PORT: '0', WHATSAPP_APP_SECRET: 'leaked-secret', WEBHOOK_URL: 'http://127.0.0.1:9/' };

describe('the process', () => {
  it('prints one line with its addresses, is alive and ready on both ports, and simulates', async () => {
    const receiver = await startReceiver();
    const started = run({
      ...GOOD,
      METRICS_PORT: '0',
      WEBHOOK_URL: receiver.url,
      WHATSAPP_VERIFY_TOKEN: 'leaked-token',
      SENT_DELAY_MS: '0',
      DELIVERED_DELAY_MS: '10',
      READ_DELAY_MS: '20',
      DISPLAY_PHONE_NUMBERS: `${SENDER}=+15550783881, 2=15550783882`,
    });
    await until('the line with the addresses', () => started.stdout().includes('\n'));
    const line = /^simulator ready: (http:\S+), health: (http:\S+)\n$/.exec(started.stdout());
    expect(line).not.toBeNull();
    const [, url, metrics] = line!;
    for (const address of [url, metrics])
      for (const path of ['livez', 'readyz']) expect((await fetch(`${address}/${path}`)).status).toBe(200);

    const answer = await fetch(`${url}/v25.0/${SENDER}/messages`, {
      method: 'POST',
      headers: { Authorization: 'Bearer leaked-bearer', 'Content-Type': 'application/json' },
      body: JSON.stringify(bodyOf()),
    });
    expect(answer.status).toBe(200);
    await until('3 statuses', () => receiver.words.length === 3);
    expect(receiver.words).toEqual(['sent', 'delivered', 'read']);
    expect(receiver.webhooks[0]!.rawBody).toContain('"display_phone_number":"15550783881"');
    expect(receiver.handshakes[0]!.get('hub.verify_token')).toBe('leaked-token');
    expect((await fetch(`${url}/`)).headers.get('content-type')).toContain('text/html');

    started.signal('SIGTERM');
    expect(await endOf(started)).toEqual({ code: 0, signal: null });
    expect(started.output()).not.toMatch(/leaked|wamid|042913|98765/);
  });

  it.each(['SIGTERM', 'SIGINT'] as const)(
    'stops on %s with exit code 0 while requests hang',
    async (signal) => {
      const started = run(GOOD);
      await until('the line with the addresses', () => started.stdout().includes('\n'));
      const url = /http:\S+/.exec(started.stdout())![0];
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
      await until('a request that hangs', async () => {
        const requests = (await (await fetch(`${url}/simulator/requests`)).json()) as { outcome: string }[];
        return requests[0]?.outcome === 'hung';
      });
      started.signal(signal);
      expect(await endOf(started)).toEqual({ code: 0, signal: null });
      expect(await hung).toBe('cut');
      await page.body?.cancel().catch(() => undefined);
    },
  );

  it('says in one line for each fault what is wrong with its environment, without its secrets', async () => {
    const started = run({
      PORT: '70000',
      METRICS_PORT: 'some',
      WEBHOOK_URL: 'ftp://leaked-place/',
      SENT_DELAY_MS: '-1',
      DISPLAY_PHONE_NUMBERS: '15550783881',
    });
    expect(await endOf(started)).toEqual({ code: 1, signal: null });
    expect(started.stderr().split('\n').toSorted()).toEqual([
      '',
      'simulator: DISPLAY_PHONE_NUMBERS must be like 106540352242922=15550783881, separated by commas',
      'simulator: METRICS_PORT must be an integer from 0 to 65535',
      'simulator: PORT must be an integer from 0 to 65535',
      'simulator: SENT_DELAY_MS must be an integer from 0 to 3600000',
      'simulator: WEBHOOK_URL must be an http or https address',
      'simulator: WHATSAPP_APP_SECRET is missing',
    ]);
    expect(started.stdout()).toBe('');
  });

  it('says in one line that its port is in use', async () => {
    const holder = createServer().listen(0, '0.0.0.0');
    await until('the holder of the port', () => holder.listening);
    const { port } = holder.address() as AddressInfo;
    const started = run({ ...GOOD, PORT: String(port) });
    const { code } = await endOf(started);
    holder.close();
    expect([code, started.stderr()]).toEqual([1, `simulator: port ${port} is in use\n`]);
  });
});
