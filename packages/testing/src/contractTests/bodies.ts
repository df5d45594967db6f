import type { ProblemCode } from '@onecode/domain';
import { bearer, contractTest, PHONE, type ContractCaller, type ContractTarget } from './target.js';

function bytes(...parts: (string | number[])[]): Buffer {
  return Buffer.concat(parts.map((part) => Buffer.from(part as string)));
}

/** Bodies that are not a JSON object in UTF-8. */
const NO_JSON: [string, Buffer | string][] = [
  ['nothing', ''],
  ['white space', ' \n'],
  ['text', 'to=+5511987654321'],
  ['a cut-off object', `{"to":"${PHONE}"`],
  ['something after the object', `{"to":"${PHONE}"}x`],
  ['a comma at the end', `{"to":"${PHONE}",}`],
  ['a raw line break in a string', `{"to":"${PHONE}\n"}`],
  ['a NUL after the object', bytes(`{"to":"${PHONE}"}`, [0])],
  ['a byte order mark', bytes([0xef, 0xbb, 0xbf], `{"to":"${PHONE}"}`)],
  ['UTF-16 with a byte order mark', bytes([0xff, 0xfe], [...Buffer.from(`{"to":"${PHONE}"}`, 'utf16le')])],
  ['an invalid byte', bytes(`{"to":"${PHONE}","code":"`, [0xff], '"}')],
  ['an overlong UTF-8 sequence', bytes(`{"to":"`, [0xc0, 0xab], '5511987654321"}')],
  ['compressed bytes', bytes([0x1f, 0x8b, 8, 0, 0, 0, 0, 0])],
  ['null', 'null'],
  ['a number of 60,001 digits', `1${'0'.repeat(60_000)}`],
  ['a huge exponent', '{"to":1e999999}'],
  ['an empty array', '[]'],
  ['a nesting of 30,000 arrays', '['.repeat(30_000) + ']'.repeat(30_000)],
  ['a nesting inside a member', `{"to":${'['.repeat(30_000)}${']'.repeat(30_000)}}`],
];

/** Bodies of a creation with undocumented or repeated members, or members that are not strings. */
const WRONG_MEMBERS: [string, string][] = [
  ['channel', `{"to":"${PHONE}","channel":"whatsapp"}`],
  ['an empty name', `{"to":"${PHONE}","":""}`],
  ['a name in capitals', `{"To":"${PHONE}"}`],
  ['__proto__', `{"to":"${PHONE}","__proto__":{"code":"1234"}}`],
  ['__proto__ with the only recipient', `{"__proto__":{"to":"${PHONE}"}}`],
  ['to as null', '{"to":null}'],
  ['to as a number', '{"to":5511987654321}'],
  ['code as a number', `{"to":"${PHONE}","code":1234}`],
  ['code as null', `{"to":"${PHONE}","code":null}`],
  ['locale as null', `{"to":"${PHONE}","locale":null}`],
  ['to twice', `{"to":"${PHONE}","to":"${PHONE}"}`],
  ['to twice, once escaped', `{"to":"${PHONE}","t\\u006f":"${PHONE}"}`],
  ['to twice, first as a number', `{"to":1,"to":"${PHONE}"}`],
  ['code twice among others', `{"code":"1234","to":"${PHONE}","code":"1234","locale":"en"}`],
  ['a quote in a value that hides a repeat', `{"to":"\\"","to":"${PHONE}"}`],
];

/** Bodies of a creation with faulty fields, the expected code, and the names of the faulty fields if there are several. */
const FAULTY_FIELDS: [body: string, code: ProblemCode, fields: string[] | undefined][] = [
  ['{}', 'invalid_recipient', ['to']],
  ['{"to":"5511987654321"}', 'invalid_recipient', ['to']],
  ['{"to":"\\ud800"}', 'invalid_recipient', ['to']],
  ['{"to":"+551198765\\u00004321"}', 'invalid_recipient', ['to']],
  ['{"code":"1234"}', 'invalid_recipient', ['to']],
  ['{"to":"someone@example.com"}', 'channel_unavailable', ['to']],
  [`{"to":"${PHONE}","code":"123"}`, 'invalid_code', ['code']],
  [`{"to":"${PHONE}","code":"12345678901"}`, 'invalid_code', ['code']],
  [`{"to":"${PHONE}","code":"12a4"}`, 'invalid_code', ['code']],
  [`{"to":"${PHONE}","code":"1234\\n"}`, 'invalid_code', ['code']],
  [`{"to":"${PHONE}","code":"١٢٣٤"}`, 'invalid_code', ['code']],
  [`{"to":"${PHONE}","locale":"EN"}`, 'invalid_locale', ['locale']],
  [`{"to":"${PHONE}","locale":"pt_BR"}`, 'invalid_locale', ['locale']],
  ['{"to":"x","code":"1","locale":"y"}', 'invalid_recipient', ['to', 'code', 'locale']],
  ['{"locale":"y","code":"1"}', 'invalid_recipient', ['to', 'code', 'locale']],
  ['{"locale":"y","code":"1","to":"a@example.com"}', 'channel_unavailable', ['to', 'code', 'locale']],
  [`{"locale":"y","code":"1","to":"${PHONE}"}`, 'invalid_code', ['code', 'locale']],
  ['{"locale":"y","code":"1","to":"x","more":""}', 'invalid_json', undefined],
  ['{"locale":"y","code":1,"to":"x"}', 'invalid_json', ['code']],
];

/** Bodies that are not a guess. */
const NO_GUESSES: [name: string, body: Buffer | string][] = [
  ['no code', '{}'],
  ['code as a number', '{"code":4217}'],
  ['code as null', '{"code":null}'],
  ['an unknown member', '{"code":"004217","to":"x"}'],
  ['__proto__', '{"code":"004217","__proto__":null}'],
  ['a repeated code', '{"code":"004217","code":"004217"}'],
];

/** Tests the bodies of creation and verification. */
export function testBodies(open: () => ContractTarget): void {
  const api = contractTest(open);
  let caller: ContractCaller;
  beforeAll(async () => {
    caller = await api.target.buildCaller('test', { ratePerMinute: 10_000 });
  });
  const post = (path: string, body: string | Buffer) =>
    api.raw('POST', path, Object.entries(bearer(caller)), body);

  describe('the body of POST /v1/send', () => {
    it.each([...NO_JSON, ...WRONG_MEMBERS])('is refused as invalid_json: %s', async (_name, body) => {
      expect((await post('/v1/send', body)).json).toMatchObject({ status: 422, code: 'invalid_json' });
    });

    it.each(FAULTY_FIELDS)(
      'is refused with the names of all faulty fields: %s is %s',
      async (body, code, fields) => {
        const { json } = await post('/v1/send', body);
        expect(json).toMatchObject({ status: 422, code });
        expect(json['errors'] && Object.keys(json['errors'])).toEqual(fields);
      },
    );
  });

  describe('the body of POST /v1/send/{id}/verify', () => {
    it.each([...NO_JSON, ...NO_GUESSES])(
      'is refused as invalid_json, without using an attempt: %s',
      async (_name, body) => {
        const { id } = (await api.create(caller).expect(202)).body;
        expect((await post(`/v1/send/${id}/verify`, body)).json).toMatchObject({ code: 'invalid_json' });
        expect((await api.verify(caller, id, '1')).body.attempts_left).toBe(4);
      },
    );
  });
}
