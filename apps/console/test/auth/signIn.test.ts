import {
  createUser,
  setPassword,
  setStaffRole,
  SIGN_IN_TRIES_MAX,
  takeSignInTry,
  type StaffRole,
} from '@onecode/store/users';
import { TEST_ACTOR, TEST_SECRET_KEY } from '@onecode/testing';
import { decrypt } from '@onecode/domain';
import { noteMailSender } from '@onecode/store/mails';
import { listAuditEntries } from '@onecode/store/operations';
import { useConsole, type ConsoleEnvironment } from '../console.js';
import {
  callConsole,
  cookieOf,
  fromNewAddress,
  inSession,
  PASSWORD,
  person,
  type Answer,
  type TestPerson,
} from '../people.js';
import { givePasskey, turnOn, withTwoFactor } from '../secondFactor.js';
import { codeOf } from '../totp.js';

/** Counts tries with an address as wrong passwords do. Each real one hashes a password, for a tenth of a second of CPU time. */
async function addTries({ db }: ConsoleEnvironment, email: string, tries: number): Promise<void> {
  for (let n = 0; n < tries; n += 1) await takeSignInTry(db.database, email);
}

describe('sign-in', () => {
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
          expect((await signIn(ana.email, 'wrong')).status).toBe(401);
          await addTries(server, ana.email, 5);
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
      expect([
        (await signIn(email)).status,
        (await signIn(email, 'seven purple kettles sing')).status,
      ]).toEqual([401, 200]);
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
        expect([(await signIn(ana.email)).status, (await signIn(ana.email, NEXT)).status]).toEqual([
          401, 200,
        ]);
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
        const guess = async (): Promise<string> => {
          const body = { password: 'wrong', newPassword: NEXT };
          return (await ana.call('POST', '/auth/change-password', body, fromNewAddress())).body.code;
        };
        expect(await guess()).toBe('invalid_input');
        await addTries(server, ana.email, SIGN_IN_TRIES_MAX - 2);
        expect([await guess(), await guess()]).toEqual(['invalid_input', 'too_many_tries']);
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
});

describe('strangers', () => {
  const server = useConsole();
  const NEW_PASSWORD = 'another horse battery';
  let strangers = 0;

  const post = (path: string, body: object, cookie = ''): Promise<Answer> =>
    callConsole(server, 'POST', `/auth${path}`, { body, headers: { cookie, ...fromNewAddress() } });
  const signIn = (email: string, password: string): Promise<Answer> =>
    post('/sign-in/email', { email, password });

  async function withMail(use: () => Promise<void>): Promise<void> {
    await noteMailSender(server.db.database, 'codes@onecode.example');
    try {
      await use();
    } finally {
      await noteMailSender(server.db.database, null);
    }
  }

  /** The token of the last link that was mailed to an address. */
  async function tokenTo(email: string): Promise<string> {
    const [mail] = await server.db.sql<{ id: string; encrypted_link: Uint8Array }>(
      'select id, encrypted_link from outbox where recipient = $1 and encrypted_link is not null order by created_at desc',
      [email],
    );
    return new URL(decrypt(TEST_SECRET_KEY, mail!.id, mail!.encrypted_link)).hash.slice(1);
  }

  /** A stranger who signed up with the address of another person, as is possible without mail. */
  async function stranger(): Promise<TestPerson> {
    strangers += 1;
    const email = `colleague${strangers}@example.com`;
    const cookie = cookieOf(
      await post('/sign-up/email', { name: 'A stranger', email, password: PASSWORD, language: 'en' }),
    );
    const { user, csrfToken } = (await callConsole(server, 'GET', '/session', { headers: { cookie } })).body;
    return inSession(server, user, { cookie, csrfToken });
  }

  const promote = (email: string, staff: StaffRole | null = 'operator', isVouchedFor = true) =>
    setStaffRole(server.db.database, TEST_ACTOR, email, staff, { isVouchedFor });
  const passkeysOf = ({ id }: TestPerson) =>
    server.db.sql('select from user_passkeys where user_id = $1', [id]);
  const staffOf = async ({ id }: TestPerson): Promise<unknown> =>
    (await server.db.sql('select staff from users where id = $1', [id]))[0]!['staff'];

  describe('a staff role', () => {
    it.each(['operator', 'on_call'] as const)('is not given to an unconfirmed address: %s', async (staff) => {
      const who = await stranger();
      const made = await server.db.sql('select created_at from users where id = $1', [who.id]);
      expect(await promote(who.email, staff, false)).toMatchObject({
        kind: 'unconfirmed',
        user: { id: who.id, name: 'A stranger', createdAt: made[0]!['created_at'] },
      });
      expect(await staffOf(who)).toBeNull();
      expect((await who.get('/staff/settings')).status).toBe(404);
      expect((await signIn(who.email, PASSWORD)).status).toBe(200);
    });

    it('ends sign-ins with the old password that run at the same time', async () => {
      for (let round = 0; round < 4; round++) {
        const who = await stranger();
        const signIns = Array.from({ length: 4 }, () => signIn(who.email, PASSWORD));
        await promote(who.email);
        await Promise.all(signIns);
        expect(await server.db.sql('select from user_sessions where user_id = $1', [who.id])).toEqual([]);
      }
    });

    it('removes every sign-in method of a stranger: sessions, password, second factor, passkeys and links', async () => {
      const { who, uri, backupCodes } = await turnOn(server, await stranger());
      await givePasskey(server, who);
      await withMail(async () => {
        await who.post('/auth/change-address', { email: 'thief@example.com' });
        const change = await tokenTo('thief@example.com');
        await post('/request-password-reset', { email: who.email, language: 'en' });
        const reset = await tokenTo(who.email);
        // The password was right, and the second step is still missing.
        const begun = cookieOf(await signIn(who.email, PASSWORD));

        const promoted = await promote(who.email);
        expect(promoted).toMatchObject({
          kind: 'changed',
          user: { staff: 'operator', hasTwoFactor: false, isConfirmed: true },
          password: expect.stringMatching(/^[\w-]{22}$/),
        });
        expect((await who.get('/session')).status).toBe(401);
        expect((await who.get('/staff/settings')).status).toBe(401);
        for (const [path, code] of [
          ['/two-factor/verify-totp', codeOf(uri, 1)],
          ['/two-factor/verify-backup-code', backupCodes[0]],
        ] as const)
          expect((await post(path, { code }, begun)).status).toBe(401);
        expect((await signIn(who.email, PASSWORD)).status).toBe(401);
        expect(await passkeysOf(who)).toEqual([]);
        expect((await who.post('/auth/confirm-address', { token: change })).status).toBe(401);
        expect((await post('/reset-password', { token: reset, password: NEW_PASSWORD })).status).toBe(404);

        const { password } = promoted as { password: string };
        const colleague = await signIn(who.email, password);
        expect(colleague).toMatchObject({ status: 200, body: { secondStep: false } });
        const headers = { cookie: cookieOf(colleague) };
        expect((await callConsole(server, 'GET', '/staff/settings', { headers })).status).toBe(200);
      });
      const [entry] = await listAuditEntries(server.db.database, { limit: 1, actionPrefix: 'user.staff' });
      expect(entry).toMatchObject({
        subject: who.id,
        details: {
          before: { staff: null, emailVerified: false, twoFactorEnabled: true },
          after: { staff: 'operator', emailVerified: true, twoFactorEnabled: false },
        },
      });
    });

    it('comes with a new password, also for a confirmed address and for a role with more rights', async () => {
      const who = await person(server);
      await server.db.sql('update users set email_verified = true where id = $1', [who.id]);
      const onCall = await promote(who.email, 'on_call', false);
      expect(onCall).toMatchObject({ kind: 'changed', password: expect.any(String) });
      expect((await who.get('/session')).status).toBe(401);
      const { password } = onCall as { password: string };
      const headers = { cookie: cookieOf(await signIn(who.email, password)) };
      expect(await promote(who.email, 'operator', false)).toMatchObject({ password: expect.any(String) });
      expect((await callConsole(server, 'GET', '/session', { headers })).status).toBe(401);
      expect((await signIn(who.email, password)).status).toBe(401);
    });

    it('cannot be raised for on-call staff with an unconfirmed address', async () => {
      const who = await person(server, { staff: 'on_call' });
      expect(await promote(who.email, 'operator', false)).toMatchObject({ kind: 'unconfirmed' });
      expect(await staffOf(who)).toBe('on_call');
      expect((await who.get('/session')).status).toBe(200);
    });

    it.each(['on_call', null] as const)(
      'ends the sessions and keeps the password when it is lowered to %s',
      async (staff) => {
        const who = await person(server, { staff: 'operator' });
        expect(await promote(who.email, staff)).toMatchObject({ kind: 'changed', password: null });
        expect((await who.get('/session')).status).toBe(401);
        expect((await signIn(who.email, PASSWORD)).status).toBe(200);
      },
    );

    it('changes nothing if the user already has it', async () => {
      const who = await person(server, { staff: 'operator' });
      expect(await promote(who.email)).toMatchObject({ kind: 'changed', password: null });
      expect((await who.get('/session')).status).toBe(200);
    });
  });

  describe('a stranger with the address of another person', () => {
    const reset = async (email: string): Promise<void> => {
      await post('/request-password-reset', { email, language: 'en' });
      const token = await tokenTo(email);
      expect((await post('/reset-password', { token, password: NEW_PASSWORD })).status).toBe(204);
    };

    it('is locked out when the owner sets a password by a mailed link', async () => {
      const who = await stranger();
      await givePasskey(server, who);
      await withMail(() => reset(who.email));
      expect((await who.get('/session')).status).toBe(401);
      expect((await signIn(who.email, PASSWORD)).status).toBe(401);
      expect(await passkeysOf(who)).toEqual([]);
      expect((await signIn(who.email, NEW_PASSWORD)).status).toBe(200);
    });

    it('is locked out when an operator sets a password', async () => {
      const who = await stranger();
      await givePasskey(server, who);
      await setPassword(server.db.database, TEST_ACTOR, who.email, NEW_PASSWORD);
      expect((await who.get('/session')).status).toBe(401);
      expect(await passkeysOf(who)).toEqual([]);
      expect((await signIn(who.email, NEW_PASSWORD)).status).toBe(200);
    });

    it('does not get a confirmed address when its owner clicks the link', async () => {
      const who = await stranger();
      await withMail(async () => {
        await who.post('/auth/change-address', { email: 'victim@example.com' });
        const token = await tokenTo('victim@example.com');
        const victim = await person(server);
        for (const [answer, status] of [
          [await post('/confirm-address', { token }), 401],
          [await victim.post('/auth/confirm-address', { token }), 404],
        ] as const)
          expect(answer.status).toBe(status);
        expect((await who.get('/session')).body.user.email).toBe(who.email);
        expect((await who.post('/auth/confirm-address', { token })).status).toBe(204);
      });
    });
  });

  it('a new password keeps the passkeys of a confirmed address', async () => {
    const who = await person(server);
    await server.db.sql('update users set email_verified = true where id = $1', [who.id]);
    await givePasskey(server, who);
    await setPassword(server.db.database, TEST_ACTOR, who.email, NEW_PASSWORD);
    expect(await passkeysOf(who)).toHaveLength(1);
  });
});

describe('the audit log of users', () => {
  const server = useConsole();

  const post = (path: string, body: object, headers: Record<string, string> = {}): Promise<Answer> =>
    callConsole(server, 'POST', `/auth${path}`, { body, headers: { ...fromNewAddress(), ...headers } });
  const signIn = (email: string, password = PASSWORD, address?: string): Promise<Answer> =>
    post('/sign-in/email', { email, password }, address === undefined ? {} : { 'x-forwarded-for': address });
  /** The first step of a user with a second factor. @returns the cookies for the second step */
  const firstStep = async (email: string) => ({ cookie: cookieOf(await signIn(email)) });

  /** The entries of the log since some work began, oldest first. */
  async function recordEntries(work: () => Promise<unknown>) {
    const newest = async (): Promise<bigint> =>
      BigInt((await listAuditEntries(server.db.database, { limit: 1 }))[0]?.id ?? 0);
    const before = await newest();
    await work();
    const entries = await listAuditEntries(server.db.database, { limit: 100 });
    return entries
      .filter(({ id }) => BigInt(id) > before)
      .toReversed()
      .map(({ action, actor, subject, details }) => ({ action, actor: actor.id, subject, details }));
  }

  describe('the audit log', () => {
    it('records a sign-in by password with its user and client address', async () => {
      const ana = await person(server);
      expect(await recordEntries(() => signIn(ana.email, PASSWORD, '203.0.113.5'))).toEqual([
        {
          action: 'user.sign_in',
          actor: ana.id,
          subject: ana.id,
          details: { proof: 'password', clientAddress: '203.0.113.5' },
        },
      ]);
    });

    it('records the user that a sign-up without mail creates, before the first sign-in', async () => {
      const eva = { name: 'Eva Lima', email: 'eva@example.com', language: 'pt-BR' };
      const [made, signedIn, ...more] = await recordEntries(() =>
        post('/sign-up/email', { ...eva, password: 'a stranger to horses' }),
      );
      expect([signedIn?.action, more]).toEqual(['user.sign_in', []]);
      const id = signedIn?.actor;
      expect(made).toEqual({ action: 'user.create', actor: id, subject: id, details: { after: eva } });
    });

    it('records a sign-in with a second factor once, after both steps', async () => {
      const { who, uri, backupCodes } = await withTwoFactor(server);
      const done = await recordEntries(async () => {
        await post('/two-factor/verify-totp', { code: codeOf(uri) }, await firstStep(who.email));
        const code = String(backupCodes[0]);
        await post('/two-factor/verify-backup-code', { code }, await firstStep(who.email));
      });
      expect(done.map(({ action, details }) => [action, details['proof']])).toEqual([
        ['user.sign_in', 'code'],
        ['user.sign_in', 'backup_code'],
      ]);
    });

    it('records a wrong password for a user as anonymous', async () => {
      const ana = await person(server);
      const [entry, ...more] = await recordEntries(() =>
        signIn(ana.email, 'not the password', '203.0.113.6'),
      );
      expect(more).toEqual([]);
      expect(entry).toEqual({
        action: 'user.sign_in_failed',
        actor: null,
        subject: ana.id,
        details: { email: ana.email, proof: 'password', clientAddress: '203.0.113.6' },
      });
    });

    it('records a wrong code after the right password, and a code that was used before', async () => {
      const { who, uri } = await withTwoFactor(server);
      const code = codeOf(uri);
      await post('/two-factor/verify-totp', { code }, await firstStep(who.email));
      const failed = await recordEntries(async () => {
        const pending = await firstStep(who.email);
        await post('/two-factor/verify-totp', { code: '000000' }, pending);
        await post('/two-factor/verify-backup-code', { code: 'abcde-fghij' }, pending);
        await post('/two-factor/verify-totp', { code }, pending);
      });
      expect(failed.map(({ action, subject, details }) => [action, subject, details['proof']])).toEqual([
        ['user.sign_in_failed', who.id, 'code'],
        ['user.sign_in_failed', who.id, 'backup_code'],
        ['user.sign_in_failed', who.id, 'code'],
      ]);
    });

    it('has no entry for guesses at a user over the limit', async () => {
      const ana = await person(server);
      const failed = await recordEntries(() =>
        Promise.all(
          Array.from({ length: SIGN_IN_TRIES_MAX + 6 }, () => signIn(ana.email, 'not the password')),
        ),
      );
      expect(failed).toHaveLength(SIGN_IN_TRIES_MAX);
      expect(failed.filter(({ details }) => details['triesUsedUp'] === true)).toHaveLength(1);
    });

    it('records an unknown address once, when its attempts are used up, without the address', async () => {
      const failed = await recordEntries(async () => {
        await signIn('secret-words@example.org', 'guess');
        await addTries(server, 'secret-words@example.org', SIGN_IN_TRIES_MAX - 2);
        for (let n = 0; n < 3; n += 1) await signIn('secret-words@example.org', 'guess');
        for (let n = 0; n < 5; n += 1) await signIn(`invented-${n}@example.org`, 'guess');
      });
      expect(failed).toMatchObject([
        {
          action: 'user.sign_in_failed',
          actor: null,
          subject: null,
          details: { email: 's•••@example.org', triesUsedUp: true },
        },
      ]);
    });

    it('records wrong passwords of a signed-in user', async () => {
      const ana = await person(server);
      const failed = await recordEntries(() =>
        ana.post('/auth/two-factor/enable', { password: 'not the password' }),
      );
      expect(failed).toMatchObject([
        { action: 'user.confirm_failed', actor: ana.id, details: { proof: 'password' } },
      ]);
    });

    it('refuses a sign-in that cannot be recorded', async () => {
      const ana = await person(server);
      await whileRefusing('user.sign_in', async () => {
        const answer = await signIn(ana.email);
        expect(answer.status).toBe(500);
        expect(answer.headers.getSetCookie()).toEqual([]);
      });
      expect((await signIn(ana.email)).status).toBe(200);
    });

    it('shows operators that the user was not signed in', async () => {
      const operator = await person(server, { staff: 'operator' });
      const ana = await person(server);
      await signIn(ana.email, 'not the password');
      const { entries } = (await operator.get('/staff/audit?area=user&limit=1')).body;
      expect(entries).toMatchObject([{ action: 'user.sign_in_failed', actor: { kind: 'anonymous' } }]);
    });
  });

  /** Runs `work` while the log refuses entries of this action. */
  async function whileRefusing(action: string, work: () => Promise<void>): Promise<void> {
    await server.db.sql(
      `alter table audit_entries add constraint full_up check (action <> '${action}') not valid`,
    );
    try {
      await work();
    } finally {
      await server.db.sql('alter table audit_entries drop constraint full_up');
    }
  }
});
