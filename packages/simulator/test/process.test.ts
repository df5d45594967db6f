import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startProcess, until, type StartedProcess } from '@onecode/testing';
import { bodyOf, closeAll, SENDER, startReceiver } from './sending.js';

let started: StartedProcess;
afterEach(async () => {
  started.signal('SIGKILL');
  await closeAll();
});

const GOOD = { PORT: '0', WHATSAPP_APP_SECRET: 'leaked-secret', WEBHOOK_URL: 'http://127.0.0.1:9/' };
const run = (env: Record<string, string>) => (started = startProcess('packages/simulator/dist/main.js', env));
const json = (body: unknown) => ({
  method: 'POST',
  headers: { Authorization: 'Bearer leaked-bearer', 'Content-Type': 'application/json' },
  body: JSON.stringify(body),
});

describe('the simulator process', () => {
  it('prints one line with its addresses and no secrets, serves requests, and stops while requests hang', async () => {
    const receiver = await startReceiver();
    run({
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
    expect((await fetch(`${url}/`)).headers.get('content-type')).toContain('text/html');

    const messages = `${url}/v25.0/${SENDER}/messages`;
    expect((await fetch(messages, json(bodyOf()))).status).toBe(200);
    await until('3 statuses', () => receiver.words.length === 3);
    expect(receiver.words).toEqual(['sent', 'delivered', 'read']);
    expect(receiver.webhooks[0]!.rawBody).toContain('"display_phone_number":"15550783881"');
    expect(receiver.handshakes[0]!.get('hub.verify_token')).toBe('leaked-token');

    await fetch(`${url}/simulator/rules`, json({ fault: { hang: true } }));
    const hung = fetch(messages, json(bodyOf())).catch(() => 'cut');
    const page = await fetch(`${url}/simulator/events`);
    await until('a request that hangs', async () => {
      const requests = (await (await fetch(`${url}/simulator/requests`)).json()) as { outcome: string }[];
      return requests[0]?.outcome === 'hung';
    });
    started.signal('SIGTERM');
    expect(await started.exited).toEqual({ code: 0, signal: null });
    expect(await hung).toBe('cut');
    await page.body?.cancel().catch(() => undefined);
    expect(started.output()).not.toMatch(/leaked|wamid|042913|98765/);
  });

  it('prints one line for each fault of its environment, without secrets', async () => {
    run({
      PORT: '70000',
      METRICS_PORT: 'some',
      WEBHOOK_URL: 'ftp://leaked-place/',
      SENT_DELAY_MS: '-1',
      DISPLAY_PHONE_NUMBERS: '15550783881',
    });
    expect((await started.exited).code).toBe(1);
    expect(started.output().trim().split('\n').toSorted()).toEqual([
      'simulator: DISPLAY_PHONE_NUMBERS must be like 106540352242922=15550783881, separated by commas',
      'simulator: METRICS_PORT must be an integer from 0 to 65535',
      'simulator: PORT must be an integer from 0 to 65535',
      'simulator: SENT_DELAY_MS must be an integer from 0 to 3600000',
      'simulator: WEBHOOK_URL must be an http:// or https:// address without a user, with a valid host and a port up to 65535',
      'simulator: WHATSAPP_APP_SECRET is missing',
    ]);
  });

  it('prints one line when its port is in use', async () => {
    const holder = createServer().listen(0, '127.0.0.1');
    await until('the holder of the port', () => holder.listening);
    const { port } = holder.address() as AddressInfo;
    run({ ...GOOD, PORT: String(port) });
    const { code } = await started.exited;
    holder.close();
    expect([code, started.stderr()]).toEqual([1, `simulator: port ${port} is in use\n`]);
  });
});
