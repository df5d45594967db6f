import { closeDatabase, openDatabase } from '@onecode/store';
import { buildAccount, buildCaller, type TestCaller } from '@onecode/testing';
import { bearer, PHONE, startApi, type TestApi } from './testApi.js';

let api: TestApi;
let test: TestCaller;

beforeAll(async () => {
  api = await startApi();
  test = await buildCaller(api.db.database, 'test');
});
afterAll(() => api.close());

const NOT_JSON = '{"to"';
const LONG_KEY = 'k'.repeat(256);
const TOO_LARGE = JSON.stringify({ to: PHONE }) + ' '.repeat(65_536);

describe('a new send is refused', () => {
  it.each([
    ['a body that is no JSON', NOT_JSON, 'invalid_json'],
    ['an empty body', '', 'invalid_json'],
    ['an array', '[]', 'invalid_json'],
    ['a channel', { to: PHONE, channel: 'whatsapp' }, 'invalid_json'],
    ['a sender', { to: PHONE, from: '+12025550143' }, 'invalid_json'],
    ['a mode', { to: PHONE, mode: 'test' }, 'invalid_json'],
    ['an unknown member', { to: PHONE, priority: 'high' }, 'invalid_json'],
    ['a member twice', `{"to":"${PHONE}","to":"${PHONE}"}`, 'invalid_json'],
    ['a number for the recipient', { to: 5511987654321 }, 'invalid_json'],
    ['a number for the code', { to: PHONE, code: 4217 }, 'invalid_json'],
    ['null for the locale', { to: PHONE, locale: null }, 'invalid_json'],
    ['more than 64 KiB', TOO_LARGE, 'invalid_json'],
    ['no recipient', {}, 'invalid_recipient'],
    ['an empty recipient', { to: '' }, 'invalid_recipient'],
    ['no +', { to: '5511987654321' }, 'invalid_recipient'],
    ['no country code', { to: '11987654321' }, 'invalid_recipient'],
    ['00 for the +', { to: '005511987654321' }, 'invalid_recipient'],
    ['too few digits', { to: '+55119' }, 'invalid_recipient'],
    ['too many digits', { to: '+5511987654321000' }, 'invalid_recipient'],
    ['an unknown country code', { to: '+999123456789' }, 'invalid_recipient'],
    ['an extension', { to: `${PHONE};ext=12` }, 'invalid_recipient'],
    ['a tel: form', { to: `tel:${PHONE}` }, 'invalid_recipient'],
    ['text around the number', { to: `call ${PHONE} now` }, 'invalid_recipient'],
    ['letters in the number', { to: '+1800FLOWERS' }, 'invalid_recipient'],
    ['an e-mail address', { to: 'someone@example.com' }, 'channel_unavailable'],
    ['an e-mail address with a tag', { to: 'some.one+tag@mail.example.com' }, 'channel_unavailable'],
    ['an e-mail address like a number', { to: '+5511987654321@example.com' }, 'channel_unavailable'],
    ['no e-mail address either', { to: 'someone@' }, 'invalid_recipient'],
    ['a code of 3 digits', { to: PHONE, code: '123' }, 'invalid_code'],
    ['a code of 11 digits', { to: PHONE, code: '12345678901' }, 'invalid_code'],
    ['a letter in the code', { to: PHONE, code: '12a4' }, 'invalid_code'],
    ['a space in the code', { to: PHONE, code: '12 34' }, 'invalid_code'],
    ['an unknown locale', { to: PHONE, locale: 'fr' }, 'invalid_locale'],
    ['a locale in another form', { to: PHONE, locale: 'pt-br' }, 'invalid_locale'],
    ['an empty locale', { to: PHONE, locale: '' }, 'invalid_locale'],
  ])('with %s, in both modes', async (_name, body, code) => {
    const live = await buildCaller(api.db.database, 'live', { id: test.accountId });
    for (const caller of [test, live]) {
      const answer = await api.create(caller, body);
      expect(answer.body).toMatchObject({ status: 422, code });
    }
  });

  it('with a message for each faulty field', async () => {
    const { body } = await api.create(test, { to: 'x', code: '1', locale: 'y' });
    expect(Object.keys(body.errors)).toEqual(['to', 'code', 'locale']);
  });

  it('as internal_error while the database is down', async () => {
    const database = openDatabase('postgres://nobody@127.0.0.1:1/none', { connectionsMax: 1 });
    const cutOff = await startApi({ database });
    const { body } = await cutOff.create(test);
    expect(body).toMatchObject({ status: 500, code: 'internal_error' });
    expect(JSON.stringify(body)).not.toMatch(/127|ECONN|Prisma/);
    await cutOff.close();
    await closeDatabase(database);
  });
});

interface Scene {
  caller: TestCaller;
  create: (body: object | string, headers?: Record<string, string>) => ReturnType<TestApi['create']>;
}

/** A live caller with one unit and a limit of two sends a minute, who has created one send with the key `used`. */
async function scene(units = 2, ratePerMinute = 2): Promise<Scene> {
  const caller = await buildCaller(api.db.database, 'live', { freeQuota: units, ratePerMinute });
  const create: Scene['create'] = (body, headers) => api.create(caller, body, headers);
  await create({ to: PHONE }, { 'Idempotency-Key': 'used' }).expect(202);
  return { caller, create };
}
const used = { 'Idempotency-Key': 'used' };

describe('of two faults the first in this order is answered', () => {
  it.each([
    ['none', { Authorization: '' }, 'missing_credentials'],
    ['a wrong one', { Authorization: 'Bearer ak_test_x' }, 'invalid_api_key'],
  ])('credential (%s) before the length of the key, the body and all else', async (_name, headers, code) => {
    const answer = await api.create(test, TOO_LARGE, { ...headers, 'Idempotency-Key': LONG_KEY });
    expect(answer.body).toMatchObject({ status: 401, code });
  });

  it.each([
    ['a large body', TOO_LARGE],
    ['no JSON', NOT_JSON],
    ['a wrong recipient', '{}'],
  ])('length of the key before %s', async (_name, body) => {
    const answer = await api.create(test, body, { 'Idempotency-Key': LONG_KEY });
    expect(answer.body.code).toBe('invalid_idempotency_key');
  });

  it('the form of the body before its fields', async () => {
    const answer = await api.create(test, { to: 'x', code: '1', channel: 'whatsapp' });
    expect(answer.body.code).toBe('invalid_json');
  });

  it('size of the body before its fields', async () => {
    const answer = await api.create(test, '{"to":"x"}' + ' '.repeat(65_536));
    expect(answer.body.code).toBe('invalid_json');
  });

  it.each([
    ['recipient before code', { to: 'x', code: '1' }, 'invalid_recipient'],
    ['e-mail before code', { to: 'a@example.com', code: '1' }, 'channel_unavailable'],
    ['code before locale', { to: PHONE, code: '1', locale: 'x' }, 'invalid_code'],
  ])('%s', async (_name, body, code) => {
    expect((await api.create(test, body)).body.code).toBe(code);
  });

  it('fields before the key’s earlier use', async () => {
    const { create } = await scene();
    expect((await create({ to: 'x' }, used)).body.code).toBe('invalid_recipient');
    expect((await create({ to: PHONE, locale: 'fr' }, used)).body.code).toBe('invalid_locale');
  });

  it('the key’s earlier use before limits: a repeat is recovered, another body is a conflict', async () => {
    const { create } = await scene(5, 1);
    expect((await create({ to: PHONE })).body.code).toBe('rate_limited');
    expect((await create({ to: PHONE }, used)).status).toBe(202);
    expect((await create({ to: PHONE, code: '1234' }, used)).body.code).toBe('idempotency_key_reused');
  });

  it('the key’s earlier use before the unit', async () => {
    const { create } = await scene(1);
    expect((await create({ to: PHONE })).body.code).toBe('insufficient_credits');
    expect((await create({ to: PHONE }, used)).status).toBe(202);
    expect((await create({ to: PHONE, code: '1234' }, used)).body.code).toBe('idempotency_key_reused');
  });

  it('limits before the unit', async () => {
    const { create } = await scene(1, 1);
    expect((await create({ to: PHONE })).body.code).toBe('rate_limited');
  });
});

describe('a refusal consumes nothing', () => {
  /** Everything that the database holds for an account. */
  async function holdings(accountId: string): Promise<unknown> {
    const [row] = await api.db.sql(
      `select to_jsonb(a) as account,
        (select jsonb_agg(to_jsonb(p) order by p.id) from applications p where p.account_id = a.id) as applications,
        (select jsonb_agg(to_jsonb(s) order by s.id) from sends s where s.account_id = a.id) as sends,
        (select jsonb_agg(to_jsonb(l) order by l.id) from ledger_entries l where l.account_id = a.id) as ledger
       from accounts a where a.id = $1`,
      [accountId],
    );
    return row;
  }

  it.each([
    ['401', { to: PHONE }, { Authorization: 'Bearer ak_live_x' }, 401],
    ['409', { to: PHONE, code: '1234' }, used, 409],
    ['422 for the JSON', NOT_JSON, { 'Idempotency-Key': 'new' }, 422],
    ['422 for the recipient', { to: 'x' }, { 'Idempotency-Key': 'new' }, 422],
    ['422 for the channel', { to: 'a@example.com' }, { 'Idempotency-Key': 'new' }, 422],
    ['422 for the code', { to: PHONE, code: '1' }, { 'Idempotency-Key': 'new' }, 422],
    ['422 for the locale', { to: PHONE, locale: 'x' }, { 'Idempotency-Key': 'new' }, 422],
    ['422 for the key', { to: PHONE }, { 'Idempotency-Key': LONG_KEY }, 422],
  ])('%s: no unit, no place in a limit, no key', async (_name, body, headers, status) => {
    const { caller, create } = await scene();
    const before = await holdings(caller.accountId);
    for (let round = 0; round < 3; round++) expect((await create(body, headers)).status).toBe(status);
    expect(await holdings(caller.accountId)).toEqual(before);
    expect((await create({ to: PHONE, code: '9999' }, { 'Idempotency-Key': 'new' })).status).toBe(202);
  });

  it('402 counts against no limit and binds no key', async () => {
    const { caller, create } = await scene(1);
    const before = await holdings(caller.accountId);
    const key = { 'Idempotency-Key': 'new' };
    for (let round = 0; round < 3; round++) expect((await create({ to: PHONE }, key)).status).toBe(402);
    expect(await holdings(caller.accountId)).toEqual(before);
    await api.db.sql('update accounts set credits = 1 where id = $1', [caller.accountId]);
    expect((await create({ to: PHONE, code: '9999' }, key)).status).toBe(202);
  });

  it('an internal error leaves nothing behind, and the same request works afterwards', async () => {
    const { caller, create } = await scene();
    const before = await holdings(caller.accountId);
    const key = { 'Idempotency-Key': 'new' };
    await api.db.sql('alter table ledger_entries rename to ledger_away');
    const failed = await create({ to: PHONE }, key);
    await api.db.sql('alter table ledger_away rename to ledger_entries');
    expect(failed.body).toMatchObject({ status: 500, code: 'internal_error' });
    expect(await holdings(caller.accountId)).toEqual(before);
    expect((await create({ to: PHONE }, key)).status).toBe(202);
  });

  it('429 takes no unit, prolongs no window and binds no key', async () => {
    const { caller, create } = await scene(5, 1);
    const before = await holdings(caller.accountId);
    const key = { 'Idempotency-Key': 'new' };
    for (let round = 0; round < 3; round++) expect((await create({ to: PHONE }, key)).status).toBe(429);
    expect(await holdings(caller.accountId)).toEqual(before);
    await api.db.sql(`update sends set created_at = created_at - interval '1 minute' where account_id = $1`, [
      caller.accountId,
    ]);
    expect((await create({ to: PHONE, code: '9999' }, key)).status).toBe(202);
  });
});

describe('test mode', () => {
  it('is never refused for a lack of units', async () => {
    const id = await buildAccount(api.db.database, { freeQuota: 0 });
    const [sandbox, live] = [
      await buildCaller(api.db.database, 'test', { id }),
      await buildCaller(api.db.database, 'live', { id }),
    ];
    expect((await api.create(live)).status).toBe(402);
    expect((await api.create(sandbox)).status).toBe(202);
    expect((await api.request.post('/v1/send').set(bearer(sandbox)).send({ to: PHONE })).status).toBe(202);
  });
});
