import type { Simulator } from '../src/index.js';
import { bodyOf, changed, closeAll, send, SENDER, setCode, start, type Json } from './sending.js';

let simulator: Simulator;
beforeAll(async () => {
  simulator = await start();
});
afterAll(closeAll);

describe('a request that Meta would refuse', () => {
  const button = (body: Json) => body.template.components[1];
  const cases: [what: string, change: (body: Json) => void, http: number, code: number, says: RegExp][] = [
    ['no messaging_product', (b) => delete b.messaging_product, 400, 100, /messaging_product is required/],
    ['another messaging_product', (b) => (b.messaging_product = 'sms'), 400, 100, /messaging_product/],
    ['another recipient_type', (b) => (b.recipient_type = 'group'), 400, 100, /recipient_type/],
    ['no to', (b) => delete b.to, 400, 100, /to is required/],
    ['a to that is no string', (b) => (b.to = 5511987654321), 400, 100, /to must be a string/],
    ['a to that is no number', (b) => (b.to = '+55 11 nobody'), 400, 131009, /to is not a valid phone/],
    ['a to that is too long', (b) => (b.to = '+1234567890123456'), 400, 131009, /to is not a valid phone/],
    ['no type', (b) => delete b.type, 400, 100, /type is required/],
    ['an unknown type', (b) => (b.type = 'telegram'), 400, 100, /type must be one of/],
    ['free text', (b) => (b.type = 'text'), 400, 131047, /24 hours/],
    ['no template', (b) => delete b.template, 400, 100, /template is required/],
    ['a template that is no object', (b) => (b.template = 'otp'), 400, 100, /template must be a JSON object/],
    ['a misspelled template member', (b) => (b.template.lang = 'en'), 400, 100, /Unexpected key "lang"/],
    ['no template name', (b) => delete b.template.name, 400, 100, /name'\] is required/],
    [
      'an impossible template name',
      (b) => (b.template.name = 'No Such'),
      404,
      132001,
      /No Such\) does not exist/,
    ],
    ['no language', (b) => delete b.template.language, 400, 100, /language'\] is required/],
    [
      'an unapproved language',
      (b) => (b.template.language.code = 'pt-BR'),
      404,
      132001,
      /does not exist in pt-BR/,
    ],
    ['another policy', (b) => (b.template.language.policy = 'fallback'), 400, 100, /policy/],
    [
      'components that are no array',
      (b) => (b.template.components = {}),
      400,
      100,
      /components'\] must be an array/,
    ],
    ['an unknown component', (b) => (b.template.components[0].type = 'foot'), 400, 100, /must be one of/],
    [
      'no body',
      (b) => b.template.components.shift(),
      400,
      132000,
      /\(0\) does not match the expected .* \(1\)/,
    ],
    [
      'two body parameters',
      (b) => b.template.components[0].parameters.push({ type: 'text', text: '1' }),
      400,
      132000,
      /body: number of localizable_params \(2\)/,
    ],
    [
      'a parameter of another type',
      (b) => (b.template.components[0].parameters[0].type = 'currency'),
      400,
      132012,
      /text/,
    ],
    ['an empty code', (b) => setCode(b, ''), 400, 131008, /missing text value/],
    ['a code of 16 characters', (b) => setCode(b, '1234567890123456'), 400, 132005, /longer than 15/],
    ['a code with a line break', (b) => setCode(b, '12\n34'), 400, 132018, /new-line/],
    [
      'a third component',
      (b) => b.template.components.push(structuredClone(button(b))),
      400,
      132000,
      /more components/,
    ],
    ['a header', (b) => (b.template.components[0].type = 'header'), 400, 132018, /header/],
    ['no button', (b) => b.template.components.pop(), 400, 131008, /Button at index 0 of type Url/],
    ['a copy_code button', (b) => (button(b).sub_type = 'copy_code'), 400, 132018, /must be of type Url/],
    ['an unknown button', (b) => (button(b).sub_type = 'otp'), 400, 100, /sub_type'\] must be one of/],
    ['a button without index', (b) => delete button(b).index, 400, 100, /index'\] is required/],
    ['another index', (b) => (button(b).index = '1'), 400, 132018, /index 1 does not exist/],
    [
      'two button parameters',
      (b) => button(b).parameters.push({ type: 'text', text: '1' }),
      400,
      132000,
      /buttons/,
    ],
    [
      'another code in the button',
      (b) => (button(b).parameters[0].text = '1'),
      400,
      132018,
      /must equal the code/,
    ],
    [
      'opaque data of 513 characters',
      (b) => (b.biz_opaque_callback_data = 'x'.repeat(513)),
      400,
      100,
      /at most 512/,
    ],
    ['opaque data that is no text', (b) => (b.biz_opaque_callback_data = { id: 1 }), 400, 100, /biz_opaque/],
  ];

  it.each(cases)('has %s', async (_what, change, http, code, says) => {
    const before = simulator.messages().length;
    const { status, json } = await send(simulator, changed(change));
    expect([status, json.error.code]).toEqual([http, code]);
    expect(`${json.error.message} ${json.error.error_data?.details}`).toMatch(says);
    expect(simulator.messages()).toHaveLength(before);
    expect(simulator.requests().at(-1)).toMatchObject({ outcome: 'refused', http, code, messageId: null });
  });

  it('gets an error in the form of Meta', async () => {
    const { json } = await send(
      simulator,
      changed((body) => body.template.components.shift()),
    );
    expect(json).toEqual({
      error: {
        message: '(#132000) Number of parameters does not match the expected number of params',
        type: 'OAuthException',
        code: 132000,
        error_data: {
          messaging_product: 'whatsapp',
          details: 'body: number of localizable_params (0) does not match the expected number of params (1)',
        },
        fbtrace_id: expect.stringMatching(/^A[\w-]{22}$/),
      },
    });
  });

  it.each([
    ['is no JSON', '{"messaging_product":', /could not be read/],
    ['is an array', '[]', /messaging_product is required/],
    ['is empty', '', /could not be read/],
    ['is larger than any message', 'x'.repeat(1024 * 1024 + 1), /could not be read/],
  ])('has a body that %s', async (_what, body, says) => {
    const { status, json } = await send(simulator, body);
    expect([status, json.error.code]).toEqual([400, 100]);
    expect(json.error.message).toMatch(says);
  });

  it('has a body that is not declared as JSON', async () => {
    const { status, json } = await send(simulator, bodyOf(), { headers: { 'Content-Type': 'text/plain' } });
    expect([status, json.error.code]).toEqual([400, 100]);
    expect(json.error.message).toMatch(/messaging_product is required/);
  });

  it.each(['', 'Basic dXNlcjpwYXNz', 'Bearer', 'Bearer two tokens'])(
    'comes without a bearer token (Authorization: %p)',
    async (Authorization) => {
      const { status, json } = await send(simulator, bodyOf(), { headers: { Authorization } });
      expect(status).toBe(401);
      expect(json.error).toEqual({
        message: 'An access token is required to request this resource.',
        type: 'OAuthException',
        code: 190,
        fbtrace_id: expect.any(String),
      });
    },
  );

  it('goes from something that is no phone number id', async () => {
    const { status, json } = await send(simulator, bodyOf(), { sender: 'me' });
    expect(status).toBe(400);
    expect(json.error).toMatchObject({ type: 'GraphMethodException', code: 100, error_subcode: 33 });
  });

  it.each([
    ['POST', '/v25.0/106540352242922/mesages'],
    ['GET', '/v25.0/106540352242922/mesages'],
    ['POST', '/latest/106540352242922/messages'],
    ['GET', '/nothing/here'],
  ])('goes to a path that does not exist (%s %s)', async (method, path) => {
    const response = await fetch(simulator.url + path, { method });
    expect(response.status).toBe(404);
    expect(await response.json()).toEqual({
      error: {
        message: `Unknown path components: ${path}`,
        type: 'OAuthException',
        code: 2500,
        fbtrace_id: expect.any(String),
      },
    });
  });

  it('comes with another method', async () => {
    const response = await fetch(`${simulator.apiUrl}/${SENDER}/messages`);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { code: 131055 } });
  });
});

describe('a simulator that knows its senders', () => {
  it('refuses other senders, other tokens, and a message to the sender itself', async () => {
    const own = await start({
      senders: [{ phoneNumberId: SENDER, displayPhoneNumber: '15550783881', token: 'right' }],
    });
    const right = { headers: { Authorization: 'Bearer right' } };
    expect((await send(own, bodyOf(), right)).status).toBe(200);
    expect((await send(own, bodyOf())).json.error.code).toBe(190);
    expect((await send(own, bodyOf(), { ...right, sender: '1' })).json.error).toMatchObject({
      code: 100,
      error_subcode: 33,
    });
    expect((await send(own, bodyOf({ to: '+15550783881' }), right)).json.error.code).toBe(131021);
  });

  it('refuses templates and languages that were not approved', async () => {
    const own = await start({ templates: ['login'], languages: ['en'] });
    expect((await send(own)).json.error.code).toBe(132001);
    const approved: Json = bodyOf({ language: 'en' });
    approved.template.name = 'login';
    expect((await send(own, approved)).status).toBe(200);
  });
});
