import type { RawAnswer } from '../rawConnection.js';
import { bearer, contractTest, PHONE, type ContractTarget } from './target.js';

const BODY = JSON.stringify({ to: PHONE });
export const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Returns one response of every kind in the contract, by name. */
export async function contractAnswers(target: ContractTarget): Promise<Map<string, RawAnswer>> {
  const api = contractTest(() => target);
  const test = await target.buildCaller('test', { ratePerMinute: 1 });
  const live = await target.buildCaller('live', { freeQuota: 0, credits: 0 });
  const as = (caller: { key: string }, ...more: [string, string][]) => [
    ...Object.entries(bearer(caller)),
    ...more,
  ];
  const get = (path: string, headers: [string, string][] = []) => api.raw('GET', path, headers);
  const post = (path: string, headers: [string, string][], body: string) =>
    api.raw('POST', path, headers, body);
  const once: [string, string] = ['Idempotency-Key', 'once'];
  const created = await post('/v1/send', as(test, once), BODY);
  const id = String(created.json['id']);

  return new Map(
    Object.entries({
      'a new send': created,
      'a repeat': await post('/v1/send', as(test, once), BODY),
      'a status': await get(`/v1/send/${id}/status`, as(test)),
      'a judged guess': await post(`/v1/send/${id}/verify`, as(test), '{"code":"1"}'),
      'the sign-up settings': await get('/v1/signup-settings'),
      'no credential': await post('/v1/send', [], BODY),
      'a wrong key': await post('/v1/send', [['Authorization', 'Bearer x']], BODY),
      'no unit': await post('/v1/send', as(live), BODY),
      'no send': await get('/v1/send/x/status', as(test)),
      'a key reused': await post('/v1/send', as(test, once), `${BODY} `),
      'no JSON': await post('/v1/send', as(test), ''),
      'a body too large': await post('/v1/send', as(test), ' '.repeat(65_537)),
      'a wrong recipient': await post('/v1/send', as(test), '{}'),
      'an e-mail address': await post('/v1/send', as(test), '{"to":"a@example.com"}'),
      'a wrong code': await post('/v1/send', as(test), `{"to":"${PHONE}","code":"1"}`),
      'a wrong locale': await post('/v1/send', as(test), `{"to":"${PHONE}","locale":"x"}`),
      'a long key': await post('/v1/send', as(test, ['Idempotency-Key', 'k'.repeat(256)]), BODY),
      'a limit': await post('/v1/send', as(test), BODY),
      'an unknown path': await api.raw('GET', '/unknown'),
      'a wrong method': await get('/v1/send'),
      'a header twice': await get('/v1/signup-settings', [
        ['Host', 'a'],
        ['Host', 'b'],
      ]),
    }),
  );
}

/** Tests the headers of every response. @param isPublic returns whether caches may store the response with this name */
export function testAnswerHeaders(
  answersOf: () => Promise<Map<string, RawAnswer>>,
  isPublic: (name: string) => boolean = () => false,
): void {
  describe('every kind of response', () => {
    let answers: Map<string, RawAnswer>;
    beforeAll(async () => {
      answers = await answersOf();
    });

    it('has a unique request id', () => {
      const ids = [...answers.values()].map(({ headers }) => headers['x-request-id'] ?? '');
      for (const id of ids) expect(id).toMatch(UUID);
      expect(new Set(ids).size).toBe(answers.size);
    });

    it('forbids type sniffing, and caching unless it is public', () => {
      for (const [name, { headers }] of answers)
        expect([name, headers['x-content-type-options'], headers['cache-control']]).toEqual([
          name,
          'nosniff',
          isPublic(name) ? expect.stringMatching(/^public, max-age=\d+$/) : 'no-store',
        ]);
    });

    it('has each header once, and none that reveals the software or allows browsers', () => {
      for (const [name, { headers, headerCounts }] of answers) {
        for (const [header, count] of Object.entries(headerCounts))
          expect([name, header, count]).toEqual([name, header, 1]);
        for (const header of ['x-powered-by', 'server', 'set-cookie', 'access-control-allow-origin'])
          expect([name, header, headers[header]]).toEqual([name, header, undefined]);
      }
    });

    it('has a media type, application/problem+json for errors', () => {
      const success = /^(application\/json|text\/[a-z]+;|text\/css|image\/svg\+xml)/;
      for (const [name, { status, headers }] of answers)
        expect([name, headers['content-type']]).toEqual([
          name,
          status >= 400 ? 'application/problem+json' : expect.stringMatching(success),
        ]);
    });

    it('has a detail and the common base of problem types if it is a problem', () => {
      const problems = [...answers].filter(([, { status }]) => status >= 400);
      for (const [name, { json }] of problems)
        expect([name, json['detail']]).toEqual([name, expect.stringMatching(/\S/)]);
      const bases = problems.map(([, { json }]) => String(json['type']).replace(`/errors#${json.code}`, ''));
      expect(new Set(bases).size).toBe(1);
      expect(URL.canParse(bases[0] ?? '')).toBe(true);
    });
  });
}

/** Tests the headers of the service. */
export function testHeaders(open: () => ContractTarget): void {
  const api = contractTest(open);
  testAnswerHeaders(() => contractAnswers(api.target));

  it('X-Request-Id is generated, even if the request contains one', async () => {
    const { headers } = await api.raw('GET', '/v1/signup-settings', [['X-Request-Id', 'leaked']]);
    expect(headers['x-request-id']).toMatch(UUID);
  });
}
