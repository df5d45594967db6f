import type { RawAnswer } from '../rawConnection.js';
import { bearer, contractTest, PHONE, type ContractCaller, type ContractTarget } from './target.js';

const BODY = `{"to":"${PHONE}","code":"004217"}`;
/** Returns the UTF-8 bytes of a text in the form of a header value: one character for each byte. */
const utf8 = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');

/** Tests the `Idempotency-Key` and repeated requests. */
export function testIdempotency(open: () => ContractTarget): void {
  const api = contractTest(open);
  let test: ContractCaller;
  beforeAll(async () => {
    test = await api.target.buildCaller('test', { ratePerMinute: 10_000 });
  });

  let keys = 0;
  const newKey = (): string => `key ${++keys}`;

  /** Creates a send with exactly these bytes as the key, including outer white space. */
  function create(
    key: string,
    body: string = BODY,
    {
      caller = test,
      headers = [],
    }: { caller?: Pick<ContractCaller, 'key'>; headers?: [string, string][] } = {},
  ): Promise<RawAnswer> {
    const sent = [...Object.entries(bearer(caller)), ...headers, ['Idempotency-Key', key] as const];
    return api.raw('POST', '/v1/send', sent, body);
  }

  async function idOf(answer: RawAnswer | Promise<RawAnswer>): Promise<string> {
    const { status, json } = await answer;
    expect(status).toBe(202);
    return json['id'] as string;
  }

  describe('the Idempotency-Key', () => {
    it('leads to the same send for the same body', async () => {
      const key = newKey();
      expect(await idOf(create(key))).toBe(await idOf(create(key)));
    });

    it('counts as absent if it is missing, empty or blank', async () => {
      const without = () => api.create(test, BODY).then(({ body }) => body.id as string);
      const ids = [await without(), await without()];
      for (const key of ['', '', '  ', ' \t ', '\t']) ids.push(await idOf(create(key)));
      expect(new Set(ids).size).toBe(7);
      for (const id of ids) expect(await api.target.idempotencyKeyOf(id)).toBeNull();
    });

    it('is trimmed of outer spaces and tabs only', async () => {
      const key = newKey();
      const id = await idOf(create(key));
      for (const padded of [` ${key}`, `${key} `, `\t${key}\t`, ` \t ${key} \t `])
        expect(await idOf(create(padded))).toBe(id);
      expect(await idOf(create(key.replace(' ', '  ')))).not.toBe(id);
      expect(await idOf(create(key.replace(' ', '\t')))).not.toBe(id);
    });

    it.each([
      ['à, which ends in the byte A0', utf8('à')],
      ['the byte A0 alone', '\xa0'],
      ['a byte order mark at both ends', utf8('\ufeffk\ufeff')],
      ['bytes that are no UTF-8', '\xff\xfe\x80'],
      ['every printable byte', Buffer.from(Array.from({ length: 94 }, (_, i) => i + 33)).toString('latin1')],
    ])('keeps its bytes: %s', async (_name, key) => {
      const id = await idOf(create(` ${key}\t`));
      expect(await api.target.idempotencyKeyOf(id)).toBe(key);
      expect(await idOf(create(key))).toBe(id);
    });

    it('is another key without its last byte', async () => {
      expect(await idOf(create(utf8('clé à')))).not.toBe(await idOf(create(utf8('clé à').slice(0, -1))));
    });

    it('is case-sensitive', async () => {
      expect(await idOf(create('Case'))).not.toBe(await idOf(create('case')));
    });

    it.each([
      ['255 letters', 'k'.repeat(255)],
      ['255 bytes in 64 characters', utf8('🔑'.repeat(63) + 'éx')],
      ['255 bytes between white space', ` \t${'p'.repeat(255)}\t `],
      [
        '255 bytes between 6,000 spaces and tabs',
        `${' \t'.repeat(1_500)}${'q'.repeat(255)}${'\t '.repeat(1_500)}`,
      ],
    ])('is accepted with %s', async (_name, key) => {
      const id = await idOf(create(key));
      expect((await api.target.idempotencyKeyOf(id))?.length).toBe(255);
      expect(await idOf(create(key))).toBe(id);
    });

    it.each([
      ['256 letters', 'k'.repeat(256)],
      ['256 bytes in 128 characters', utf8('é'.repeat(128))],
      ['7,000 spaces inside', `a${' '.repeat(7_000)}b`],
      ['256 bytes with spaces inside, between white space', ` \ta${' '.repeat(254)}b\t `],
      ['256 bytes of which the last is A0', `${'k'.repeat(254)}${utf8('à')}`],
    ])('is refused with %s', async (_name, key) => {
      expect((await create(key)).json).toMatchObject({ status: 422, code: 'invalid_idempotency_key' });
    });
  });

  describe('the same key', () => {
    it.each([
      ['a space inside', `{"to": "${PHONE}","code":"004217"}`],
      ['a line break at the end', `${BODY}\n`],
      ['another order of fields', `{"code":"004217","to":"${PHONE}"}`],
      ['an escape', `{"to":"\\u002b${PHONE.slice(1)}","code":"004217"}`],
      ['another form of the number', '{"to":"+55 11 98765-4321","code":"004217"}'],
      ['another code', `{"to":"${PHONE}","code":"004218"}`],
      ['the default locale', `{"to":"${PHONE}","code":"004217","locale":"pt-BR"}`],
    ])('is refused with 409 if the body has %s', async (_name, body) => {
      const key = newKey();
      const id = await idOf(create(key));
      expect((await create(key, body)).json).toMatchObject({ status: 409, code: 'idempotency_key_reused' });
      expect(await idOf(create(key))).toBe(id);
    });

    it('is accepted with other framing or headers around the same body', async () => {
      const key = newKey();
      const id = await idOf(create(key));
      const chunked = [
        `5\r\n${BODY.slice(0, 5)}`,
        `${(BODY.length - 5).toString(16)}\r\n${BODY.slice(5)}`,
        '0',
        '',
      ];
      const headers: [string, string][] = [['Transfer-Encoding', 'chunked']];
      expect(await idOf(create(key, `${chunked.join('\r\n')}\r\n`, { headers }))).toBe(id);
      expect(await idOf(create(key, BODY, { headers: [['Content-Type', 'text/plain']] }))).toBe(id);
    });
  });

  describe('the scope of a key', () => {
    it('is the application, not the account', async () => {
      const key = newKey();
      const sibling = await api.target.buildCaller('test', { sibling: test });
      const stranger = await api.target.buildCaller('test');
      const ids = await Promise.all(
        [test, sibling, stranger].map((caller) => idOf(create(key, BODY, { caller }))),
      );
      expect(new Set(ids).size).toBe(3);
      expect((await create(key, `${BODY} `, { caller: sibling })).status).toBe(409);
    });

    it('is shared by the API keys of one application', async () => {
      const key = newKey();
      const second = await api.target.addKey(test);
      expect(await idOf(create(key, BODY, { caller: second }))).toBe(await idOf(create(key)));
    });
  });

  describe('a repeated request', () => {
    it('returns the current state of the send', async () => {
      const caller = await api.target.buildCaller('live');
      const key = newKey();
      const id = await idOf(create(key, BODY, { caller }));
      await api.target.deliver(id, 'delivered');
      const { json } = await create(key, BODY, { caller });
      expect(json).toMatchObject({ id, status: 'delivered', channel: 'whatsapp', from: expect.any(String) });
      expect(json).toEqual((await api.status(caller, id)).body);
    });

    it.each<[string, (id: string) => Promise<unknown>]>([
      ['expired', (id) => api.target.expire(id)],
      ['locked', (id) => Promise.all([1, 2, 3, 4, 5].map(() => api.verify(test, id, '1')))],
      ['verified', (id) => api.verify(test, id, '004217')],
    ])('returns a send with a code that is %s, without changing it', async (state, end) => {
      const key = newKey();
      const id = await idOf(create(key));
      await end(id);
      const { body: before } = await api.status(test, id);
      expect(before.verification).toBe(state);
      expect((await create(key)).json).toEqual(before);
      const { body } = await api.verify(test, id, '004217');
      expect(body).toMatchObject({ valid: false, verification: state });
    });

    it('returns a failed send without charging again', async () => {
      const caller = await api.target.buildCaller('live', { freeQuota: 1 });
      const key = newKey();
      const id = await idOf(create(key, BODY, { caller }));
      await api.target.deliver(id, 'failed');
      expect(await api.target.unitsOf(caller)).toMatchObject({ freeQuota: 1 });
      expect((await create(key, BODY, { caller })).json).toMatchObject({ id, status: 'failed' });
      expect(await api.target.unitsOf(caller)).toMatchObject({ freeQuota: 1 });
    });

    it('charges nothing, counts toward no limit, and succeeds while a limit is exhausted', async () => {
      const caller = await api.target.buildCaller('live', {
        freeQuota: 1,
        credits: 1,
        ratePerMinute: 2,
      });
      await api.target.limit(caller, { perMinute: 2, perRecipientHour: 2 });
      const key = newKey();
      const id = await idOf(create(key, BODY, { caller }));
      for (let n = 0; n < 4; n++) expect(await idOf(create(key, BODY, { caller }))).toBe(id);
      expect(await api.target.unitsOf(caller)).toMatchObject({ freeQuota: 0, credits: 1 });
      expect((await api.create(caller)).status).toBe(202);
      expect((await api.create(caller)).status).toBe(429);
      expect(await idOf(create(key, BODY, { caller }))).toBe(id);
    });

    it('creates one send with one charge for 80 concurrent requests', async () => {
      const caller = await api.target.buildCaller('live', { freeQuota: 10 });
      const key = newKey();
      const ids = await Promise.all(Array.from({ length: 80 }, () => idOf(create(key, BODY, { caller }))));
      expect(new Set(ids).size).toBe(1);
      expect(await api.target.unitsOf(caller)).toMatchObject({ freeQuota: 9 });
    });

    it('is accepted for one of two concurrent bodies, and refused with 409 for the other', async () => {
      const key = newKey();
      const bodies = [BODY, `${BODY} `];
      const answers = await Promise.all(
        Array.from({ length: 40 }, (_, index) => create(key, bodies[index % 2])),
      );
      const statuses = (body: number): number[] =>
        answers.filter((_, index) => index % 2 === body).map(({ status }) => status);
      const winner = statuses(0)[0] === 202 ? 0 : 1;
      expect(statuses(winner)).toEqual(Array(20).fill(202));
      expect(statuses(1 - winner)).toEqual(Array(20).fill(409));
      const accepted = answers.filter(({ status }) => status === 202);
      expect(new Set(accepted.map(({ json }) => json['id'])).size).toBe(1);
    });
  });
}
