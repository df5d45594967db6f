import type { Simulator } from '../src/index.js';
import { bodyOf, changed, closeAll, RECIPIENT, send, SENDER, setCode, start, type Json } from './sending.js';

let simulator: Simulator;
beforeAll(async () => {
  simulator = await start();
});
afterAll(closeAll);

describe('an accepted message', () => {
  it('is answered in the form of Meta, with a message id that holds the number', async () => {
    const { status, headers, json } = await send(simulator);
    expect(status).toBe(200);
    expect(headers.get('content-type')).toMatch(/^application\/json/);
    expect(json).toEqual({
      messaging_product: 'whatsapp',
      contacts: [{ input: RECIPIENT, wa_id: '551187654321' }],
      messages: [{ id: expect.stringMatching(/^wamid\.[A-Za-z0-9+/]+=*$/), message_status: 'accepted' }],
    });
    const inside = Buffer.from(json.messages[0].id.slice('wamid.'.length), 'base64').toString('latin1');
    expect(inside).toContain('551187654321');
  });

  it('gets an id that no other message has', async () => {
    const answers = await Promise.all(Array.from({ length: 200 }, () => send(simulator)));
    expect(new Set(answers.map(({ json }) => json.messages[0].id)).size).toBe(200);
  });

  it.each([
    ['a Brazilian mobile number', '+5521998765432', '552198765432'],
    ['a Brazilian landline', '+551133334444', '551133334444'],
    ['a Mexican number', '+525512345678', '5215512345678'],
    ['a number without +', '12015553931', '12015553931'],
  ])('has the wa_id that Meta makes of %s', async (_what, to, waId) => {
    const { json } = await send(simulator, bodyOf({ to }));
    expect(json.contacts).toEqual([{ input: to, wa_id: waId }]);
    expect(simulator.messages().at(-1)).toMatchObject({ to: `+${to.replace('+', '')}`, waId });
  });

  it.each([
    ['pt_BR', '*042913* é seu código de verificação. Para sua segurança, não o compartilhe.'],
    ['en', '*042913* is your verification code. For your security, do not share this code.'],
    ['en_US', '*042913* is your verification code. For your security, do not share this code.'],
  ])('shows the template in its language (%s)', async (language, text) => {
    await send(simulator, bodyOf({ language }));
    expect(simulator.messages().at(-1)).toMatchObject({ language, text, code: '042913', sender: SENDER });
  });

  it.each([
    ['the language policy', (body: Json) => (body.template.language.policy = 'deterministic')],
    [
      'the index as a number, as older samples have it',
      (body: Json) => (body.template.components[1].index = 0),
    ],
    ['no recipient_type', (body: Json) => delete body.recipient_type],
    ['no opaque data', (body: Json) => delete body.biz_opaque_callback_data],
    ['opaque data of 512 characters', (body: Json) => (body.biz_opaque_callback_data = 'é'.repeat(512))],
    ['a code of 15 characters', (body: Json) => setCode(body, '123456789012345')],
  ])('may have %s', async (_what, change) => {
    expect((await send(simulator, changed(change))).status).toBe(200);
  });

  it('is accepted under any version of the API', async () => {
    const response = await fetch(`${simulator.url}/v23.0/${SENDER}/messages`, {
      method: 'POST',
      headers: { Authorization: 'Bearer token', 'Content-Type': 'application/json' },
      body: JSON.stringify(bodyOf()),
    });
    expect(response.status).toBe(200);
  });
});

describe('what is remembered', () => {
  it('is bounded: the oldest messages and requests are forgotten', async () => {
    const own = await start({ keep: 3 });
    for (const code of ['1111', '2222', '3333', '4444']) await send(own, bodyOf({ code }));
    await send(own, '{}');
    expect(own.messages().map(({ code }) => code)).toEqual(['2222', '3333', '4444']);
    expect(own.requests().map(({ number }) => number)).toEqual([3, 4, 5]);
  });

  it('is a copy: a test that changes it changes nothing', async () => {
    const own = await start();
    await send(own);
    own.messages()[0]!.code = 'changed';
    own.requests()[0]!.outcome = 'hung';
    expect(own.messages()[0]!.code).toBe('042913');
    expect(own.requests()[0]!.outcome).toBe('accepted');
  });
});
