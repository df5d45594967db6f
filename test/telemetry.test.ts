import { parseKeyring } from '@onecode/domain';
import type { Fault } from '@onecode/simulator';
import {
  buildCaller,
  buildSender,
  findSecrets,
  ProcessStack,
  redisContents,
  refuseSendWrites,
  STACK_START_MS_MAX,
  startProcess,
  startProviderTap,
  startTraceCollector,
  tableContents,
  until,
  type CollectedSpan,
  type ProviderTap,
  type Secret,
  type TapAnswer,
  type TappedRequest,
  type TraceCollector,
} from '@onecode/testing';

const TOKEN = 'EAAGplantedTokenOfTheSender7f3b';
/** The key that the collector of traces requires. */
const COLLECTOR_KEY = 'plantedKeyOfTheCollector5d1e';
const SENDER = '+15550783881';

/** Columns that must hold phone numbers. */
const PHONE_COLUMNS = ['sends.recipient', 'sends.from_number', 'senders.number'];
/** The column that keeps `Idempotency-Key`. */
const IDEMPOTENCY_COLUMN = 'sends.idempotency_key';
/** Columns of refused requests, some of which were about a number or a code: they hold neither. */
const REFUSAL_COLUMNS = [
  'refused_requests.detail',
  'refused_requests.fields',
  'refused_requests.route',
  'refused_requests.idempotency_key_hash',
];

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';
const CALLER = '00f067aa0ba902b7';
const TRACEPARENT = `00-${TRACE_ID}-${CALLER}-01`;

interface FaultCase {
  /** Null for a provider without a fault. */
  fault: Fault | null;
  /** The send's final status. */
  end: 'delivered' | 'failed';
}

/** Every kind of outcome that a call to the provider has. */
const LEAK_FAULTS: readonly FaultCase[] = [
  { fault: null, end: 'delivered' },
  { fault: { duplicates: 2, disorder: true, receiptsBeforeAnswer: true }, end: 'delivered' },
  { fault: { error: 131000 }, end: 'failed' },
  { fault: { error: 131026 }, end: 'failed' },
  { fault: { error: 131009 }, end: 'failed' },
  { fault: { lateFailure: 131026 }, end: 'failed' },
  { fault: { reset: 'before' }, end: 'failed' },
  { fault: { reset: 'after' }, end: 'delivered' },
  { fault: { wrongBody: 'no_id' }, end: 'delivered' },
  { fault: { wrongBody: 'html', http: 500 }, end: 'failed' },
];

const QUOTED_IN_REFUSAL = '+5511987660090';
const QUOTED_IN_FAILURE = '+5511987660091';
const QUOTED_IN_SUCCESS = '+5511987660092';

/** A recipient for each fault, and three for which the provider quotes the whole request in its answer. */
const LEAK_RECIPIENTS: readonly (FaultCase & { recipient: string })[] = [
  ...LEAK_FAULTS.map((expected, index) => ({ recipient: `+55119876600${10 + index}`, ...expected })),
  ...[QUOTED_IN_REFUSAL, QUOTED_IN_FAILURE, QUOTED_IN_SUCCESS].map((recipient) => ({
    recipient,
    fault: null,
    end: 'failed' as const,
  })),
];

/** The provider's answer to such a recipient: it quotes the token, the number and the code in every member. */
function answerQuotingRequest({ headers, body }: TappedRequest): TapAnswer | null {
  const quote = `${headers.authorization} ${body} wamid.${Buffer.from(body).toString('base64')}`;
  const error = {
    message: quote,
    type: quote,
    error_data: { details: quote },
    error_user_title: quote,
    fbtrace_id: quote,
  };
  if (body.includes(QUOTED_IN_REFUSAL))
    return { status: 400, body: JSON.stringify({ error: { ...error, code: 131026 } }) };
  if (body.includes(QUOTED_IN_FAILURE))
    return { status: 500, body: JSON.stringify({ error: { ...error, code: quote } }) };
  if (body.includes(QUOTED_IN_SUCCESS)) return { status: 200, body: `${quote}{` };
  return null;
}

/** Each send has one trace and its log lines; no path prints secrets, not even failing ones. */
describe('telemetry of the processes', () => {
  let stack: ProcessStack;
  let tap: ProviderTap;
  let collector: TraceCollector;
  const secretValues: Secret[] = [];
  const phones: Secret[] = [];
  const messageIds: Secret[] = [];
  const idempotencyKeys: Secret[] = [];
  const ids: string[] = [];
  let commandLine = '';
  let live: string;
  let test: string;
  /** A send with the trace of its caller. */
  let traced: { id: string; requestId: string };

  beforeAll(async () => {
    collector = await startTraceCollector();
    stack = await ProcessStack.start({
      env: {
        LOG_LEVEL: 'trace',
        DELIVERY_ATTEMPTS: '2',
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
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

    await build();
    await misuseTheCommandLine();
    await misuseTheApi(live);
    traced = await sendTraced();
    await sendEverything();
    await misuseTheWebhook();
    await refuseInDatabase(live);
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

  async function build(): Promise<void> {
    const { database } = stack.db;
    const { accountId: id, key } = await buildCaller(database, 'live', { credits: 100 });
    live = key;
    test = await stack.makeKey(id, 'test');
    for (const one of [live, test])
      secretValues.push({ name: 'API key', value: one.slice('ak_live_'.length) });
    await buildSender(database, {
      phoneNumberId: '106540352242922',
      number: SENDER,
      token: TOKEN,
      secretKey: parseKeyring(stack.secrets.secretKey),
    });
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

  /** Creates, delivers and verifies a send in the trace of its caller. */
  async function sendTraced(): Promise<typeof traced> {
    const code = '9081726388';
    secretValues.push({ name: 'code of the traced send', value: code });
    phones.push({ name: 'recipient', value: '5511987654321' });
    const request = {
      key: live,
      body: { to: '+5511987654321', code },
      headers: { traceparent: TRACEPARENT },
    };
    const { status, headers, body } = await stack.request<{ id: string }>('POST', '/v1/send', request);
    expect(status).toBe(202);
    await stack.untilStatus(live, body.id, 'delivered');
    await stack.verify(live, body.id, '9081726999');
    await stack.verify(live, body.id, code);
    return { id: body.id, requestId: headers.get('x-request-id')! };
  }

  async function sendEverything(): Promise<void> {
    const sendTo = async (
      { recipient, fault, end }: (typeof LEAK_RECIPIENTS)[number],
      index: number,
    ): Promise<void> => {
      const code = `90817263${10 + index}`;
      secretValues.push({ name: 'code', value: code });
      phones.push({ name: 'recipient', value: recipient.slice(1) });
      if (fault !== null) await stack.simulator.addRule({ recipient, fault });
      const idempotencyKey = `planted-key-${index}-4c2f`;
      idempotencyKeys.push({ name: 'Idempotency-Key', value: idempotencyKey });
      const headers = { 'idempotency-key': idempotencyKey };
      const { id } = await stack.create(live, { to: recipient, code }, { headers });
      ids.push(id);
      await stack.untilStatus(live, id, end);
      await stack.verify(live, id, '9081726999');
      await stack.verify(live, id, code);
    };
    await Promise.all(LEAK_RECIPIENTS.map(sendTo));
    secretValues.push({ name: 'wrong guess', value: '9081726999' });
    const generated = await stack.create(live, { to: '+5511987668888' });
    await stack.untilStatus(live, generated.id, 'delivered');
    await stack.verify(live, generated.id, '9081726999');
    const sandboxed = await stack.create(test, { to: '+5511987667777', code: '9081726350' });
    await stack.untilStatus(test, sandboxed.id, 'read');
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
    for (const where of ['"process":"api"', 'provider report postponed', '"queue":"deliver"'])
      await until(`a refusal in a line with ${where}`, () =>
        stack
          .output()
          .split('\n')
          .some((line) => line.includes(where) && line.includes('refused by a test')),
      );
    await allow();
    await stack.simulator.changeSettings({ deliveredMs: 0 });
    // The worker waits longer after each try: here it does not.
    await stack.db.sql(`update provider_reports set due_at = now() - interval '1 second'`);
    await stack.untilStatus(key, id, 'delivered');
  }

  /** The log lines of all processes that carry this send's id. */
  const linesAbout = (sendId: string): Readonly<Record<string, unknown>>[] =>
    stack
      .output()
      .split('\n')
      .filter((line) => line.startsWith('{') && line.includes(sendId))
      .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>)
      .filter((line) => line['send_id'] === sendId);
  const spansOf = (traceId: string): CollectedSpan[] =>
    collector.spans().filter((span) => span.traceId === traceId);
  const untilSpan = (what: string, isIt: (span: CollectedSpan) => boolean): Promise<CollectedSpan> =>
    until(`the span ${what}`, () => collector.spans().find(isIt));
  const spanNamed = (name: string, receipt?: string): Promise<CollectedSpan> =>
    untilSpan(name, (span) => {
      const isReceipt = receipt === undefined || span.attributes['onecode.status'] === receipt;
      return span.traceId === TRACE_ID && span.name === name && isReceipt;
    });

  it('has one trace for a send, from the caller to the receipt', async () => {
    const request = await spanNamed('POST /v1/send');
    const creation = await spanNamed('create send');
    const job = await spanNamed('publish deliver');
    const delivery = await spanNamed('process deliver');
    const [claim, call, settlement] = [
      await spanNamed('claim'),
      await spanNamed('POST messages'),
      await spanNamed('settle'),
    ];
    const receipt = await spanNamed('apply receipt', 'delivered');

    expect(request).toMatchObject({ parentSpanId: CALLER, service: 'onecode-api' });
    expect(creation.parentSpanId).toBe(request.spanId);
    for (const span of [job, delivery, receipt]) expect(span.parentSpanId).toBe(creation.spanId);
    for (const span of [claim, call, settlement]) expect(span.parentSpanId).toBe(delivery.spanId);
    expect(delivery.service).toBe('onecode-worker');
    for (const span of [request, job, delivery, receipt])
      expect(span.attributes['onecode.send_id']).toBe(traced.id);
    expect(call.attributes).toMatchObject({ 'onecode.outcome': 'accepted', 'peer.service': 'whatsapp' });
  });

  it('has a separate trace for the verification, with a link to the send’s trace', async () => {
    const name = 'POST /v1/send/:id/verify';
    const verification = await untilSpan(
      name,
      (span) =>
        span.name === name &&
        span.attributes['onecode.send_id'] === traced.id &&
        span.attributes['onecode.verification'] === 'verified',
    );
    const creation = spansOf(TRACE_ID).find((span) => span.name === 'create send')!;
    expect(verification.traceId).not.toBe(TRACE_ID);
    expect(verification.links).toMatchObject([{ traceId: TRACE_ID, spanId: creation.spanId }]);
    expect(verification.attributes['onecode.send_id']).toBe(traced.id);
  });

  it('stores the trace with the send, and names it in the log line of the request', async () => {
    const creation = spansOf(TRACE_ID).find((span) => span.name === 'create send')!;
    const [row] = await stack.db.sql('select traceparent from sends where id = $1', [traced.id]);
    expect(row).toEqual({ traceparent: `00-${TRACE_ID}-${creation.spanId}-01` });
    const line = linesAbout(traced.id).find(({ route }) => route === '/v1/send');
    expect(line).toMatchObject({ trace_id: TRACE_ID });
  });

  it('starts a trace when the caller has none, also for a test send', async () => {
    const { body } = await stack.request<{ id: string }>('POST', '/v1/send', {
      key: test,
      body: { to: '+5511987654322' },
      headers: { traceparent: `00-${'0'.repeat(32)}-${CALLER}-01` },
    });
    const end = await untilSpan(
      'of the simulated send',
      ({ name, attributes }) => name === 'process simulate' && attributes['onecode.send_id'] === body.id,
    );
    await until('its request', () => spansOf(end.traceId).some(({ name }) => name === 'POST /v1/send'));
    const request = spansOf(end.traceId).find(({ name }) => name === 'POST /v1/send');
    expect(request).toMatchObject({ parentSpanId: '', attributes: { 'onecode.send_id': body.id } });
  });

  it('exports no span of an unsampled trace, and still stores the trace with the send', async () => {
    const unsampled = TRACEPARENT.replace('4bf9', 'aaaa').replace(/01$/, '00');
    const body = { to: '+5511987654323' };
    const send = await stack.create(live, body, { headers: { traceparent: unsampled } });
    await stack.untilStatus(live, send.id, 'delivered');
    // The spans of a later send are exported after the spans of this one would be.
    const other = await stack.create(live, { to: '+5511987654324' });
    await untilSpan(
      'of the other send',
      ({ name, attributes }) => name === 'apply receipt' && attributes['onecode.send_id'] === other.id,
    );
    const [, traceId = ''] = unsampled.split('-');
    expect(spansOf(traceId)).toEqual([]);
    const [row] = await stack.db.sql<{ traceparent: string }>('select traceparent from sends where id = $1', [
      send.id,
    ]);
    expect(row!.traceparent).toMatch(new RegExp(`^00-${traceId}-[0-9a-f]{16}-00$`));
  });

  it('has the ids of the send and of the request in the log lines of the API and the worker', async () => {
    const { id: send_id, requestId: request_id } = traced;
    const lines = await until('the line of the receipt', () => {
      const lines = linesAbout(send_id);
      return lines.some(({ status }) => status === 'delivered') && lines;
    });
    const expected = [
      { process: 'api', msg: 'request finished', route: '/v1/send', request_id },
      { process: 'api', msg: 'request finished', route: '/v1/send/:id/status' },
      { process: 'api', msg: 'request finished', route: '/v1/send/:id/verify' },
      { process: 'worker', msg: 'attempt finished', outcome: 'accepted', request_id },
      { process: 'worker', msg: 'receipt applied', level: 'info', status: 'delivered', request_id },
    ];
    for (const line of expected) expect(lines).toContainEqual(expect.objectContaining({ ...line, send_id }));
  });

  it('has a timeline of the send in `onecode send show`', async () => {
    const { id, requestId: request_id } = traced;
    const story = await stack.onecode<Record<string, unknown>>(`send show ${id}`);
    expect(story).toMatchObject({ id, request_id, refunded_at: null });
    expect(story['traceparent']).toMatch(new RegExp(`^00-${TRACE_ID}-[0-9a-f]{16}-01$`));
    const attempt = (story['attempts'] as { number: number }[])[0]!.number;
    expect(linesAbout(id)).toContainEqual(expect.objectContaining({ msg: 'attempt finished', attempt }));
    const events = story['timeline'] as { event: string }[];
    expect(events).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ event: 'created', charged_from: 'free_quota' }),
        expect.objectContaining({ event: 'attempt', number: 1, outcome: 'accepted', error_code: null }),
        expect.objectContaining({ event: 'receipt', status: 'delivered' }),
        expect.objectContaining({ event: 'wrong_code', left: 4 }),
      ]),
    );
    expect(events.at(-1)).toMatchObject({ event: 'verified' });
    expect(JSON.stringify(story)).not.toMatch(/5511987654321|9081726/);
  });

  it('logs no id of a send that the caller may not see', async () => {
    const unknown = '01990c1e-7c5a-7d2b-9a53-6f0d3b1c2e4f';
    const answer = await stack.request('GET', `/v1/send/${unknown}/status`, { key: 'ak_live_x' });
    expect(answer.status).toBe(401);
    expect(stack.output()).not.toContain(unknown);
  });

  const everySecret = (): Secret[] => [...secretValues, ...phones, ...messageIds, ...idempotencyKeys];

  it('covers every path: each fault and each kind of refusal, at the log level trace', async () => {
    expect(tap.requests.length).toBeGreaterThan(LEAK_FAULTS.length);
    const output = stack.output();
    for (const id of ids) expect(output).toContain(id);
    expect(messageIds.length).toBeGreaterThan(4);
    expect(commandLine.split('\n').length).toBeGreaterThan(3);
  });

  it('has no secret in the output of any process', () => {
    expect(findSecrets(stack.output() + commandLine, everySecret())).toEqual([]);
  });

  it('has no secret in Redis, including finished and failed jobs', async () => {
    const contents = await redisContents(stack.redis, stack.prefix);
    for (const id of ids) expect(contents).toContain(id);
    expect(findSecrets(contents, everySecret())).toEqual([]);
  });

  it('has no secret in a metric', async () => {
    const metrics = await Promise.all(
      stack.metrics.map(async (address) => (await fetch(`${address}/metrics`)).text()),
    );
    expect(metrics.join()).toContain('onecode_');
    expect(findSecrets(metrics.join('\n'), everySecret())).toEqual([]);
  });

  it('has no secret in a span, including the spans of refused and failed requests', async () => {
    // The database's refusals come last: all earlier work has been exported by then.
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
    expect(findSecrets(spans, everySecret())).toEqual([]);
  });

  it('has no secret in a table, except phone numbers in their columns', async () => {
    await until('a stored refusal of the database', async () => {
      const codes = await stack.db.sql(`select code from refused_requests where code = 'internal_error'`);
      return codes.length === 2;
    });
    const contents = await tableContents(stack.db);
    const found = [...contents].flatMap(([column, text]) => {
      const secrets = [
        ...secretValues,
        ...messageIds,
        ...(PHONE_COLUMNS.includes(column) ? [] : phones),
        ...(column === IDEMPOTENCY_COLUMN ? [] : idempotencyKeys),
      ];
      return findSecrets(text, secrets).map((find) => `${column}: ${find}`);
    });
    expect(found).toEqual([]);
    for (const column of [...PHONE_COLUMNS, ...REFUSAL_COLUMNS]) expect(contents.get(column)).not.toBe('');
  });
});
