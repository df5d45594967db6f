import { createUser, setPassword } from '@onecode/store/users';
import { TEST_ACTOR } from '@onecode/testing';
import { useConsole } from '../console.js';
import {
  type Answer,
  callConsole,
  cookieOf,
  fromNewAddress,
  PASSWORD,
  person,
  type TestPerson,
} from '../people.js';

const server = useConsole();

describe('the sign-in library', () => {
  /** Signs in, from an unused client address unless a header sets one. */
  const signIn = (
    email: string,
    password = PASSWORD,
    headers: Record<string, string> = {},
  ): Promise<Answer> =>
    callConsole(server, 'POST', '/auth/sign-in/email', {
      body: { email, password },
      headers: { ...fromNewAddress(), ...headers },
    });
  const isSignedIn = async (cookie: string): Promise<boolean> =>
    (await callConsole(server, 'GET', '/session', { headers: { cookie } })).status === 200;
  const sessionsOf = ({ id }: TestPerson) =>
    server.db.sql('select id from user_sessions where user_id = $1', [id]);
  /** Makes all times of a user's sessions older. */
  const letPass = (hours: number, { id }: TestPerson) =>
    server.db.sql(
      `update user_sessions set created_at = created_at - make_interval(hours => $1),
       updated_at = updated_at - make_interval(hours => $1), expires_at = expires_at - make_interval(hours => $1)
     where user_id = $2`,
      [hours, id],
    );

  describe('sign-in', () => {
    it('returns only whether a second step follows, so that no token reaches a script', async () => {
      const ana = await person(server);
      const answer = await signIn(ana.email.toUpperCase());
      expect(answer).toMatchObject({ status: 200, body: { secondStep: false } });
      expect(Object.keys(answer.body)).toEqual(['secondStep']);
      expect(answer.headers.getSetCookie()).toEqual([
        expect.stringMatching(
          /^__Host-onecode\.session_token=\S+; Max-Age=604800; Path=\/; HttpOnly; Secure; SameSite=Strict$/,
        ),
      ]);
      expect(await isSignedIn(cookieOf(answer))).toBe(true);
    });

    it.each([
      ['::1', '::1'],
      ['0000:0000:0000:0000:0000:0000:0000:0001', '::1'],
      ['::ffff:127.0.0.1', '127.0.0.1'],
      ['[2001:db8::0001]:4711', '2001:db8::1'],
    ])('stores the address %s of its browser as %s', async (sent, kept) => {
      const ana = await person(server);
      await server.db.sql('delete from user_sessions where user_id = $1', [ana.id]);
      const cookie = cookieOf(await signIn(ana.email, PASSWORD, { 'x-forwarded-for': sent }));
      const { body } = await callConsole(server, 'GET', '/profile/sessions', { headers: { cookie } });
      expect(body.sessions).toMatchObject([{ clientAddress: kept, isCurrent: true }]);
    });

    it('creates a new session, and ends the browser’s earlier one', async () => {
      const ana = await person(server);
      const answer = await signIn(ana.email, PASSWORD, { cookie: ana.cookie });
      expect(cookieOf(answer)).not.toBe(ana.cookie);
      expect(await isSignedIn(ana.cookie)).toBe(false);
      expect(await sessionsOf(ana)).toHaveLength(1);
    });

    it('returns the same for a wrong password and an unknown address', async () => {
      const ana = await person(server);
      const wrong = await signIn(ana.email, 'not the password');
      const unknown = await signIn('unknown@example.com', 'not the password');
      expect(wrong).toMatchObject({ status: 401, body: { code: 'wrong_credentials' } });
      expect([unknown.status, unknown.body]).toEqual([wrong.status, wrong.body]);
      expect(unknown.headers.getSetCookie()).toEqual(wrong.headers.getSetCookie());
    });

    it('limits guesses at a password from many addresses, and does not reveal whether the address exists', async () => {
      const ana = await person(server);
      for (const email of [ana.email, 'unknown-at-all@example.com']) {
        const answers = await Promise.all(
          Array.from({ length: 14 }, () => signIn(email, 'not the password')),
        );
        expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
          ...Array<number>(10).fill(401),
          ...Array<number>(4).fill(429),
        ]);
        expect(await signIn(email)).toMatchObject({ status: 429, body: { code: 'too_many_tries' } });
      }
      expect((await ana.get('/session')).status).toBe(200);

      const after: number[] = [];
      for (const minutes of [14, 1]) {
        const pass = 'update counted_tries set ends_at = ends_at - make_interval(mins => $1)';
        await server.db.sql(pass, [minutes]);
        after.push((await signIn(ana.email)).status);
      }
      expect(after).toEqual([429, 200]);
    });

    it('resets the count of wrong passwords after the right one', async () => {
      const ana = await person(server);
      for (let round = 0; round < 2; round += 1) {
        for (let n = 0; n < 6; n += 1) expect((await signIn(ana.email, 'wrong')).status).toBe(401);
        expect((await signIn(ana.email)).status).toBe(200);
      }
    });

    it('is limited for each client address, for all users and ports together', async () => {
      const from = (client: number, n: number): Promise<Answer> =>
        signIn(`unknown-${n}@example.com`, 'wrong', {
          'x-forwarded-for': `[2001:db8:${client}::1]:${40_000 + n}`,
        });
      for (let n = 0; n < 10; n += 1) expect((await from(1, n)).status).toBe(401);
      expect(await from(1, 10)).toMatchObject({ status: 429, body: { code: 'rate_limited' } });
      const tries = "select tries from counted_tries where key_hash = sha256('unknown-10@example.com')";
      expect(await server.db.sql(tries)).toEqual([{ tries: 0 }]);
      expect((await from(2, 10)).status).toBe(401);
    });
  });

  it('a user signs in with the password that an operator set at creation or later', async () => {
    const email = 'operator@example.com';
    const { database } = server.db;
    const made = { name: 'Olga', email, language: 'en', staff: 'operator', membership: null } as const;
    await createUser(database, TEST_ACTOR, { ...made, password: PASSWORD });
    const cookie = cookieOf(await signIn(email));
    expect((await callConsole(server, 'GET', '/session', { headers: { cookie } })).body.user.staff).toBe(
      'operator',
    );
    await setPassword(database, TEST_ACTOR, email, 'seven purple kettles sing');
    expect(await isSignedIn(cookie)).toBe(false);
    expect([(await signIn(email)).status, (await signIn(email, 'seven purple kettles sing')).status]).toEqual(
      [401, 200],
    );
  });

  describe('a session', () => {
    it('ends in the database when its user signs out', async () => {
      const ana = await person(server);
      expect((await ana.post('/auth/sign-out')).status).toBe(204);
      expect(await isSignedIn(ana.cookie)).toBe(false);
      expect(await sessionsOf(ana)).toEqual([]);
    });

    it('ends permanently after a day without use', async () => {
      const ana = await person(server);
      await letPass(25, ana);
      expect(await isSignedIn(ana.cookie)).toBe(false);
      expect(await isSignedIn(ana.cookie)).toBe(false);
      expect((await ana.post('/auth/sign-out')).status).toBe(401);
      expect(await sessionsOf(ana)).toEqual([]);
    });

    it('lasts while it is used, but not beyond a week', async () => {
      const ana = await person(server);
      for (let day = 1; day <= 7; day += 1) {
        await letPass(23, ana);
        expect([day, await isSignedIn(ana.cookie)]).toEqual([day, true]);
      }
      await letPass(8, ana);
      expect(await isSignedIn(ana.cookie)).toBe(false);
    });

    it('is listed for its user alone, and can be ended from another session', async () => {
      const [ana, other] = [await person(server), await person(server)];
      const elsewhere = cookieOf(
        await signIn(ana.email, PASSWORD, { 'x-forwarded-for': '2001:db8:77:1::2' }),
      );
      const { sessions } = (await ana.get('/profile/sessions')).body;
      expect(sessions).toHaveLength(2);
      expect(sessions.find((one: { isCurrent: boolean }) => one.isCurrent)).toEqual({
        id: expect.any(String),
        isCurrent: true,
        clientAddress: '198.18.0.1',
        userAgent: 'test',
        createdAt: expect.any(String),
        lastUsedAt: expect.any(String),
      });
      // The whole address, and not the network by which sign-ins are limited.
      expect(sessions.find((one: { isCurrent: boolean }) => !one.isCurrent)).toMatchObject({
        clientAddress: '2001:db8:77:1::2',
      });
      expect((await ana.delete('/profile/sessions')).status).toBe(204);
      expect([
        await isSignedIn(ana.cookie),
        await isSignedIn(elsewhere),
        await isSignedIn(other.cookie),
      ]).toEqual([true, false, true]);
    });
  });

  describe('a change of password', () => {
    const NEXT = 'seven purple kettles sing';

    it('requires the old password, ends every other session, and keeps the page signed in', async () => {
      const ana = await person(server);
      const elsewhere = cookieOf(await signIn(ana.email));
      const changed = await ana.post('/auth/change-password', { password: PASSWORD, newPassword: NEXT });
      expect(changed.status).toBe(204);
      expect([await isSignedIn(ana.cookie), await isSignedIn(elsewhere)]).toEqual([false, false]);
      expect(await isSignedIn(cookieOf(changed))).toBe(true);
      expect([(await signIn(ana.email)).status, (await signIn(ana.email, NEXT)).status]).toEqual([401, 200]);
      const done = await server.db.sql(
        `select action from audit_entries where actor_id = $1 and action not like 'user.sign_in%'`,
        [ana.id],
      );
      expect(done).toEqual([{ action: 'user.password' }]);
    });

    it('is refused with a wrong old password, or a weak new password', async () => {
      const ana = await person(server);
      const change = (password: string, newPassword: string): Promise<Answer> =>
        ana.post('/auth/change-password', { password, newPassword });
      expect(await change('wrong', NEXT)).toMatchObject({
        status: 422,
        body: { errors: { password: 'wrong' } },
      });
      expect(await change(PASSWORD, 'too short')).toMatchObject({
        body: { errors: { newPassword: 'too_short' } },
      });
      expect(await change(PASSWORD, ana.email)).toMatchObject({
        body: { errors: { newPassword: 'guessable' } },
      });
      expect(await isSignedIn(ana.cookie)).toBe(true);
    });

    it('cannot be used to guess the old password, even from many addresses', async () => {
      const ana = await person(server);
      const codes = new Set<string>();
      for (let n = 0; n < 12; n += 1) {
        const guess = { password: `wrong ${n}`, newPassword: NEXT };
        const { body } = await ana.call('POST', '/auth/change-password', guess, fromNewAddress());
        codes.add(body.code);
      }
      expect([...codes]).toEqual(['invalid_input', 'too_many_tries']);
    });
  });

  it('no other route of the library can be reached', async () => {
    const ana = await person(server);
    for (const [method, path] of [
      ['GET', '/get-session'],
      ['GET', '/list-sessions'],
      ['GET', '/ok'],
      ['POST', '/update-user'],
      ['POST', '/change-email'],
      ['POST', '/delete-user'],
      ['POST', '/set-password'],
      ['POST', '/send-verification-email'],
      ['POST', '/sign-in/social'],
      ['POST', '/two-factor/get-totp-uri'],
      ['POST', '/two-factor/send-otp'],
      ['POST', '/sign-out/../update-user'],
    ] as const)
      expect(await ana.call(method, `/auth${path}`, method === 'GET' ? undefined : {})).toMatchObject({
        status: 404,
        body: { code: 'not_found' },
      });
  });
});

describe('the language of the browser', () => {
  let ana: TestPerson;
  beforeAll(async () => {
    ana = await person(server);
  });

  const languageFor = async (accepted: string): Promise<string> => {
    const headers = { cookie: ana.cookie, 'accept-language': accepted };
    return (await callConsole(server, 'GET', '/session', { headers })).body.user.language;
  };

  it('is used until the user chooses one, and replaced by English if it is not supported', async () => {
    await server.db.sql('update users set language = null where id = $1', [ana.id]);
    expect(await languageFor('pt-BR,pt;q=0.9,en;q=0.8')).toBe('pt-BR');
    expect(await languageFor('pt')).toBe('pt-BR');
    expect(await languageFor('en-GB,pt-BR;q=0.5')).toBe('en');
    expect(await languageFor('fr')).toBe('en');
    expect(await languageFor('')).toBe('en');

    expect((await ana.put('/profile', { language: 'pt-BR' })).status).toBe(204);
    expect(await languageFor('en')).toBe('pt-BR');
  });
});
