import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  createUser,
  setPassword,
  setStaffRole,
  SIGN_IN_TRIES_MAX,
  type StaffRole,
} from '@onecode/store/users';
import { TEST_ACTOR } from '@onecode/testing';
import { listAuditEntries } from '@onecode/store/operations';
import { limitedPasswordHasher } from '../../src/auth/passwords.js';
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
import { givePasskey, turnOn, withTwoFactor } from '../secondFactor.js';
import { codeOf } from '../totp.js';
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

    describe('sign-in', () => {
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

    describe('a change of password', () => {
      const NEXT = 'seven purple kettles sing';

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
  });

  describe('more passwords at once than can be checked', () => {
    it('are refused, do not count as wrong, and do not delay signed-in users', async () => {
      const ana = await person(server);
      // As many as there is room for: two that are checked and fifty that are queued. Each is followed by another when it ends.
      let goOn = true;
      const judge = async (): Promise<void> => {
        while (goOn) await limitedPasswordHasher.hash('x');
      };
      const all = [judge(), judge()];
      await nextTurn();
      all.push(...Array.from({ length: 50 }, judge));
      const signIn = () =>
        callConsole(server, 'POST', '/auth/sign-in/email', {
          body: { email: ana.email, password: PASSWORD },
        });
      expect(await signIn()).toMatchObject({ status: 429, body: { code: 'rate_limited' } });
      expect((await ana.get('/session')).status).toBe(200);
      const tries = 'select tries from counted_tries where key_hash = sha256($1)';
      expect(await server.db.sql(tries, [ana.email])).toEqual([{ tries: 0 }]);
      goOn = false;
      await Promise.all(all);
      const signedIn = await signIn();
      expect(signedIn.status).toBe(200);
      expect(cookieOf(signedIn)).not.toBe('');
    }, 60_000);
  });
});

describe('strangers', () => {
  const server = useConsole();
  const NEW_PASSWORD = 'another horse battery';

  const post = (path: string, body: object, cookie?: string): Promise<Answer> =>
    postFromNewAddress(server, path, body, cookie);
  const signIn = (email: string, password: string): Promise<Answer> =>
    post('/sign-in/email', { email, password });

  const promote = (email: string, staff: StaffRole | null = 'operator', isVouchedFor = true) =>
    setStaffRole(server.db.database, TEST_ACTOR, email, staff, { isVouchedFor });
  const staffOf = async ({ id }: TestPerson): Promise<unknown> =>
    (await server.db.sql('select staff from users where id = $1', [id]))[0]!['staff'];

  describe('a staff role', () => {
    it('removes every sign-in method of a stranger: sessions, password, second factor, passkeys and links', async () => {
      const { who, uri, backupCodes } = await turnOn(server, await stranger(server));
      await givePasskey(server, who);
      await withMail(server, async () => {
        await who.post('/auth/change-address', { email: 'thief@example.com' });
        const change = await tokenTo(server, 'thief@example.com');
        await post('/request-password-reset', { email: who.email, language: 'en' });
        const reset = await tokenTo(server, who.email);
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
        expect(await passkeysOf(server, who)).toEqual([]);
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
    it('is locked out when an operator sets a password', async () => {
      const who = await stranger(server);
      await givePasskey(server, who);
      await setPassword(server.db.database, TEST_ACTOR, who.email, NEW_PASSWORD);
      expect((await who.get('/session')).status).toBe(401);
      expect(await passkeysOf(server, who)).toEqual([]);
      expect((await signIn(who.email, NEW_PASSWORD)).status).toBe(200);
    });
  });

  it('a new password keeps the passkeys of a confirmed address', async () => {
    const who = await person(server);
    await server.db.sql('update users set email_verified = true where id = $1', [who.id]);
    await givePasskey(server, who);
    await setPassword(server.db.database, TEST_ACTOR, who.email, NEW_PASSWORD);
    expect(await passkeysOf(server, who)).toHaveLength(1);
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
