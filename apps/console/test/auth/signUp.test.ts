import { hashApiKey } from '@onecode/domain';
import { findCaller, grantCredits } from '@onecode/store/accounts';
import { listAuditEntries } from '@onecode/store/operations';
import { createSend } from '@onecode/store/sends';
import { buildCaller, newSend, TEST_ACTOR, until } from '@onecode/testing';
import { judgePassword } from '../../src/auth/passwords.js';
import type { NewAccountView } from '../../src/features/auth/view.js';
import { useConsole } from '../console.js';
import { callConsole, cookieOf, PASSWORD, person, type Answer } from '../people.js';

const server = useConsole();

const ANA = { name: 'Ana Souza', password: PASSWORD, language: 'pt-BR' };
const signUp = (body: object, address = '192.0.2.1', headers: object = {}): Promise<Answer> =>
  callConsole(server, 'POST', '/auth/sign-up/email', {
    body,
    headers: { 'x-forwarded-for': address, ...headers },
  });
const ascending = (a: number, b: number): number => a - b;
const accountsOf = (userId: string) =>
  server.db.sql('select account_id from members where user_id = $1', [userId]);

describe('sign-up', () => {
  it('starts a session with the given name and language, and ignores other fields', async () => {
    const answer = await signUp({ ...ANA, name: '  Ana Souza ', email: 'Ana@Example.com' });
    expect(answer).toMatchObject({ status: 204, body: undefined });
    const { body } = await callConsole(server, 'GET', '/session', { headers: { cookie: cookieOf(answer) } });
    expect(body.user).toEqual({
      id: expect.any(String),
      name: 'Ana Souza',
      email: 'ana@example.com',
      language: 'pt-BR',
      staff: null,
      hasTwoFactor: false,
      showedBothFactors: false,
    });
  });

  it.each([
    ['an invalid email address', { email: 'ana' }, { email: 'format' }],
    ['a role of the staff', { staff: 'operator' }, { body: 'additionalProperties' }],
    ['a short password', { password: 'Xk4#fmq9Zt2' }, { password: 'too_short' }],
    ['a long password', { password: 'Xk4#fmq9Zt2'.repeat(12) }, { password: 'too_long' }],
    ['a common password', { password: 'password1234' }, { password: 'guessable' }],
    ['the email as password', { password: 'ana.lima@example.com' }, { password: 'guessable' }],
    ['the name as password', { password: 'AnaSouzaLima' }, { password: 'guessable' }],
  ])('refuses %s with an error for its field', async (_, wrong, errors) => {
    const given = { ...ANA, name: 'Ana Souza Lima', email: 'ana.lima@example.com', ...wrong };
    expect(await signUp(given, '192.0.2.2')).toMatchObject({
      status: 422,
      body: { code: 'invalid_input', errors },
    });
  });

  it('creates one user from simultaneous sign-ups with the same email address', async () => {
    const answers = await Promise.all(
      [1, 2, 3].map((n) => signUp({ ...ANA, email: 'twin@example.com' }, `192.0.2.1${n}`)),
    );
    expect(answers.map(({ status }) => status).toSorted(ascending)).toEqual([204, 422, 422]);
    for (const { status, body } of answers)
      if (status === 422) expect(body).toMatchObject({ errors: { email: 'taken' } });
  });

  it('shows the current number of free sends without a session', async () => {
    await server.db.sql('update settings set free_sends = 17');
    expect(await callConsole(server, 'GET', '/sign-up-offer')).toMatchObject({ body: { freeSends: 17 } });
  });
});

/** Sets ceilings for one test. */
const ceilings = (network: number, domain: number) =>
  server.db.sql('update settings set sign_ups_per_network_day = $1, sign_ups_per_domain_day = $2', [
    network,
    domain,
  ]);
const codesOf = (answers: readonly Answer[]): string[] =>
  answers
    .map(({ status, body }) => (status === 204 ? 'made' : String(body.code)))
    .toSorted((a, b) => a.localeCompare(b));

describe('limits of sign-ups', () => {
  beforeEach(() => ceilings(1_000, 1_000));
  afterAll(() => ceilings(1_000, 1_000));

  it('allow thirty attempts an hour for a network, for any result and from any of its addresses', async () => {
    await signUp({ ...ANA, email: 'taken@example.com' }, '192.0.3.1');
    const tried: Answer[] = [];
    for (let n = 0; n < 29; n += 1)
      tried.push(
        await signUp(
          n % 2 === 0
            ? { ...ANA, email: 'taken@example.com' }
            : { ...ANA, email: 'ana@example.com', password: 'password1234' },
          `192.0.3.${n}`,
        ),
      );
    expect(new Set(codesOf(tried))).toEqual(new Set(['invalid_input']));
    const good = { ...ANA, email: 'good@example.com' };
    expect(await signUp(good, '192.0.3.200')).toMatchObject({ status: 429, body: { code: 'rate_limited' } });
    expect((await signUp(good, '192.0.4.200')).status).toBe(204);
  });

  it.each([
    ['an IPv4 network', 3, 1_000, (n: number) => [`198.51.100.${n}`, `a@shop${n}.example`]],
    ['an IPv6 network', 3, 1_000, (n: number) => [`2001:db8:9:${n}::${n}`, `b@shop${n}.example`]],
    ['a mail domain with its subdomains', 1_000, 3, (n: number) => [`192.88.${n}.1`, `c@n${n}.farm.co.uk`]],
  ])(
    'allow no more users than the limit for %s when ten sign up at once',
    async (_, network, domain, from) => {
      await ceilings(network, domain);
      const answers = await Promise.all(
        Array.from({ length: 10 }, (_, n) => {
          const [address = '', email = ''] = from(n);
          return signUp({ ...ANA, email }, address);
        }),
      );
      expect(codesOf(answers)).toEqual([...Array(3).fill('made'), ...Array(7).fill('too_many_sign_ups')]);
      expect(answers.find(({ status }) => status !== 204)?.status).toBe(429);
    },
  );

  it('do not count a sign-up that creates no user', async () => {
    await ceilings(1, 1);
    const from = (email: string, password = PASSWORD) => signUp({ ...ANA, email, password }, '192.0.5.1');
    expect(await from('refused@one.example', 'password1234')).toMatchObject({ status: 422 });
    expect(await from('created@one.example')).toMatchObject({ status: 204 });
    expect(await from('another@two.example')).toMatchObject({ body: { code: 'too_many_sign_ups' } });
    // A sign-up that is refused for its network is not counted for its domain.
    expect((await signUp({ ...ANA, email: 'another@two.example' }, '192.0.6.1')).status).toBe(204);
    // A sign-up that is refused for its domain is not counted for its network.
    expect(await signUp({ ...ANA, email: 'another@one.example' }, '192.0.8.1')).toMatchObject({
      body: { code: 'too_many_sign_ups' },
    });
    expect((await signUp({ ...ANA, email: 'another@three.example' }, '192.0.8.1')).status).toBe(204);
  });
});

describe('a password', () => {
  it('is checked without blocking the event loop', async () => {
    const wanted = { password: 'correct horse battery', name: 'Ana', email: 'ana@example.com' };
    // Loads everything that is loaded on first use.
    await judgePassword(wanted);
    let turns = 0;
    const turn = (): void => {
      turns += 1;
    };
    setImmediate(turn);
    // Several, because the answer to one may have come before the event loop's next turn on a busy machine.
    const faults = await Promise.all(Array.from({ length: 20 }, () => judgePassword(wanted)));
    expect(faults).toEqual(Array(20).fill(null));
    expect(turns).toBe(1);
  });

  it('is refused with 429 when too many are queued', async () => {
    const wanted = { password: 'correct horse battery', name: 'Ana', email: 'ana@example.com' };
    const judged = await Promise.allSettled(Array.from({ length: 60 }, () => judgePassword(wanted)));
    const refused = judged.filter(({ status }) => status === 'rejected');
    expect(refused.length).toBeGreaterThan(0);
    expect(refused[0]).toMatchObject({ reason: { code: 'rate_limited' } });
    expect(judged.length - refused.length).toBeGreaterThanOrEqual(50);
  });
});

describe('the first account', () => {
  it('is created with its admin, the current free sends, and an audit entry', async () => {
    const ana = await person(server);
    await server.db.sql('update settings set free_sends = 23');
    const { status, body } = await ana.post('/accounts', { name: ' Loja Azul ', language: 'en' });
    expect(status).toBe(200);
    const { accounts } = (await ana.get('/session')).body;
    expect(accounts).toEqual([{ id: body.id, name: 'Loja Azul', role: 'admin', language: 'en' }]);
    expect(
      await server.db.sql(
        `select a.language, a.free_quota, l.units, e.actor_name
         from accounts a join ledger_entries l on l.account_id = a.id join audit_entries e on e.account_id = a.id
         where a.id = $1 and e.action = 'account.create'`,
        [body.id],
      ),
    ).toEqual([{ language: 'en', free_quota: 23, units: 23, actor_name: ana.email }]);
    // Without a country, it may send within Brazil.
    expect((await ana.get(`/accounts/${body.id}/trial`)).body).toMatchObject({ countries: ['BR'] });
  });

  it('starts with a test application and its key, which is returned once', async () => {
    const ana = await person(server);
    const wanted = { name: 'Loja Azul', language: 'pt-BR' };
    const { id, first } = (await ana.post<NewAccountView>('/accounts', wanted)).body;
    const { applicationId, key } = first!;
    expect(await findCaller(server.db.database, hashApiKey(key))).toMatchObject({
      accountId: id,
      applicationId,
      mode: 'test',
    });
    const { applications } = (await ana.get(`/accounts/${id}/applications`)).body;
    expect(applications).toMatchObject([{ id: applicationId, name: 'Teste', mode: 'test', keysInUse: 1 }]);
    const logged = await server.db.sql(
      'select action, actor_name, details from audit_entries where account_id = $1 order by id',
      [id],
    );
    expect(logged.map(({ action }) => action)).toEqual([
      'account.create',
      'application.create',
      'key.create',
    ]);
    expect(new Set(logged.map(({ actor_name: name }) => name))).toEqual(new Set([ana.email]));
    expect(JSON.stringify(logged)).not.toContain(key);
    expect((await ana.post('/accounts', wanted)).body).toEqual({ id, first: null });
  });

  it('starts on trial in the chosen countries, without premium-rate numbers and with a ceiling, which both outlast the trial', async () => {
    const ana = await person(server);
    const named = { name: 'Safe', language: 'en', countries: ['PT', 'BR', 'PT'] };
    const { id } = (await ana.post('/accounts', named)).body;
    const trial = async () => (await ana.get(`/accounts/${id}/trial`)).body;
    expect(await trial()).toEqual({ countries: ['BR', 'PT'], sendsPerDay: 20 });
    const safe = {
      allowedCountries: ['BR', 'PT'],
      allowsPremiumRate: false,
      unitsPerDay: 1_000,
      unitsPerMonth: null,
    };
    const protection = async () => (await ana.get(`/accounts/${id}/protection`)).body;
    expect(await protection()).toMatchObject({ ...safe, trialCountries: ['BR', 'PT'] });

    const { database } = server.db;
    const caller = await buildCaller(database, 'live', { id });
    const cause = async (country: string, isPremiumRate = false): Promise<unknown> => {
      const end = await createSend(database, { ...newSend(caller), country, isPremiumRate });
      return 'cause' in end ? end.cause : end.outcome;
    };
    const causes = async () => [await cause('US'), await cause('BR', true), await cause('BR')];
    expect(await causes()).toEqual(['trial_country', 'range', 'created']);
    await grantCredits(database, TEST_ACTOR, id, 5, 'invoice 1');
    expect(await trial()).toMatchObject({ countries: null });
    expect(await protection()).toMatchObject({ ...safe, trialCountries: null });
    expect(await causes()).toEqual(['country', 'range', 'created']);
    const [logged] = await listAuditEntries(database, { accountId: id, limit: 1 });
    expect(logged).toMatchObject({
      details: {
        before: { credits: 0, trialCountries: ['BR', 'PT'] },
        after: { credits: 5, trialCountries: null },
      },
    });
  });

  it.each([
    [[], { countries: 'minItems' }],
    [['BR', 'PT', 'US', 'AR', 'UY', 'PY'], { countries: 'maxItems' }],
    [['XX'], { countries: 'unknown' }],
  ])('is not created for the countries %j', async (countries, errors) => {
    const ana = await person(server);
    const { status, body } = await ana.post('/accounts', { name: 'Trial', language: 'en', countries });
    expect([status, body.errors]).toEqual([422, errors]);
    expect(await accountsOf(ana.id)).toEqual([]);
  });

  it('is the only account that a user can create, even after leaving it to another user', async () => {
    const ana = await person(server);
    const { id } = (await ana.post('/accounts', { name: 'Trial', language: 'en' })).body;
    await person(server, { accounts: { [id]: 'admin' } });
    expect((await ana.delete(`/accounts/${id}/membership`)).status).toBe(204);
    expect((await ana.get('/session')).body.mayCreateAccount).toBe(false);
    expect(await ana.post('/accounts', { name: 'Trial 2', language: 'en' })).toMatchObject({
      status: 409,
      body: { code: 'account_made' },
    });
    expect(await accountsOf(ana.id)).toEqual([]);
  });

  it('is created once for many simultaneous requests', async () => {
    const ana = await person(server);
    const asked: Promise<Answer>[] = [];
    // All requests have looked for an account, or wait to look, before the first one can create it.
    await server.db.database.transaction(async (connection) => {
      await connection.sql.execute`lock table members in share mode`;
      for (let n = 0; n < 4; n += 1) asked.push(ana.post('/accounts', { name: 'Loja', language: 'pt-BR' }));
      await until('the requests', async () => (await server.db.countLockWaits()) === asked.length);
    });
    const answers = await Promise.all(asked);
    expect(new Set(answers.map(({ status, body }) => `${status} ${body.id}`)).size).toBe(1);
    expect(answers.filter(({ body }) => body.first !== null)).toHaveLength(1);
    expect(await accountsOf(ana.id)).toHaveLength(1);
    const { body } = await ana.post('/accounts', { name: 'Another', language: 'pt-BR' });
    expect(body.id).toBe(answers[0]?.body.id);
    expect(await server.db.sql("select from accounts where name in ('Loja', 'Another')")).toHaveLength(1);
  });
});
