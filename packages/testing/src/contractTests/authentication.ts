import { randomUUID } from 'node:crypto';
import { generateApiKey } from '@onecode/domain';
import type { RawAnswer } from '../rawConnection.js';
import { until } from '../until.js';
import { contractTest, PHONE, type ContractCaller, type ContractTarget } from './target.js';

type Operation = (...authorization: string[]) => Promise<RawAnswer>;

/** Tests the Bearer credential in every operation that requires it. */
export function testAuthentication(open: () => ContractTarget): void {
  const api = contractTest(open);
  let caller: ContractCaller;
  beforeAll(async () => {
    caller = await api.target.buildCaller('test', { ratePerMinute: 10_000 });
  });

  const operation =
    (method: string, path: string, body = ''): Operation =>
    (...authorization) =>
      api.raw(
        method,
        path,
        authorization.map((value) => ['Authorization', value] as const),
        body,
      );
  const create = operation('POST', '/v1/send', JSON.stringify({ to: PHONE }));

  describe.each<[string, Operation, number]>([
    ['create', create, 202],
    ['status', operation('GET', `/v1/send/${randomUUID()}/status`), 404],
    ['verify', operation('POST', `/v1/send/${randomUUID()}/verify`, '{"code":"1"}'), 404],
  ])('the credential of %s', (_name, call, accepted) => {
    it.each([
      ['no header', []],
      ['an empty header', ['']],
      ['another scheme', ['Basic dXNlcjpwYXNz']],
      ['a scheme that begins with Bearer', ['Bearerx KEY']],
      ['only Bearer', ['Bearer']],
      ['the key without a scheme', ['KEY']],
      ['no space between Bearer and the key', ['BearerKEY']],
    ])('is refused as missing_credentials with %s', async (_header, values) => {
      const { status, headers, json } = await call(
        ...values.map((value) => value.replace('KEY', caller.key)),
      );
      expect([status, json.code]).toEqual([401, 'missing_credentials']);
      expect(headers['www-authenticate']).toBe('Bearer realm="onecode"');
    });

    it.each<[string, (key: string) => string]>([
      ['a prefix alone', () => 'Bearer ak_test_'],
      ['a key that was never issued, with a correct checksum', () => `Bearer ${generateApiKey('test')}`],
      [
        'the key with a typo',
        (key) => `Bearer ${key.slice(0, 12)}${key[12] === 'a' ? 'b' : 'a'}${key.slice(13)}`,
      ],
      ['the key cut off', (key) => `Bearer ${key.slice(0, -1)}`],
      ['a character after the key', (key) => `Bearer ${key}x`],
      ['the key in capitals', (key) => `Bearer ${key.toUpperCase()}`],
      ['the key in the other mode', (key) => `Bearer ${key.replace('ak_test_', 'ak_live_')}`],
      ['two keys', (key) => `Bearer ${key}, ${key}`],
      ['bytes beyond ASCII', () => 'Bearer \xe9\xa0\xff'],
      ['7,000 characters', () => `Bearer ${'k'.repeat(7_000)}`],
      ['7,000 spaces inside', () => `Bearer a${' '.repeat(7_000)}b`],
      ['7,000 spaces and tabs inside', () => `Bearer\ta${' \t'.repeat(3_500)}b`],
    ])('is refused as invalid_api_key with %s', async (_header, value) => {
      const { status, headers, json } = await call(value(caller.key));
      expect([status, json.code]).toEqual([401, 'invalid_api_key']);
      expect(headers['www-authenticate']).toBe('Bearer realm="onecode", error="invalid_token"');
    });

    it.each([
      ['as documented', 'Bearer KEY'],
      ['with the scheme in lower case', 'bearer KEY'],
      ['with the scheme in capitals', 'BEARER KEY'],
      ['with more spaces', 'Bearer   KEY  '],
      ['with a tab', 'Bearer\tKEY'],
      ['between 6,000 spaces and tabs', `Bearer${' \t'.repeat(1_500)}KEY${'\t '.repeat(1_500)}`],
    ])('is accepted %s', async (_header, value) => {
      expect((await call(value.replace('KEY', caller.key))).status).toBe(accepted);
    });

    it('is refused if there are two Authorization headers', async () => {
      const [right, wrong] = [`Bearer ${caller.key}`, 'Bearer x'];
      for (const pair of [
        [right, right],
        [right, wrong],
        [wrong, right],
        [right, ''],
      ] as const)
        expect((await call(...pair)).json).toMatchObject({ status: 400, code: 'bad_request' });
    });

    it('is not repeated in the response', async () => {
      for (const value of ['Bearer leaked-credential', 'Basic leaked-credential'])
        expect(JSON.stringify(await call(value))).not.toContain('leaked-credential');
    });
  });

  describe('a key', () => {
    it('gives its sends the mode of its application', async () => {
      for (const mode of ['test', 'live'] as const) {
        const owner = await api.target.buildCaller(mode);
        expect(owner.key.startsWith(`ak_${mode}_`)).toBe(true);
        expect((await create(`Bearer ${owner.key}`)).json['mode']).toBe(mode);
      }
    });

    it('is not read from the URL or the body', async () => {
      const { json } = await api.raw('POST', `/v1/send?access_token=${caller.key}`, [], `{"to":"${PHONE}"}`);
      expect(json).toMatchObject({ code: 'missing_credentials' });
    });

    it('is optional for the sign-up settings, even if it is wrong', async () => {
      await api.request.get('/v1/signup-settings').expect(200);
      await api.request.get('/v1/signup-settings').set('Authorization', 'Bearer wrong').expect(200);
    });

    it('is refused after its revocation, while another key of the application is accepted', async () => {
      const doomed = await api.target.addKey(caller);
      expect((await create(`Bearer ${doomed.key}`)).status).toBe(202);
      await api.target.revokeKey(doomed);
      const refused = await until('a refusal', async () => {
        const answer = await create(`Bearer ${doomed.key}`);
        return answer.status === 401 && answer;
      });
      expect(refused.json.code).toBe('invalid_api_key');
      expect((await create(`Bearer ${caller.key}`)).status).toBe(202);
    });
  });
}
