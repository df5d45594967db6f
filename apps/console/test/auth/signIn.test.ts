import { setStaffRole, SIGN_IN_TRIES_MAX } from '@onecode/store/users';
import { TEST_ACTOR } from '@onecode/testing';
import { listAuditEntries } from '@onecode/store/operations';
import { useConsole } from '../console.js';
import {
  callConsole,
  cookieOf,
  fromNewAddress,
  PASSWORD,
  person,
  type Answer,
  type TestPerson,
} from '../people.js';
import { givePasskey } from '../secondFactor.js';
import { addTries } from './signInTries.js';
import { tokenTo } from './mailedLinks.js';
import { passkeysOf, postFromNewAddress, stranger, withMail } from './strangers.js';

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
          await addTries(server, email, SIGN_IN_TRIES_MAX - 2);
          const answers = await Promise.all(
            Array.from({ length: 6 }, () => signIn(email, 'not the password')),
          );
          expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
            ...Array<number>(2).fill(401),
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
  /** Rounds of a race with five password hashes each. */
  const ROUNDS = process.env['ALL_TESTS'] === '1' ? 4 : 1;

  const post = (path: string, body: object, cookie?: string): Promise<Answer> =>
    postFromNewAddress(server, path, body, cookie);
  const signIn = (email: string, password: string): Promise<Answer> =>
    post('/sign-in/email', { email, password });

  const promote = (email: string, isVouchedFor = true) =>
    setStaffRole(server.db.database, TEST_ACTOR, email, 'operator', { isVouchedFor });
  const staffOf = async ({ id }: TestPerson): Promise<unknown> =>
    (await server.db.sql('select staff from users where id = $1', [id]))[0]!['staff'];

  describe('a staff role', () => {
    it('is not given to an unconfirmed address', async () => {
      const who = await stranger(server);
      const made = await server.db.sql('select created_at from users where id = $1', [who.id]);
      expect(await promote(who.email, false)).toMatchObject({
        kind: 'unconfirmed',
        user: { id: who.id, name: 'A stranger', createdAt: made[0]!['created_at'] },
      });
      expect(await staffOf(who)).toBeNull();
      expect((await who.get('/staff/settings')).status).toBe(404);
      expect((await signIn(who.email, PASSWORD)).status).toBe(200);
    });

    it('ends sign-ins with the old password that run at the same time', async () => {
      for (let round = 0; round < ROUNDS; round++) {
        const who = await stranger(server);
        const signIns = Array.from({ length: 4 }, () => signIn(who.email, PASSWORD));
        await promote(who.email);
        await Promise.all(signIns);
        expect(await server.db.sql('select from user_sessions where user_id = $1', [who.id])).toEqual([]);
      }
    });
  });

  describe('a stranger with the address of another person', () => {
    const reset = async (email: string): Promise<void> => {
      await post('/request-password-reset', { email, language: 'en' });
      const token = await tokenTo(server, email);
      expect((await post('/reset-password', { token, password: NEW_PASSWORD })).status).toBe(204);
    };

    it('is locked out when the owner sets a password by a mailed link', async () => {
      const who = await stranger(server);
      await givePasskey(server, who);
      await withMail(server, () => reset(who.email));
      expect((await who.get('/session')).status).toBe(401);
      expect((await signIn(who.email, PASSWORD)).status).toBe(401);
      expect(await passkeysOf(server, who)).toEqual([]);
      expect((await signIn(who.email, NEW_PASSWORD)).status).toBe(200);
    });

    it('does not get a confirmed address when its owner clicks the link', async () => {
      const who = await stranger(server);
      await withMail(server, async () => {
        await who.post('/auth/change-address', { email: 'victim@example.com' });
        const token = await tokenTo(server, 'victim@example.com');
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
});

describe('the audit log of users', () => {
  const server = useConsole();

  const post = (path: string, body: object, headers: Record<string, string> = {}): Promise<Answer> =>
    callConsole(server, 'POST', `/auth${path}`, { body, headers: { ...fromNewAddress(), ...headers } });
  const signIn = (email: string, password = PASSWORD, address?: string): Promise<Answer> =>
    post('/sign-in/email', { email, password }, address === undefined ? {} : { 'x-forwarded-for': address });
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
  });
});
