import { describeWithReference, reference, until } from '@onecode/testing';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { WhatsAppAPI } from 'whatsapp-api-js';
import { Template } from 'whatsapp-api-js/messages';
import { parse } from 'yaml';
import { metaJson, signatureOf, type NewRule, type Simulator } from '../src/index.js';
import { bodyOf, closeAll, RECIPIENT, send, SENDER, start, startBoth, type Json } from './sending.js';

const ACCOUNT = '102290129340398';

const sample = (name: string): Json => JSON.parse(reference(`samples/${name}`));

afterEach(closeAll);

/** The shape of a value: every key with its path and the type of what it holds. */
function shapeOf(value: unknown, path = ''): string[] {
  if (Array.isArray(value)) return [...new Set(value.flatMap((item) => shapeOf(item, `${path}[]`)))];
  if (typeof value !== 'object' || value === null)
    return [`${path}: ${value === null ? 'null' : typeof value}`];
  return Object.entries(value)
    .flatMap(([key, held]) => shapeOf(held, `${path}.${key}`))
    .toSorted();
}

/** The webhooks of one message under a rule. */
async function webhooksOf(rule: NewRule | null, count: number, read = false) {
  const { simulator, receiver } = await startBoth();
  if (rule) simulator.rules.add(rule);
  const { json } = await send(simulator);
  await until('the webhooks', () => receiver.webhooks.length === count);
  if (read) await simulator.markRead(json.messages[0].id);
  return receiver.webhooks.map(({ rawBody }) => JSON.parse(rawBody));
}

describe('another client of the Cloud API', () => {
  it('has its one-time code accepted, and reads the receipts', async () => {
    const { simulator, receiver } = await startBoth();
    const other = new WhatsAppAPI({
      token: 'token',
      appSecret: 'sample-app-secret',
      v: 'v25.0',
      ponyfill: {
        fetch: ((url: string, init: RequestInit) =>
          fetch(url.replace('https://graph.facebook.com/v25.0', simulator.apiUrl), init)) as typeof fetch,
      },
    });
    const answer: Json = await other.sendMessage(
      SENDER,
      RECIPIENT,
      Template.OTP('verification_code', 'pt_BR', '042913'),
      undefined,
      'att_01J9ZK',
    );
    expect(answer.messages[0].id).toBe(simulator.messages()[0]!.id);
    expect(simulator.messages()[0]).toMatchObject({ code: '042913', opaque: 'att_01J9ZK' });

    await until('2 webhooks', () => receiver.webhooks.length === 2);
    const seen: unknown[] = [];
    other.on.status = ({ phoneID, id, status, biz_opaque_callback_data }) => {
      seen.push([phoneID, id, status, biz_opaque_callback_data]);
    };
    for (const { rawBody, headers } of receiver.webhooks)
      await other.post(JSON.parse(rawBody), rawBody, String(headers['x-hub-signature-256']));
    const { id } = simulator.messages()[0]!;
    await until('2 statuses', () => seen.length === 2);
    expect(seen).toEqual([
      [SENDER, id, 'sent', 'att_01J9ZK'],
      [SENDER, id, 'delivered', 'att_01J9ZK'],
    ]);
  });
});

describeWithReference("the reference samples: the simulator's own", () => {
  it.each(['send-request.copy-code.json', 'send-request.pt_BR.biz-opaque.json'])(
    'Cloud API accepts %s',
    async (name) => {
      const simulator = await start();
      expect((await send(simulator, sample(name))).status).toBe(200);
    },
  );

  it('answer has the shape of Meta, and the same number behind it', async () => {
    const simulator = await start();
    const { json } = await send(simulator, sample('send-request.pt_BR.biz-opaque.json'));
    const expected = sample('send-response.message-status.json');
    expect(shapeOf(json)).toEqual(shapeOf(expected));
    expect(json.contacts).toEqual(expected.contacts);
    expect(frameOf(json.messages[0].id)).toEqual(frameOf(expected.messages[0].id));
  });

  it.each([
    ['send-response.held_for_quality_assessment.json', 'held_for_quality_assessment'],
    ['send-response.paused.json', 'paused'],
  ] as const)('answer can be %s', async (name, messageStatus) => {
    const simulator = await start();
    simulator.rules.add({ fault: { messageStatus } });
    const { json } = await send(simulator);
    expect(shapeOf(json)).toEqual(shapeOf(sample(name)));
    expect(json.messages[0].message_status).toBe(sample(name).messages[0].message_status);
  });

  it.each([
    ['error.130429.json', { error: 130429, subcode: 2494055 }],
    ['error.131056.json', { error: 131056 }],
  ] as const)('error has the shape and the words of %s', async (name, fault) => {
    const simulator = await start();
    simulator.rules.add({ fault });
    const { json } = await send(simulator);
    const expected = sample(name);
    expect(shapeOf(json)).toEqual(shapeOf(expected));
    expect({ ...json.error, fbtrace_id: '' }).toEqual({ ...expected.error, fbtrace_id: '' });
  });

  it('errors of validation and of the Graph layer have the shapes of 132000 and 100/33', async () => {
    const simulator = await start();
    const mismatch: Json = bodyOf();
    mismatch.template.components.shift();
    const { json } = await send(simulator, mismatch);
    expect(shapeOf(json)).toEqual(shapeOf(sample('error.132000.json')));
    expect(json.error.message).toBe(sample('error.132000.json').error.message);
    const unknown = await send(simulator, bodyOf(), { sender: 'x106540352242922' });
    const expected = sample('error.100-33.json');
    expect(shapeOf(unknown.json)).toEqual(shapeOf(expected));
    expect(unknown.json.error.message).toBe(expected.error.message.replace("'1065", "'x1065"));
  });

  it('receipts sent, delivered and read have the shapes of the samples', async () => {
    const [sent, delivered, read] = await webhooksOf(null, 2, true);
    expect(shapeOf(sent)).toEqual(shapeOf(sample('webhook.status.sent.v24-auth.json')));
    expect(shapeOf(delivered)).toEqual(shapeOf(sample('webhook.status.delivered.v24-auth.json')));
    expect(shapeOf(read)).toEqual(shapeOf(sample('webhook.status.read.v24-auth.json')));
  });

  it.each([
    ['webhook.status.failed-131026.auth.json', 131026],
    ['webhook.status.failed-130497.auth.json', 130497],
  ])('receipt failed has the shape and the words of %s', async (name, lateFailure) => {
    const [failed] = await webhooksOf({ fault: { lateFailure } }, 1);
    const statusOf = (payload: Json) => payload.entry[0].changes[0].value.statuses[0];
    expect(shapeOf(failed)).toEqual(shapeOf(sample(name)));
    expect(statusOf(failed).errors).toEqual(statusOf(sample(name)).errors);
  });

  it.each([
    [
      'webhook.template-status.paused.json',
      (simulator: Simulator) =>
        simulator.business.changeTemplate(
          { wabaId: ACCOUNT, name: 'verification_code', language: 'pt_BR' },
          { status: 'PAUSED' },
        ),
    ],
    [
      'webhook.template-status.approved.json',
      (simulator: Simulator) =>
        simulator.business.changeTemplate(
          { wabaId: ACCOUNT, name: 'order_confirmation', language: 'en_US' },
          { status: 'APPROVED' },
        ),
    ],
    [
      'webhook.phone-quality.json',
      (simulator: Simulator) => simulator.business.changeSender(SENDER, { throughputLevel: 'HIGH' }),
    ],
    [
      'webhook.account-update.restriction.json',
      (simulator: Simulator) => simulator.business.changeAccount(ACCOUNT, { condition: 'restricted' }),
    ],
  ])('webhook of a change has the shape of %s', async (name, change) => {
    const { simulator, receiver } = await startBoth({
      templates: [
        'verification_code',
        { name: 'order_confirmation', language: 'en_US', category: 'UTILITY', status: 'PENDING' },
      ],
    });
    await change(simulator);
    expect(shapeOf(JSON.parse(receiver.webhooks[0]!.rawBody))).toEqual(shapeOf(sample(name)));
  });

  it('report of a code that nobody asked for has the shape of the sample', async () => {
    const { simulator, receiver } = await startBoth({ delays: { sentMs: 60_000, deliveredMs: 60_000 } });
    const { json } = await send(simulator);
    await simulator.reportMessage(json.messages[0].id);
    const expected = sample('webhook.button.did-not-request-code.json');
    expect(shapeOf(JSON.parse(receiver.webhooks[0]!.rawBody))).toEqual(shapeOf(expected));
  });

  it('signature and escapes are those of the known vector', () => {
    const vector = sample('signature-vector.json');
    expect(metaJson(JSON.parse(vector.raw_body))).toBe(vector.raw_body);
    expect(`X-Hub-Signature-256: ${signatureOf(vector.app_secret, vector.raw_body)}`).toBe(vector.header);
  });

  it('handshake is the documented one', async () => {
    const { request } = sample('verification-handshake.json');
    const documented = new URL(request.replace('GET ', ''), 'http://receiver').searchParams;
    const { receiver } = await startBoth({ verifyToken: documented.get('hub.verify_token')! });
    await until('a handshake', () => receiver.handshakes.length === 1);
    const asked = receiver.handshakes[0]!;
    expect([...asked.keys()].toSorted()).toEqual([...documented.keys()].toSorted());
    expect(asked.get('hub.mode')).toBe(documented.get('hub.mode'));
    expect(asked.get('hub.verify_token')).toBe(documented.get('hub.verify_token'));
  });

  it('errors come with the HTTP status that Meta lists', async () => {
    const listed = JSON.parse(reference('error-codes.json')) as {
      code: number | string;
      http: number | null;
    }[];
    const simulator = await start();
    const wrong: unknown[] = [];
    for (const { code, http } of listed) {
      if (typeof code !== 'number' || http === null) continue;
      simulator.rules.add({ fault: { error: code }, times: 1 });
      const { status } = await send(simulator);
      if (status !== http) wrong.push([code, http, status]);
    }
    expect(wrong).toEqual([]);
  });
});

/** What every message id has in common: the bytes around the number and the 18 hex digits, and whether the length is true. */
function frameOf(id: string) {
  const bytes = Buffer.from(id.replace(/^wamid\./, ''), 'base64');
  const length = bytes[2]!;
  const behind = bytes.subarray(3 + length);
  return {
    before: bytes.subarray(0, 2).toString('hex'),
    holdsNumber: /^\d{12,13}$/.test(bytes.subarray(3, 3 + length).toString('latin1')),
    between: behind.subarray(0, 6).toString('hex'),
    holdsRandom: /^[0-9A-F]{18}$/.test(behind.subarray(6, -1).toString('latin1')),
    end: behind.subarray(-1).toString('hex'),
  };
}

describeWithReference("Meta's OpenAPI document accepts", () => {
  let validate: (schema: string, value: unknown) => unknown[];

  beforeAll(() => {
    const document = parse(reference('business-messaging-api_v23.0.yaml'), { maxAliasCount: -1 });
    for (const { path, value } of JSON.parse(reference('openapi-v23-patch.json')).patch)
      replace(document, path, value);
    const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
    ajv.addSchema({ $id: 'meta', ...document });
    const compiled = new Map<string, ValidateFunction>();
    validate = (schema, value) => {
      const check = compiled.get(schema) ?? ajv.compile({ $ref: `meta#/components/schemas/${schema}` });
      compiled.set(schema, check);
      return check(value) ? [] : (check.errors ?? []);
    };
  });

  it('our test requests, so that what we accept is what Meta accepts', () => {
    const body: Json = bodyOf();
    expect(validate('TemplateMessage', body)).toEqual([]);
    expect(validate('BodyComponent', body.template.components[0])).toEqual([]);
    expect(validate('ButtonComponent', body.template.components[1])).toEqual([]);
  });

  it('every answer', async () => {
    const simulator = await start();
    const { json } = await send(simulator);
    expect(validate('MessageResponsePayload', json)).toEqual([]);
    for (const body of ['{', {}, bodyOf({ language: 'fr' })]) {
      const refused = await send(simulator, body);
      expect(validate('GraphAPIError_4', refused.json)).toEqual([]);
    }
  });

  it('every webhook', async () => {
    for (const payload of await webhooksOf(null, 2, true))
      expect(validate('WebhookPayload', payload)).toEqual([]);
    const [failed] = await webhooksOf({ fault: { lateFailure: 131026 } }, 1);
    expect(validate('WebhookPayload', failed)).toEqual([]);
  });

  it('and not everything: it is a judge that bites', async () => {
    const [sent] = await webhooksOf(null, 2);
    sent.entry[0].changes[0].value.statuses[0].timestamp = 1763629201;
    expect(validate('WebhookPayload', sent)).not.toEqual([]);
    expect(validate('GraphAPIError_4', { error: { message: 'x', type: 'y' } })).not.toEqual([]);
  });
});

/** Puts a value at a JSON pointer. */
function replace(document: Json, pointer: string, value: unknown): void {
  const steps = pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  const last = steps.pop()!;
  const parent = steps.reduce((found, step) => found[step], document);
  if (!(last in parent)) throw new Error(`nothing to replace at ${pointer}`);
  parent[last] = value;
}
