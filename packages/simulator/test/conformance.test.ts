import { describeWithReference, reference, until } from '@onecode/testing';
import type { Fault, Simulator } from '../src/index.js';
import { metaJson, signatureOf } from '../src/webhooks.js';
import { ACCOUNT, bodyOf, closeAll, send, SENDER, start, startBoth, type Json } from './sending.js';

const sample = (name: string): Json => JSON.parse(reference(`samples/${name}`));

afterEach(closeAll);

/** Returns the shape of a value: every path with the type of its value. */
function shapeOf(value: unknown, path = ''): string[] {
  if (Array.isArray(value)) return [...new Set(value.flatMap((item) => shapeOf(item, `${path}[]`)))];
  if (typeof value !== 'object' || value === null)
    return [`${path}: ${value === null ? 'null' : typeof value}`];
  return Object.entries(value)
    .flatMap(([key, held]) => shapeOf(held, `${path}.${key}`))
    .toSorted();
}

/** Returns the answer to a send under a fault. */
async function answerTo(fault: Fault): Promise<Json> {
  const simulator = await start();
  simulator.rules.add({ fault });
  return (await send(simulator)).json;
}

describeWithReference('the simulator, compared with the reference samples', () => {
  it.each(['send-request.copy-code.json', 'send-request.pt_BR.biz-opaque.json'])(
    'accepts the request %s',
    async (name) => {
      const simulator = await start();
      expect((await send(simulator, sample(name))).status).toBe(200);
    },
  );

  it.each([
    ['send-response.message-status.json', {}],
    ['send-response.held_for_quality_assessment.json', { messageStatus: 'held_for_quality_assessment' }],
    ['send-response.paused.json', { messageStatus: 'paused' }],
  ] as const)('returns a response in the shape of %s', async (name, fault) => {
    const json = await answerTo({ latencyMs: 0, ...fault });
    expect(shapeOf(json)).toEqual(shapeOf(sample(name)));
    expect(json.messages[0].message_status).toBe(sample(name).messages[0].message_status);
  });

  it.each([
    ['error.130429.json', { error: 130429, subcode: 2494055 }],
    ['error.131056.json', { error: 131056 }],
    ['error.132000.json', { error: 132000 }],
  ])('returns an error in the shape of %s', async (name, fault) => {
    expect(shapeOf(await answerTo(fault))).toEqual(shapeOf(sample(name)));
  });

  it('returns the error 100/33 for an unknown number, with the shape and text of the sample', async () => {
    const { json } = await send(await start(), bodyOf(), { sender: 'x106540352242922' });
    const expected = sample('error.100-33.json');
    expect(shapeOf(json)).toEqual(shapeOf(expected));
    expect(json.error.message).toBe(expected.error.message.replace("'1065", "'x1065"));
  });

  it('returns each error with the HTTP status that Meta documents', async () => {
    const listed = JSON.parse(reference('error-codes.json')) as { code: unknown; http: number | null }[];
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

  it.each([
    ['webhook.status.sent.v24-auth.json', {}, 0],
    ['webhook.status.delivered.v24-auth.json', {}, 1],
    ['webhook.status.read.v24-auth.json', {}, 2],
    ['webhook.status.failed-131026.auth.json', { lateFailure: 131026 }, 0],
    ['webhook.status.failed-130497.auth.json', { lateFailure: 130497 }, 0],
  ])('posts a receipt in the shape of %s', async (name, fault, place) => {
    const { simulator, receiver } = await startBoth({ delays: { sentMs: 0, deliveredMs: 0, readMs: 0 } });
    simulator.rules.add({ fault: { latencyMs: 0, ...fault } });
    await send(simulator);
    await until('the webhook', () => receiver.webhooks.length > place);
    const webhook = JSON.parse(receiver.webhooks[place]!.rawBody);
    expect(shapeOf(webhook)).toEqual(shapeOf(sample(name)));
  });

  const template = (name: string, language: string) => ({ wabaId: ACCOUNT, name, language });
  it.each<[string, (simulator: Simulator) => Promise<unknown>]>([
    [
      'webhook.template-status.paused.json',
      ({ business }) => business.changeTemplate(template('verification_code', 'pt_BR'), { status: 'PAUSED' }),
    ],
    [
      'webhook.template-status.approved.json',
      async ({ business }) => {
        const key = template('order_confirmation', 'en_US');
        await business.changeTemplate(key, { status: 'PENDING' }, { silent: true });
        await business.changeTemplate(key, { status: 'APPROVED' });
      },
    ],
    [
      'webhook.phone-quality.json',
      ({ business }) => business.changeSender(SENDER, { throughputLevel: 'HIGH' }),
    ],
    [
      'webhook.account-update.restriction.json',
      ({ business }) => business.changeAccount(ACCOUNT, { condition: 'restricted' }),
    ],
    [
      'webhook.button.did-not-request-code.json',
      async (simulator) => {
        const { json } = await send(simulator);
        await simulator.reportMessage(json.messages[0].id);
      },
    ],
  ])('posts a webhook in the shape of %s', async (name, act) => {
    const { simulator, receiver } = await startBoth({ delays: { sentMs: 60_000, deliveredMs: 60_000 } });
    await act(simulator);
    expect(shapeOf(JSON.parse(receiver.webhooks[0]!.rawBody))).toEqual(shapeOf(sample(name)));
  });

  it('signs and escapes webhooks like the sample', () => {
    const vector = sample('signature-vector.json');
    expect(metaJson(JSON.parse(vector.raw_body))).toBe(vector.raw_body);
    expect(`X-Hub-Signature-256: ${signatureOf(vector.app_secret, vector.raw_body)}`).toBe(vector.header);
  });
});
