import { hashApiKey } from '@onecode/domain';
import { findCaller, grantCredits } from '@onecode/store/accounts';
import { listAuditEntries } from '@onecode/store/operations';
import { createSend } from '@onecode/store/sends';
import { buildAccount, buildCaller, newSend, TEST_ACTOR, until } from '@onecode/testing';
import { noteMailSender } from '@onecode/store/mails';
import { judgePassword } from '../../src/auth/passwords.js';
import type { NewAccountView } from '../../src/features/auth/view.js';
import { useConsole } from '../console.js';
import { callConsole, cookieOf, PASSWORD, person, type Answer } from '../people.js';
import { letConfirmationPass } from '../secondFactor.js';
import { linksTo, tokenTo } from './mailedLinks.js';

const isLong = process.env['ALL_TESTS'] === '1';

describe('sign-up', () => {
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
      const { body } = await callConsole(server, 'GET', '/session', {
        headers: { cookie: cookieOf(answer) },
      });
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

    const limits: [what: string, network: number, domain: number, from: (n: number) => string[]][] = [
      ['an IPv4 network', 3, 1_000, (n) => [`198.51.100.${n}`, `a@shop${n}.example`]],
      ['a mail domain with its subdomains', 1_000, 3, (n) => [`192.88.${n}.1`, `c@n${n}.farm.co.uk`]],
      ['an IPv6 network', 3, 1_000, (n) => [`2001:db8:9:${n}::${n}`, `b@shop${n}.example`]],
    ];
    it.each(limits.slice(0, isLong ? undefined : 2))(
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
});

describe('mailed links', () => {
  const server = useConsole();
  const NEW_PASSWORD = 'another horse battery';
  let networks = 0;

  beforeAll(() => noteMailSender(server.db.database, 'codes@onecode.example'));
  beforeEach(async () => {
    networks += 1;
    await server.db.sql('delete from outbox');
  });

  /** From a different network in each test. */
  const post = (path: string, body: object, headers: Record<string, string> = {}): Promise<Answer> =>
    callConsole(server, 'POST', `/auth${path}`, {
      body,
      headers: { 'x-forwarded-for': `10.1.${networks}.1`, ...headers },
    });
  const askReset = (email: string): Promise<Answer> =>
    post('/request-password-reset', { email, language: 'en' });
  const signIn = (email: string, password: string): Promise<Answer> =>
    post('/sign-in/email', { email, password });
  const signUp = (email: string, more: object = {}): Promise<Answer> =>
    post('/sign-up/email', { name: 'Eva Lima', email, password: PASSWORD, language: 'pt-BR', ...more });

  async function kindsTo(email: string): Promise<string[]> {
    const kinds = 'select kind from outbox where recipient = $1 order by created_at';
    return (await server.db.sql<{ kind: string }>(kinds, [email])).map(({ kind }) => kind);
  }

  /** The parts of a response that could distinguish two addresses. */
  function shown({ status, body, headers }: Answer): unknown {
    const rest = [...headers].filter(
      ([name]) => !['date', 'content-security-policy', 'x-request-id'].includes(name),
    );
    return { status, body, headers: rest };
  }

  describe('a password reset', () => {
    it('sets a new password once, ends every session, and notifies the owner', async () => {
      const ana = await person(server);
      expect((await askReset(ana.email.toUpperCase())).status).toBe(204);
      const [link] = await linksTo(server, ana.email);
      expect(link!.href).toMatch(new RegExp(`^${server.url}/reset-password#[A-Za-z0-9_-]{43}$`));
      const token = await tokenTo(server, ana.email);
      expect(await post('/reset-password', { token, password: 'password1234' })).toMatchObject({
        status: 422,
        body: { errors: { password: 'guessable' } },
      });
      const both = await Promise.all(
        [1, 2, 3].map(() => post('/reset-password', { token, password: NEW_PASSWORD })),
      );
      expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([204, 404, 404]);
      expect((await ana.get('/session')).status).toBe(401);
      expect((await signIn(ana.email, PASSWORD)).status).toBe(401);
      expect((await signIn(ana.email, NEW_PASSWORD)).status).toBe(200);
      expect(await kindsTo(ana.email)).toEqual(['password_reset', 'password_changed']);
      const [entry] = await server.db.sql(
        'select action, actor_name from audit_entries where subject = $1 order by id limit 1',
        [ana.id],
      );
      expect(entry).toEqual({ action: 'user.reset_password', actor_name: ana.email });
    });

    it('is mailed at most five times an hour to an address, and the sixth request gets the same response', async () => {
      const ana = await person(server);
      const answers: Answer[] = [];
      for (let n = 0; n < 7; n += 1) answers.push(await askReset(ana.email));
      expect(new Set(answers.map((answer) => JSON.stringify(shown(answer)))).size).toBe(1);
      expect(await linksTo(server, ana.email)).toHaveLength(5);
    });
  });

  describe('a sign-up with a mailed link', () => {
    it('creates the user when its link is opened with the password, and signs them in', async () => {
      const answer = await signUp('Eva@example.com', { invitation: 'tok_en-1' });
      expect(answer).toMatchObject({ status: 200, body: { mailed: true } });
      expect(cookieOf(answer)).toBe('');
      expect(await server.db.sql(`select from users where email = 'eva@example.com'`)).toEqual([]);
      const [link] = await linksTo(server, 'eva@example.com');
      expect(link!.href).toMatch(/\/confirm-sign-up#[A-Za-z0-9_-]{43}\.tok_en-1$/);
      const token = await tokenTo(server, 'eva@example.com');
      expect(await post('/confirm-sign-up', { token, password: NEW_PASSWORD })).toMatchObject({
        status: 422,
        body: { errors: { password: 'wrong' } },
      });
      const confirmed = await post('/confirm-sign-up', { token, password: PASSWORD });
      expect(confirmed.status).toBe(204);
      const { body } = await callConsole(server, 'GET', '/session', {
        headers: { cookie: cookieOf(confirmed) },
      });
      expect(body.user).toMatchObject({ name: 'Eva Lima', email: 'eva@example.com', language: 'pt-BR' });
      expect(await server.db.sql(`select email_verified from users where email = 'eva@example.com'`)).toEqual(
        [{ email_verified: true }],
      );
      expect((await post('/confirm-sign-up', { token, password: PASSWORD })).status).toBe(404);
      const entry = `select actor_name from audit_entries where action = 'user.create' and subject = $1`;
      expect(await server.db.sql(entry, [body.user.id])).toEqual([{ actor_name: 'eva@example.com' }]);
    });

    it('returns the same for a registered address, and does not change its user', async () => {
      const ana = await person(server);
      const [known, unknown] = [await signUp(ana.email), await signUp('new@example.com')];
      expect(shown(known)).toEqual(shown(unknown));
      // Even with the link, which is never mailed.
      const token = await tokenTo(server, ana.email);
      expect((await post('/confirm-sign-up', { token, password: PASSWORD })).status).toBe(404);
      expect((await ana.get('/session')).status).toBe(200);
    });
  });

  describe('a change of address', () => {
    it('takes effect when the new address confirms it, and notifies the old address', async () => {
      const ana = await person(server);
      const fresh = `fresh${networks}@example.com`;
      expect((await ana.post('/auth/change-address', { email: fresh })).status).toBe(204);
      expect((await ana.get('/session')).body.user.email).toBe(ana.email);
      const token = await tokenTo(server, fresh);
      expect((await ana.post('/auth/confirm-address', { token })).status).toBe(204);
      expect((await ana.post('/auth/confirm-address', { token })).status).toBe(404);
      expect((await ana.get('/session')).body.user.email).toBe(fresh);
      expect(await kindsTo(ana.email)).toEqual(['address_changed']);
      const entry = `select actor_name from audit_entries where action = 'user.address' and subject = $1`;
      expect(await server.db.sql(entry, [ana.id])).toEqual([{ actor_name: ana.email }]);
    });

    it('does not reveal a registered address, and cannot take it over', async () => {
      const [ana, bia] = [await person(server), await person(server)];
      const answers = [
        await ana.post('/auth/change-address', { email: bia.email }),
        await ana.post('/auth/change-address', { email: 'free@example.com' }),
      ];
      expect(shown(answers[0]!)).toEqual(shown(answers[1]!));
      const token = await tokenTo(server, bia.email);
      expect((await ana.post('/auth/confirm-address', { token })).status).toBe(404);
      expect((await bia.get('/session')).body.user.email).toBe(bia.email);
    });

    it('gives an address that two users confirm simultaneously to one of them', async () => {
      const race = async (nth: number): Promise<number[]> => {
        const email = `wanted${nth}@example.com`;
        const pair = [await person(server), await person(server)];
        for (const who of pair) await who.post('/auth/change-address', { email });
        // The newest link is first.
        const tokens = (await linksTo(server, email))
          .map(({ hash }) => hash.slice(1).split('.')[0]!)
          .toReversed();
        const answers = await Promise.all(
          pair.map((who, nth) => who.post('/auth/confirm-address', { token: tokens[nth] })),
        );
        return answers.map(({ status }) => status).toSorted((a, b) => a - b);
      };
      const ends = await Promise.all(Array.from({ length: 8 }, (_, nth) => race(nth)));
      for (const end of ends) expect(end).toEqual([204, 404]);
    });

    it('needs a confirmed identity', async () => {
      const ana = await person(server);
      await letConfirmationPass(server, ana);
      expect(await ana.post('/auth/change-address', { email: 'x@example.com' })).toMatchObject({
        status: 403,
        body: { code: 'confirmation_required' },
      });
    });
  });

  describe('the choice of notification mails', () => {
    it('is possible for all mails except security notices', async () => {
      const accountId = await buildAccount(server.db.database);
      const ana = await person(server, { accounts: { [accountId]: 'admin' } });
      const operator = await person(server, { staff: 'operator' });
      expect((await ana.get('/profile/mails')).body).toEqual({
        mails: [
          { kind: 'low_balance', isWanted: true },
          { kind: 'key_expires', isWanted: true },
          { kind: 'breaker_tripped', isWanted: true },
          { kind: 'sender_blocked', isWanted: true },
        ],
      });
      expect((await operator.get('/profile/mails')).body.mails).toHaveLength(5);
      expect((await ana.put('/profile/mails', { muted: ['low_balance'] })).status).toBe(204);
      expect((await ana.get('/profile/mails')).body.mails[0]).toEqual({
        kind: 'low_balance',
        isWanted: false,
      });
      expect((await ana.put('/profile/mails', { muted: ['password_changed'] })).status).toBe(422);
      const entries = 'select action, actor_name, details from audit_entries where subject = $1';
      expect(await server.db.sql(entries, [ana.id])).toEqual([
        {
          action: 'user.mute_mails',
          actor_name: ana.email,
          details: { before: { mutedMails: [] }, after: { mutedMails: ['low_balance'] } },
        },
      ]);
    });

    it('lets admins set and remove the low-balance alert of their account', async () => {
      const accountId = await buildAccount(server.db.database);
      const path = `/accounts/${accountId}/balance-alert`;
      const admin = await person(server, { accounts: { [accountId]: 'admin' } });
      for (const below of [500, null]) {
        expect((await admin.put(path, { below })).status).toBe(204);
        expect((await admin.get(path)).body).toEqual({ below, hasWebhook: false });
      }
      expect((await admin.put(path, { below: 0 })).status).toBe(422);
    });
  });

  it('a console without mail refuses password resets with 409, and reports that sign-ups get no mail', async () => {
    await noteMailSender(server.db.database, null);
    try {
      expect(await askReset('ana@example.com')).toMatchObject({ status: 409, body: { code: 'conflict' } });
      expect((await signUp('direct@example.com')).status).toBe(204);
      expect((await callConsole(server, 'GET', '/sign-up-offer')).body).toMatchObject({ sendsMail: false });
    } finally {
      await noteMailSender(server.db.database, 'codes@onecode.example');
    }
  });
});
