import {
  answerQuotingRequest,
  findSecrets,
  LEAK_FAULTS,
  LEAK_RECIPIENTS,
  ProcessStack,
  redisContents,
  refuseSendWrites,
  STACK_START_MS_MAX,
  startProcess,
  startProviderTap,
  startTraceCollector,
  tableContents,
  until,
  type ProviderTap,
  type Secret,
  type TraceCollector,
} from '@onecode/testing';

const TOKEN = 'EAAGplantedTokenOfTheSender7f3b';
/** What the collector of traces asks for. */
const COLLECTOR_KEY = 'plantedKeyOfTheCollector5d1e';
const SENDER = '+15550783881';

/** Columns that must hold phone numbers, and columns of message ids, which contain encoded phone numbers. */
const PHONE_COLUMNS = [
  'sends.recipient',
  'sends.canonical_recipient',
  'sends.from_number',
  'senders.number',
  'guess_budgets.recipient',
];
const MESSAGE_ID_COLUMNS = ['attempts.message_id', 'receipts.message_id'];
/** Columns of refused requests, some of which were about a number or a code: they hold neither. */
const REFUSAL_COLUMNS = [
  'refused_requests.detail',
  'refused_requests.fields',
  'refused_requests.route',
  'refused_requests.idempotency_key_hash',
];

describe('secrets on every path, failing paths included', () => {
  let stack: ProcessStack;
  let tap: ProviderTap;
  let collector: TraceCollector;
  const secretValues: Secret[] = [];
  const phones: Secret[] = [];
  const messageIds: Secret[] = [];
  const ids: string[] = [];
  let commandLine = '';

  beforeAll(async () => {
    collector = await startTraceCollector();
    stack = await ProcessStack.start({
      env: {
        LOG_LEVEL: 'trace',
        DELIVERY_ATTEMPTS: '2',
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        OTEL_EXPORTER_OTLP_HEADERS: `authorization=${COLLECTOR_KEY}`,
        OTEL_BSP_SCHEDULE_DELAY: '50',
      },
      provider: async (simulatorUrl) => {
        tap = await startProviderTap(simulatorUrl, answerQuotingRequest);
        return tap.url;
      },
    });
    const { pepper, secretKey, appSecret, verifyToken } = stack.secrets;
    for (const [name, value] of Object.entries({
      pepper,
      secretKey,
      appSecret,
      verifyToken,
      token: TOKEN,
      collectorKey: COLLECTOR_KEY,
    }))
      secretValues.push({ name, value });
    for (const [name, value] of Object.entries({ pepper, secretKey }))
      secretValues.push({ name: `${name} (bytes)`, value: Buffer.from(value, 'base64').toString('hex') });
    phones.push({ name: 'number of the sender', value: SENDER.slice(1) });

    const keys = await makeKeys();
    await misuseTheCommandLine();
    await misuseTheApi(keys.live);
    await sendEverything(keys);
    await misuseTheWebhook();
    await refuseInDatabase(keys.live);
    for (const message of await stack.simulator.messages()) {
      messageIds.push({ name: 'message id', value: message.id.slice('wamid.'.length) });
      phones.push({ name: 'wa_id', value: message.waId });
      secretValues.push({ name: 'code on the phone', value: message.code });
    }
  }, STACK_START_MS_MAX);
  afterAll(async () => {
    await stack.stop();
    await tap.close();
  });

  async function makeKeys(): Promise<{ live: string; test: string }> {
    const { id } = await stack.onecode('account create --name Secrets --credits 100');
    const keyOf = async (mode: 'live' | 'test'): Promise<string> => {
      const key = await stack.makeKey(String(id), mode);
      secretValues.push({ name: `${mode} key`, value: key.slice(`ak_${mode}_`.length) });
      return key;
    };
    await stack.onecode(`sender add --phone-number-id 106540352242922 --number ${SENDER} --token ${TOKEN}`);
    return { live: await keyOf('live'), test: await keyOf('test') };
  }

  /** Failing commands with secrets in the right and in the wrong places. */
  async function misuseTheCommandLine(): Promise<void> {
    const env = { DATABASE_URL: stack.db.url, SECRET_KEY: stack.secrets.secretKey };
    const sender = ['sender', 'add', '--phone-number-id', '106540352242922', '--number', SENDER];
    for (const args of [
      [...sender, '--token', TOKEN],
      [...sender, '--tokn', TOKEN],
      ['sender', 'resume', TOKEN],
    ]) {
      const command = startProcess('apps/cli/dist/main.js', env, args);
      expect((await command.exited).code).not.toBe(0);
      commandLine += command.output();
    }
  }

  async function misuseTheApi(key: string): Promise<void> {
    const to = '+5511987669999';
    phones.push({ name: 'recipient of a refused request', value: to.slice(1) });
    secretValues.push({ name: 'code of a refused request', value: '90817263540' });
    const stolen = `ak_live_${'S'.repeat(33)}`;
    secretValues.push({ name: 'key that is not valid', value: 'S'.repeat(33) });
    const body = { to, code: '90817263540' };
    const expectStatus = async (
      status: number,
      ...request: Parameters<ProcessStack['request']>
    ): Promise<void> => {
      expect((await stack.request(...request)).status).toBe(status);
    };
    await expectStatus(422, 'POST', '/v1/send', { key, body });
    await expectStatus(422, 'POST', '/v1/send', { key, body: `${JSON.stringify(body)}}` });
    await expectStatus(422, 'POST', '/v1/send', {
      key,
      body: { to: `tel:${to}` },
      headers: { 'idempotency-key': `${to} 90817263540` },
    });
    await expectStatus(401, 'POST', '/v1/send', { key: stolen, body });
    await expectStatus(401, 'POST', '/v1/send', { headers: { authorization: `Basic ${key}` }, body });
    await expectStatus(404, 'GET', `/v1/send/${key}/status?to=${to}`, { key });
    await expectStatus(404, 'GET', `/${key}/${to}`, { headers: { referer: `http://x/${key}`, cookie: key } });
    await expectStatus(405, 'PUT', `/v1/send?key=${key}`, { key, body });
  }

  async function sendEverything(keys: { live: string; test: string }): Promise<void> {
    const sendTo = async (
      { recipient, fault, end }: (typeof LEAK_RECIPIENTS)[0],
      index: number,
    ): Promise<void> => {
      const code = `90817263${10 + index}`;
      secretValues.push({ name: 'code', value: code });
      phones.push({ name: 'recipient', value: recipient.slice(1) });
      if (fault !== null) await stack.simulator.addRule({ recipient, fault });
      const { id } = await stack.create(keys.live, { to: recipient, code });
      ids.push(id);
      await stack.untilStatus(keys.live, id, end);
      await stack.verify(keys.live, id, '9081726999');
      await stack.verify(keys.live, id, code);
    };
    await Promise.all(LEAK_RECIPIENTS.map(sendTo));
    secretValues.push({ name: 'wrong guess', value: '9081726999' });
    const generated = await stack.create(keys.live, { to: '+5511987668888' });
    await stack.untilStatus(keys.live, generated.id, 'delivered');
    await stack.verify(keys.live, generated.id, '9081726999');
    const sandboxed = await stack.create(keys.test, { to: '+5511987667777', code: '9081726350' });
    await stack.untilStatus(keys.test, sandboxed.id, 'read');
    secretValues.push({ name: 'code of a test send', value: '9081726350' });
    phones.push({ name: 'recipient', value: '5511987668888' }, { name: 'recipient', value: '5511987667777' });
  }

  async function misuseTheWebhook(): Promise<void> {
    const { verifyToken } = stack.secrets;
    const path = '/webhooks/whatsapp';
    const query = `hub.mode=subscribe&hub.challenge=5&hub.verify_token=${verifyToken}`;
    expect((await stack.request('GET', `${path}?${query}`)).status).toBe(200);
    expect((await stack.request('GET', `${path}?${query}x`)).status).toBe(403);
    const [message] = await stack.simulator.messages();
    const body = { statuses: [{ id: message!.id, status: 'read', recipient_id: message!.waId }] };
    const headers = { 'x-hub-signature-256': `sha256=${'0'.repeat(64)}` };
    expect((await stack.request('POST', path, { body, headers })).status).toBe(401);
  }

  /** The database refuses to create, deliver, report and verify, with errors that quote the rows. */
  async function refuseInDatabase(key: string): Promise<void> {
    const to = '+5511987666666';
    const code = '9081726340';
    secretValues.push({ name: 'code that the database saw', value: code });
    phones.push({ name: 'recipient that the database refused', value: to.slice(1) });
    await stack.simulator.changeSettings({ deliveredMs: 86_400_000 });
    const { id } = await stack.create(key, { to, code });
    await stack.untilStatus(key, id, 'sent');
    const slow = '+5511987665555';
    phones.push({ name: 'recipient in between', value: slow.slice(1) });
    await stack.simulator.addRule({ recipient: slow, fault: { latencyMs: 500 } });
    const between = await stack.create(key, { to: slow });
    await stack.untilStatus(key, between.id, 'sending');

    const allow = await refuseSendWrites(stack.db);
    expect((await stack.request('POST', '/v1/send', { key, body: { to, code } })).status).toBe(500);
    expect((await stack.request('POST', `/v1/send/${id}/verify`, { key, body: { code } })).status).toBe(500);
    const [message] = await stack.simulator.messages(to);
    await stack.simulator.postReceipt({ messageId: message!.id, status: 'delivered' });
    for (const where of ['"process":"api"', '"queue":"receipts"', '"queue":"deliver"'])
      await until(`a refusal in a line with ${where}`, () =>
        stack
          .output()
          .split('\n')
          .some((line) => line.includes(where) && line.includes('refused by a test')),
      );
    await allow();
    // The worker retries a receipt after fifteen seconds: here it does at once.
    await stack.db.sql('update receipts set due_at = now() where due_at is not null');
    await stack.untilStatus(key, id, 'delivered');
  }

  it('were used on every path: each fault and each kind of refusal, at the log level trace', async () => {
    expect(tap.requests.length).toBeGreaterThan(LEAK_FAULTS.length);
    const output = stack.output();
    for (const id of ids) expect(output).toContain(id);
    expect(messageIds.length).toBeGreaterThan(4);
    expect(commandLine.split('\n').length).toBeGreaterThan(3);
  });

  it('are in no output of any process', () => {
    expect(findSecrets(stack.output() + commandLine, [...secretValues, ...phones, ...messageIds])).toEqual(
      [],
    );
  });

  it('are nowhere in Redis, in no finished or failed job', async () => {
    const contents = await redisContents(stack.redis, stack.prefix);
    for (const id of ids) expect(contents).toContain(id);
    expect(findSecrets(contents, [...secretValues, ...phones, ...messageIds])).toEqual([]);
  });

  it('are in no metric', async () => {
    const metrics = await Promise.all(
      stack.metrics.map(async (address) => (await fetch(`${address}/metrics`)).text()),
    );
    expect(metrics.join()).toContain('onecode_');
    expect(findSecrets(metrics.join('\n'), [...secretValues, ...phones, ...messageIds])).toEqual([]);
  });

  it('are in no span, of refused and failed requests either', async () => {
    // The database's refusals come last: what was begun before them has been exported then.
    const failed = ['POST /v1/send', 'POST /v1/send/:id/verify', 'process deliver'];
    for (const wanted of failed)
      await until(`a failed span ${wanted}`, () =>
        collector.spans().some(({ name, attributes }) => name === wanted && 'error.type' in attributes),
      );
    const spans = collector.received();
    for (const id of ids) expect(spans).toContain(id);
    for (const name of [
      'create send',
      'claim',
      'POST messages',
      'settle',
      'apply receipt',
      'process simulate',
    ])
      expect(spans).toContain(`"${name}"`);
    expect(collector.headers()['authorization']).toBe(COLLECTOR_KEY);
    expect(findSecrets(spans, [...secretValues, ...phones, ...messageIds])).toEqual([]);
  });

  it('are in no table, except phone numbers and message ids in their columns', async () => {
    await until('a stored refusal of the database', async () => {
      const codes = await stack.db.sql(`select code from refused_requests where code = 'internal_error'`);
      return codes.length === 2;
    });
    const contents = await tableContents(stack.db);
    const found = [...contents].flatMap(([column, text]) => {
      const mayHoldPhones = PHONE_COLUMNS.includes(column) || MESSAGE_ID_COLUMNS.includes(column);
      const secrets = [
        ...secretValues,
        ...(mayHoldPhones ? [] : phones),
        ...(MESSAGE_ID_COLUMNS.includes(column) ? [] : messageIds),
      ];
      return findSecrets(text, secrets).map((find) => `${column}: ${find}`);
    });
    expect(found).toEqual([]);
    for (const column of [...PHONE_COLUMNS, ...MESSAGE_ID_COLUMNS, ...REFUSAL_COLUMNS])
      expect(contents.get(column)).not.toBe('');
  });
});
