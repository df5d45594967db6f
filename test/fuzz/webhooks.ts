import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import type { Operation } from './contract.js';
import { HOSTILE_JSON, hostileStrings, percentEncoded } from './hostileStrings.js';
import { bytesOf, pickFrom, PICK, type RequestDraft, type Kind } from './request.js';

/** The provider's webhook, which is not in the document. */
export const WEBHOOK: Operation = {
  id: 'webhook',
  method: 'POST',
  template: '/webhooks/whatsapp',
  methods: ['GET', 'HEAD', 'POST'],
  needsKey: false,
  pathParameters: [],
  headers: [],
  body: null,
  statuses: [200, 400, 401, 403, 408, 413, 422, 431],
};

/** Any JSON value in place of a field. */
const anything = fc.oneof(
  hostileStrings,
  fc.integer(),
  fc.double(),
  fc.constantFrom(null, true, [], {}, [[]], [null], { __proto__: null }),
  fc.jsonValue({ maxDepth: 2 }),
);
const mostly = (usual: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 4, arbitrary: usual }, { weight: 1, arbitrary: anything });

const status = fc.record(
  {
    id: mostly(fc.nat(1_000).map((number) => `wamid.${number}`)),
    status: mostly(fc.constantFrom('sent', 'delivered', 'read', 'failed', 'deleted')),
    timestamp: mostly(fc.constantFrom('1773412345', '0', '-1', '99999999999999', '1773412345000', 'x')),
    recipient_id: anything,
    type: mostly(fc.constant('message')),
    biz_opaque_callback_data: mostly(fc.uuid()),
    errors: mostly(
      fc.array(fc.record({ code: mostly(fc.constantFrom(131026, 2 ** 31, -1, 0.5)), title: anything })),
    ),
  },
  { requiredKeys: [] },
);
const list = (element: fc.Arbitrary<unknown>, maxLength: number): fc.Arbitrary<unknown> =>
  fc.array(mostly(element), { maxLength });
const report = fc.record(
  {
    object: mostly(fc.constant('whatsapp_business_account')),
    entry: list(
      fc.record({
        changes: list(
          fc.record({
            field: mostly(fc.constant('messages')),
            value: mostly(fc.record({ statuses: list(status, 8), messages: anything })),
          }),
          3,
        ),
      }),
      3,
    ),
  },
  { requiredKeys: ['entry'] },
);

interface Webhook {
  kind: Kind;
  rule: string;
  body: string | Buffer;
  sign: (body: Buffer, secret: string) => string | null;
  expected: readonly number[];
}

const signed: Webhook['sign'] = (body, secret) =>
  `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;

/** Invalid signatures. */
const INVALID_SIGNATURES: readonly Webhook['sign'][] = [
  () => null,
  () => '',
  () => 'sha256=',
  () => `sha256=${'0'.repeat(64)}`,
  (body, secret) => signed(body, `${secret}x`),
  (body, secret) => `${signed(body, secret)}0`,
  (body, secret) => signed(body, secret)?.slice(0, -1) ?? '',
  (body, secret) => signed(body, secret)?.replace('sha256', 'sha1') ?? '',
  (body, secret) => signed(Buffer.concat([body, Buffer.from(' ')]), secret),
];

const posts: fc.Arbitrary<Webhook> = fc.oneof(
  report.map((value): Webhook => ({
    kind: 'valid',
    rule: 'a signed report',
    body: JSON.stringify(value),
    sign: signed,
    expected: [200],
  })),
  fc.tuple(report, fc.constantFrom(...INVALID_SIGNATURES)).map(([value, sign]): Webhook => ({
    kind: 'almost valid',
    rule: 'a wrong signature',
    body: JSON.stringify(value),
    sign,
    expected: [401],
  })),
  fc.constantFrom(...HOSTILE_JSON).map((body): Webhook => ({
    kind: 'hostile',
    rule: 'signed hostile JSON',
    body,
    sign: signed,
    expected: [200, 422],
  })),
  fc.tuple(anything, hostileStrings).map(([value, text]): Webhook => ({
    kind: 'hostile',
    rule: 'signed JSON of any kind',
    body: JSON.stringify(value) ?? text,
    sign: signed,
    expected: [200, 422],
  })),
  fc.uint8Array({ maxLength: 400 }).map((bytes): Webhook => ({
    kind: 'hostile',
    rule: 'signed bytes',
    body: Buffer.from(bytes),
    sign: signed,
    expected: [200, 422],
  })),
  fc.tuple(hostileStrings, fc.nat(64)).map(([text, start]): Webhook => ({
    kind: 'hostile',
    rule: 'a hostile signature',
    body: text,
    sign: () => `sha256=${'a'.repeat(start)}${headerSafe(text)}`,
    expected: [401],
  })),
);

const headerSafe = (text: string): string => percentEncoded(text).slice(0, 2_000);

/** Reports of the provider with valid and invalid signatures, and subscription handshakes. */
export const webhookRequests: fc.Arbitrary<RequestDraft> = fc.oneof(
  { weight: 6, arbitrary: posts.map(postOf) },
  {
    weight: 1,
    arbitrary: fc.tuple(hostileStrings, PICK).map(([text, pick]) => handshakeOf(text, pick)),
  },
);

function postOf({ kind, rule, body, sign, expected }: Webhook): RequestDraft {
  const { bytes } = bytesOf(body);
  return ({ appSecret }) => {
    const signature = sign(bytes, appSecret);
    return {
      kind,
      operation: WEBHOOK.id,
      rule,
      from: WEBHOOK,
      caller: 'provider',
      method: 'POST',
      target: WEBHOOK.template,
      parameters: {},
      headers: [
        ['Host', 'codes.test'],
        ['Content-Type', 'application/json'],
        ...(signature === null ? [] : [['X-Hub-Signature-256', signature] as const]),
      ],
      value: undefined,
      bytes,
      expected,
    };
  };
}

function handshakeOf(text: string, pick: number): RequestDraft {
  return ({ verifyToken }) => {
    const token = pickFrom(
      [verifyToken, headerSafe(text), `${verifyToken}0`, `${verifyToken}&hub.verify_token=x`],
      pick,
    );
    const mode = pickFrom(['subscribe', 'subscribe', headerSafe(text)], pick >> 2);
    const isRight = token === verifyToken && mode === 'subscribe' && headerSafe(text) !== '';
    return {
      kind: isRight ? 'valid' : 'almost valid',
      operation: WEBHOOK.id,
      rule: 'a handshake',
      from: WEBHOOK,
      caller: 'provider',
      method: 'GET',
      target: `${WEBHOOK.template}?hub.mode=${mode}&hub.verify_token=${token}&hub.challenge=${headerSafe(text)}`,
      parameters: {},
      headers: [['Host', 'codes.test']],
      value: undefined,
      expected: isRight ? [200] : [403],
    };
  };
}
