import type { Simulator } from '../src/index.js';
import { bodyOf, closeAll, codeOf, control, RECIPIENT, send, SENDER, start, type Json } from './sending.js';

let simulator: Simulator;
beforeAll(async () => {
  simulator = await start();
});
afterAll(closeAll);

describe('an accepted message', () => {
  it('gets Meta’s response, with a message id that contains the number', async () => {
    const { status, headers, json } = await send(simulator);
    expect([status, headers.get('content-type')]).toEqual([200, 'application/json; charset=UTF-8']);
    expect(json).toEqual({
      messaging_product: 'whatsapp',
      contacts: [{ input: RECIPIENT, wa_id: '551187654321' }],
      messages: [{ id: expect.stringMatching(/^wamid\.[A-Za-z0-9+/]+=*$/), message_status: 'accepted' }],
    });
    const inside = Buffer.from(json.messages[0].id.slice('wamid.'.length), 'base64').toString('latin1');
    expect(inside).toContain('551187654321');
    const again = await send(simulator);
    expect(again.json.messages[0].id).not.toBe(json.messages[0].id);
  });

  it.each([
    ['a Brazilian mobile number', '+5521998765432', '552198765432'],
    ['a Brazilian landline', '+551133334444', '551133334444'],
    ['a Mexican number', '+525512345678', '5215512345678'],
    ['a number without +', '12015553931', '12015553931'],
  ])('gets the wa_id that Meta returns for %s', async (_what, to, waId) => {
    const { json } = await send(simulator, bodyOf({ to }));
    expect(json.contacts).toEqual([{ input: to, wa_id: waId }]);
    expect(simulator.messages().at(-1)).toMatchObject({ to: `+${to.replace('+', '')}`, waId });
  });

  it.each([
    [
      'pt_BR',
      '*042913* é seu código de verificação. Para sua segurança, não o compartilhe.',
      'Este código expira em 10 minutos.',
    ],
    [
      'en_US',
      '*042913* is your verification code. For your security, do not share this code.',
      'This code expires in 10 minutes.',
    ],
  ])('contains the template’s text in the language %s', async (language, text, footer) => {
    await send(simulator, bodyOf({ language }));
    const message = { language, text, footer, code: '042913', sender: SENDER };
    expect(simulator.messages().at(-1)).toMatchObject(message);
  });

  it('is stored with its request, up to a limit', async () => {
    const own = await start({ keep: 3 });
    for (const code of ['1111', '2222', '3333', '4444']) await send(own, bodyOf({ code }));
    await send(own, '{}');
    expect(own.messages().map(({ code }) => code)).toEqual(['2222', '3333', '4444']);
    expect(own.requests().map(({ number }) => number)).toEqual([3, 4, 5]);
  });
});

describe('a request', () => {
  const button = (body: Json) => body.template.components[1];
  const setCode = (body: Json, code: string) => {
    for (const component of body.template.components) component.parameters[0].text = code;
  };
  const cases: [what: string, change: (body: Json) => void, http: number, code: number][] = [
    ['another messaging_product', (b) => (b.messaging_product = 'sms'), 400, 100],
    ['another recipient_type', (b) => (b.recipient_type = 'group'), 400, 100],
    ['no to', (b) => delete b.to, 400, 100],
    ['a to that is not a number', (b) => (b.to = '+55 11 unknown'), 400, 131009],
    ['a to that is too long', (b) => (b.to = '+1234567890123456'), 400, 131009],
    ['another type', (b) => (b.type = 'text'), 400, 100],
    ['no template', (b) => delete b.template, 400, 100],
    ['an impossible template name', (b) => (b.template.name = 'No Such'), 404, 132001],
    ['an unapproved language', (b) => (b.template.language.code = 'pt-BR'), 404, 132001],
    ['no body', (b) => b.template.components.shift(), 400, 132000],
    ['two parameters', (b) => button(b).parameters.push({ type: 'text', text: '1' }), 400, 132000],
    ['a third component', (b) => b.template.components.push(button(b)), 400, 132000],
    ['another parameter', (b) => (button(b).parameters[0].type = 'currency'), 400, 132012],
    ['an empty code', (b) => setCode(b, ''), 400, 131008],
    ['a code of 16 characters', (b) => setCode(b, '1234567890123456'), 400, 132005],
    ['a code with a line break', (b) => setCode(b, '12\n34'), 400, 132018],
    ['no button', (b) => b.template.components.pop(), 400, 131008],
    ['a copy_code button', (b) => (button(b).sub_type = 'copy_code'), 400, 132018],
    ['another index', (b) => (button(b).index = '1'), 400, 132018],
    ['another code in the button', (b) => (button(b).parameters[0].text = '1'), 400, 132018],
    ['opaque data of 513 characters', (b) => (b.biz_opaque_callback_data = 'x'.repeat(513)), 400, 100],
  ];

  it.each(cases)('is refused if it has %s', async (_what, change, http, code) => {
    const before = simulator.messages().length;
    const body = bodyOf();
    change(body);
    const { status, json } = await send(simulator, body);
    expect([status, json.error.code]).toEqual([http, code]);
    expect(simulator.messages()).toHaveLength(before);
    expect(simulator.requests().at(-1)).toMatchObject({ outcome: 'refused', http, code, messageId: null });
  });

  it.each(['{"messaging_product":', '[]', '', 'x'.repeat(1024 * 1024 + 1)])(
    'is refused if its body is not a message (%#)',
    async (body) => {
      const { status, json } = await send(simulator, body);
      expect([status, json.error.code]).toEqual([400, 100]);
    },
  );

  it.each(['', 'Basic dXNlcjpwYXNz', 'Bearer two tokens'])(
    'is refused without a bearer token (Authorization: %p)',
    async (Authorization) => {
      const { status, json } = await send(simulator, bodyOf(), { headers: { Authorization } });
      expect([status, json.error.code]).toEqual([401, 190]);
    },
  );

  it('is refused with a revoked or expired token', async () => {
    const own = await start();
    const put = (token: object) => control(own, 'PUT', 'tokens/token', token);
    await put({ valid: false });
    expect(await codeOf(own)).toBe(190);
    await put({ valid: true, expiresAt: 1_700_000_000 });
    expect(await codeOf(own)).toBe(190);
  });

  it('is refused for an unknown or deleted number', async () => {
    const own = await start();
    const unknown = { type: 'GraphMethodException', code: 100, error_subcode: 33 };
    expect((await send(own, bodyOf(), { sender: 'me' })).json.error).toMatchObject(unknown);
    await control(own, 'PUT', `senders/${SENDER}`, { status: 'DELETED' });
    expect((await send(own)).json.error).toMatchObject(unknown);
  });

  it('is refused for an unknown path', async () => {
    const response = await fetch(`${simulator.apiUrl}/${SENDER}/mesages`, { method: 'POST' });
    expect([response.status, await response.json()]).toMatchObject([404, { error: { code: 2500 } }]);
  });
});
