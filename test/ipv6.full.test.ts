import { randomBytes } from 'node:crypto';
import { connect, createServer, type AddressInfo, type Server } from 'node:net';
import { networkInterfaces } from 'node:os';
import { parseKeyring } from '@onecode/domain';
import {
  buildCaller,
  buildSender,
  closedPort,
  startProcess,
  STACK_START_MS_MAX,
  until,
  untilReady,
  useTestEnvironment,
  type StartedProcess,
} from '@onecode/testing';

const hasIPv6 = Object.values(networkInterfaces()).some((own) =>
  own?.some(({ family }) => family === 'IPv6'),
);
const key = (): string => randomBytes(32).toString('base64');

(hasIPv6 ? describe : describe.skip)('where every address is one of IPv6', () => {
  const environment = useTestEnvironment();
  const servers: Server[] = [];
  const processes: StartedProcess[] = [];
  let apiUrl: string;
  let secretKey: string;

  /** Returns the address of a service at ::1, through a server that passes all bytes on. */
  async function throughIPv6(url: string): Promise<string> {
    const target = new URL(url);
    const server = createServer((client) => {
      const service = connect(Number(target.port), target.hostname);
      client.pipe(service).pipe(client);
      client.on('error', () => service.destroy());
      service.on('error', () => client.destroy());
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '::1', resolve));
    return url.replace(target.host, `[::1]:${(server.address() as AddressInfo).port}`);
  }

  beforeAll(async () => {
    const { DATABASE_URL, REDIS_URL, QUEUE_PREFIX } = environment.variables;
    const [apiPort, simulatorPort] = [await closedPort(), await closedPort()];
    apiUrl = `http://[::1]:${apiPort}`;
    secretKey = key();
    const webhook = { WHATSAPP_APP_SECRET: 'secret', WHATSAPP_VERIFY_TOKEN: 'token' };
    const shared = {
      DATABASE_URL: await throughIPv6(DATABASE_URL),
      REDIS_URL: await throughIPv6(REDIS_URL),
      QUEUE_PREFIX,
      SECRET_KEY: secretKey,
      HOST: '::1',
      METRICS_HOST: '::1',
      METRICS_PORT: '0',
    };
    const simulator = startProcess('packages/simulator/dist/main.js', {
      ...webhook,
      HOST: '::1',
      PORT: String(simulatorPort),
      WEBHOOK_URL: `${apiUrl}/webhooks/whatsapp`,
    });
    const api = startProcess('apps/api/dist/main.js', {
      ...shared,
      ...webhook,
      PORT: String(apiPort),
      BASE_URL: apiUrl,
      CODE_PEPPER: key(),
    });
    const worker = startProcess('apps/worker/dist/main.js', {
      ...shared,
      WHATSAPP_API_URL: `http://[::1]:${simulatorPort}/v25.0`,
    });
    processes.push(simulator, api, worker);
    await until('the simulator', () => simulator.output().includes('simulator ready: http://[::1]:'));
    for (const process of [api, worker]) await untilReady(process);
  }, STACK_START_MS_MAX);
  afterAll(async () => {
    await Promise.all(processes.map((process) => process.stop()));
    for (const server of servers) server.close();
  });

  it('delivers a send, and applies its receipt', async () => {
    const { database } = environment.db;
    await buildSender(database, { secretKey: parseKeyring(secretKey) });
    const caller = await buildCaller(database, 'live', { credits: 1 });
    const headers = { authorization: `Bearer ${caller.key}`, 'content-type': 'application/json' };
    const created = await fetch(`${apiUrl}/v1/send`, {
      method: 'POST',
      headers,
      body: '{"to":"+5511987654321"}',
    });
    expect(created.status).toBe(202);
    const { id } = (await created.json()) as { id: string };
    await until('the receipt', async () => {
      const answer = await fetch(`${apiUrl}/v1/send/${id}/status`, { headers });
      return ((await answer.json()) as { status: string }).status === 'delivered';
    });
  });
});
