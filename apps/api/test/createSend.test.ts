import { buildCaller, until, type TestCaller } from '@onecode/testing';
import { testCreation } from '@onecode/testing/contract-tests';
import { apiTarget } from './contractTarget.js';
import { PHONE, startApi, type TestApi } from './testApi.js';

let api: TestApi;
let live: TestCaller;

beforeAll(async () => {
  api = await startApi();
  live = await buildCaller(api.db.database, 'live', { freeQuota: 100 });
});
afterAll(() => api.close());

testCreation(() => apiTarget(api));

describe('the code', () => {
  it('is in no answer, in no field of the database and nowhere in Redis, nor are the number and the key', async () => {
    const code = '7391846205';
    const to = '+5511912345678';
    const headers = { 'Idempotency-Key': 'code-in-no-answer' };
    const created = await api.create(live, { to, code }, headers);
    const { id } = created.body;
    const answers = [
      created,
      await api.create(live, { to, code }, headers),
      await api.create(live, { to, code, locale: 'en' }, headers),
      await api.create(live, { to: 'x', code }),
      await api.status(live, id),
      await api.verify(live, id, '0'),
      await api.verify(live, id, code),
      await api.status(live, id),
    ];
    expect(answers.map(({ status }) => status)).toEqual([202, 202, 409, 422, 200, 200, 200, 200]);
    for (const answer of answers) expect(JSON.stringify([answer.headers, answer.text])).not.toContain(code);
    const [row] = await api.db.sql('select to_jsonb(s) as all from sends s where id = $1', [id]);
    expect(JSON.stringify(row)).not.toContain(code);
    expect(JSON.stringify(row)).not.toContain(Buffer.from(code).toString('hex'));

    const jobs = await redisTexts(id);
    expect(jobs).toContain(`{"sendId":"${id}"}`);
    for (const secret of [code, to.slice(1), live.key, 'code-in-no-answer'])
      expect(jobs).not.toContain(secret);
  });

  /** Everything in Redis about the jobs, once there is one for this send. */
  async function redisTexts(id: string): Promise<string> {
    return until('a job for the send', async () => {
      const keys = await api.redis.keys(`${api.prefix}:deliver:*`);
      const types = await Promise.all(keys.map((key) => api.redis.type(key)));
      const hashes = await Promise.all(
        keys.filter((_, index) => types[index] === 'hash').map((key) => api.redis.hgetall(key)),
      );
      const texts = [...keys, ...hashes.flatMap((hash) => Object.entries(hash).flat())].join('\n');
      return texts.includes(id) && texts;
    });
  }
});

describe('the language', () => {
  async function localeOf(id: string): Promise<string | undefined> {
    const [row] = await api.db.sql<{ locale: string }>('select locale from sends where id = $1', [id]);
    return row?.locale;
  }

  it.each(['pt-BR', 'en'] as const)('is the account’s when it is left out: %s', async (language) => {
    const caller = await buildCaller(api.db.database, 'test', { language });
    expect(await localeOf((await api.create(caller)).body.id)).toBe(language);
    for (const locale of ['pt-BR', 'en'])
      expect(await localeOf((await api.create(caller, { to: PHONE, locale })).body.id)).toBe(locale);
  });
});
