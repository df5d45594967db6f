import {
  ProcessStack,
  STACK_START_MS_MAX,
  startTraceCollector,
  until,
  type CollectedSpan,
  type TraceCollector,
} from '@onecode/testing';

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';
const CALLER = '00f067aa0ba902b7';
const TRACEPARENT = `00-${TRACE_ID}-${CALLER}-01`;

type Line = Readonly<Record<string, unknown>>;

/** The log lines of all processes so far that carry this send's id. */
const linesAbout = (stack: ProcessStack, sendId: string): Line[] =>
  stack
    .output()
    .split('\n')
    .filter((line) => line.startsWith('{') && line.includes(sendId))
    .map((line) => JSON.parse(line) as Line)
    .filter((line) => line['send_id'] === sendId);

/** Starts a stack with a sender, and an application's key in each mode. */
async function startStack(env: Record<string, string>) {
  const stack = await ProcessStack.start({ env: { LOG_LEVEL: 'info', ...env } });
  const { id } = await stack.onecode('account create --name Traces --credits 100');
  await stack.addSender();
  const [live, test] = [await stack.makeKey(String(id), 'live'), await stack.makeKey(String(id), 'test')];
  return { stack, live, test };
}

/** Creates, delivers and verifies a send. @returns its id and the request's */
async function sendOnce(
  stack: ProcessStack,
  key: string,
  headers: Record<string, string>,
): Promise<{ id: string; requestId: string }> {
  const body = { to: '+5511987654321', code: '271828' };
  const created = await stack.request<{ id: string }>('POST', '/v1/send', { key, body, headers });
  expect(created.status).toBe(202);
  const { id } = created.body;
  await stack.untilStatus(key, id, 'delivered');
  await stack.verify(key, id, '314159');
  await stack.verify(key, id, '271828');
  return { id, requestId: created.headers.get('x-request-id')! };
}

describe('with tracing', () => {
  let collector: TraceCollector;
  let traced: Awaited<ReturnType<typeof startStack>>;
  let id: string;

  beforeAll(async () => {
    collector = await startTraceCollector();
    traced = await startStack({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_BSP_SCHEDULE_DELAY: '50' });
    ({ id } = await sendOnce(traced.stack, traced.live, { traceparent: TRACEPARENT }));
  }, STACK_START_MS_MAX);
  afterAll(() => traced.stack.stop());

  const spansOf = (traceId: string): CollectedSpan[] =>
    collector.spans().filter((span) => span.traceId === traceId);
  const untilSpan = (what: string, isIt: (span: CollectedSpan) => boolean): Promise<CollectedSpan> =>
    until(`the span ${what}`, () => collector.spans().find(isIt));

  it('tells one story from the caller to the receipt, in one trace', async () => {
    const named = (name: string, receipt?: string): Promise<CollectedSpan> =>
      untilSpan(name, (span) => {
        const isReceipt = receipt === undefined || span.attributes['onecode.status'] === receipt;
        return span.traceId === TRACE_ID && span.name === name && isReceipt;
      });
    const request = await named('POST /v1/send');
    const creation = await named('create send');
    const job = await named('publish deliver');
    const delivery = await named('process deliver');
    const [claim, call, settlement] = [
      await named('claim'),
      await named('POST messages'),
      await named('settle'),
    ];
    const receipt = await named('apply receipt', 'delivered');

    expect(request).toMatchObject({ parentSpanId: CALLER, service: 'onecode-api' });
    expect(creation.parentSpanId).toBe(request.spanId);
    for (const span of [job, delivery, receipt]) expect(span.parentSpanId).toBe(creation.spanId);
    for (const span of [claim, call, settlement]) expect(span.parentSpanId).toBe(delivery.spanId);
    expect(delivery.service).toBe('onecode-worker');
    for (const span of [request, job, delivery, receipt]) expect(span.attributes['onecode.send_id']).toBe(id);
    expect(call.attributes).toMatchObject({ 'onecode.outcome': 'accepted', 'peer.service': 'whatsapp' });
  });

  it('gives the verification a trace of its own with a link to the send’s', async () => {
    const name = 'POST /v1/send/:id/verify';
    const verification = await untilSpan(
      name,
      (span) => span.name === name && span.attributes['onecode.verification'] === 'verified',
    );
    const creation = spansOf(TRACE_ID).find((span) => span.name === 'create send')!;
    expect(verification.traceId).not.toBe(TRACE_ID);
    expect(verification.links).toMatchObject([{ traceId: TRACE_ID, spanId: creation.spanId }]);
    expect(verification.attributes['onecode.send_id']).toBe(id);
  });

  it('keeps the trace with the send, and names it in the request’s line', async () => {
    const creation = spansOf(TRACE_ID).find((span) => span.name === 'create send')!;
    const [row] = await traced.stack.db.sql('select traceparent from sends where id = $1', [id]);
    expect(row).toEqual({ traceparent: `00-${TRACE_ID}-${creation.spanId}-01` });
    const line = linesAbout(traced.stack, id).find(({ route }) => route === '/v1/send');
    expect(line).toMatchObject({ trace_id: TRACE_ID });
  });

  it('begins a trace where the caller has none, also for a test send', async () => {
    const { body } = await traced.stack.request<{ id: string }>('POST', '/v1/send', {
      key: traced.test,
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

  it('records what is not sampled nowhere, and still keeps its trace', async () => {
    const unsampled = TRACEPARENT.replace('4bf9', 'aaaa').replace(/01$/, '00');
    const body = { to: '+5511987654323' };
    const send = await traced.stack.create(traced.live, body, { headers: { traceparent: unsampled } });
    await traced.stack.untilStatus(traced.live, send.id, 'delivered');
    // Another send, whose spans are exported after those of this one would be.
    const other = await traced.stack.create(traced.live, { to: '+5511987654324' });
    await untilSpan(
      'of the other send',
      ({ name, attributes }) => name === 'apply receipt' && attributes['onecode.send_id'] === other.id,
    );
    const [, traceId = ''] = unsampled.split('-');
    expect(spansOf(traceId)).toEqual([]);
    const [row] = await traced.stack.db.sql<{ traceparent: string }>(
      'select traceparent from sends where id = $1',
      [send.id],
    );
    expect(row!.traceparent).toMatch(new RegExp(`^00-${traceId}-[0-9a-f]{16}-00$`));
  });
});

describe('without tracing', () => {
  let plain: Awaited<ReturnType<typeof startStack>>;
  let sent: { id: string; requestId: string };

  beforeAll(async () => {
    plain = await startStack({});
    sent = await sendOnce(plain.stack, plain.live, { traceparent: TRACEPARENT });
  }, STACK_START_MS_MAX);
  afterAll(() => plain.stack.stop());

  it('keeps the caller’s trace and the request with the send', async () => {
    const [row] = await plain.stack.db.sql('select traceparent, request_id from sends where id = $1', [
      sent.id,
    ]);
    expect(row).toEqual({ traceparent: TRACEPARENT, request_id: sent.requestId });
  });

  it('ties the lines of the API and of the worker by the ids of the send and of the request', async () => {
    const { id: send_id, requestId: request_id } = sent;
    const lines = await until('the line of the receipt', () => {
      const lines = linesAbout(plain.stack, send_id);
      return lines.some(({ status }) => status === 'delivered') && lines;
    });
    const expected = [
      { process: 'api', msg: 'request', route: '/v1/send', request_id },
      { process: 'api', msg: 'request', route: '/v1/send/:id/status' },
      { process: 'api', msg: 'request', route: '/v1/send/:id/verify' },
      { process: 'worker', msg: 'attempt', outcome: 'accepted', request_id },
      { process: 'worker', msg: 'receipt', level: 'info', status: 'delivered', request_id },
    ];
    for (const line of expected) expect(lines).toContainEqual(expect.objectContaining({ ...line, send_id }));
  });

  it('leaves the whole story with `onecode send show`', async () => {
    const { id, requestId: request_id } = sent;
    const story = await plain.stack.onecode<Record<string, unknown>>(`send show ${id}`);
    expect(story).toMatchObject({ id, request_id, traceparent: TRACEPARENT, refunded_at: null });
    const attempt_id = (story['attempts'] as { id: string }[])[0]!.id;
    expect(linesAbout(plain.stack, id)).toContainEqual(
      expect.objectContaining({ msg: 'attempt', attempt_id }),
    );
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
    expect(JSON.stringify(story)).not.toMatch(/5511987654321|271828/);
  });

  it('ties neither to a send that a request only names, without being allowed to see it', async () => {
    const unknown = '01990c1e-7c5a-7d2b-9a53-6f0d3b1c2e4f';
    const answer = await plain.stack.request('GET', `/v1/send/${unknown}/status`, { key: 'ak_live_x' });
    expect(answer.status).toBe(401);
    expect(plain.stack.output()).not.toContain(unknown);
  });
});
