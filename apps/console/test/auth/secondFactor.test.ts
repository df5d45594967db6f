import { changeSettings } from '@onecode/store/accounts';
import { listAuditEntries } from '@onecode/store/operations';
import { setPassword, SIGN_IN_TRIES_MAX } from '@onecode/store/users';
import { buildAccount, TEST_ACTOR } from '@onecode/testing';
import { newId } from '@onecode/store/client';
import { ROUTES } from '../../src/features/routes.js';
import type { SessionView } from '../../src/features/session/view.js';
import { useConsole } from '../console.js';
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
import { givePasskey, letConfirmationPass, turnOn, withTwoFactor } from '../secondFactor.js';
import { codeOf } from '../totp.js';

describe('second factors', () => {
  const server = useConsole();

  describe('a second factor', () => {
    const post = (path: string, body: object, cookie = ''): Promise<Answer> =>
      callConsole(server, 'POST', `/auth${path}`, { body, headers: { cookie, ...fromNewAddress() } });
    /** Takes the first step. @returns the cookies for the second step */
    async function firstStep({ email }: TestPerson): Promise<string> {
      const answer = await post('/sign-in/email', { email, password: PASSWORD });
      expect(answer).toMatchObject({ status: 200, body: { secondStep: true } });
      return cookieOf(answer);
    }
    const sessionOf = (cookie: string): Promise<Answer<SessionView>> =>
      callConsole(server, 'GET', '/session', { headers: { cookie } });

    it('is on after a code was entered, and not before', async () => {
      const ana = await person(server);
      expect((await ana.post('/auth/two-factor/enable', { password: 'wrong' })).body).toMatchObject({
        errors: { password: 'wrong' },
      });
      const { body } = await ana.post('/auth/two-factor/enable', { password: PASSWORD });
      expect(body).toEqual({ uri: expect.stringMatching(/^otpauth:/), backupCodes: expect.any(Array) });
      expect((await post('/sign-in/email', { email: ana.email, password: PASSWORD })).body).toEqual({
        secondStep: false,
      });
      expect((await ana.post('/auth/two-factor/verify-totp', { code: '000000' })).body.code).toBe(
        'wrong_code',
      );
      const on = await ana.post('/auth/two-factor/verify-totp', { code: codeOf(body.uri) });
      expect(on.status).toBe(204);
      expect((await sessionOf(cookieOf(on))).body.user.hasTwoFactor).toBe(true);
      const done = await server.db.sql<{ action: string }>(
        `select action from audit_entries where actor_id = $1 and action like '%two_factor%'`,
        [ana.id],
      );
      expect(done).toEqual([{ action: 'user.two_factor_turned_on' }]);
    });

    it('ends the sessions that never used it', async () => {
      const ana = await person(server);
      const elsewhere = cookieOf(await post('/sign-in/email', { email: ana.email, password: PASSWORD }));
      const { who } = await turnOn(server, ana);
      expect((await who.get('/session')).status).toBe(200);
      expect((await sessionOf(elsewhere)).status).toBe(401);
    });

    it('refuses guesses at its codes outside a sign-in with 409', async () => {
      const { who, uri, backupCodes } = await withTwoFactor(server);
      for (const [path, code] of [
        ['/two-factor/verify-totp', codeOf(uri)],
        ['/two-factor/verify-backup-code', String(backupCodes[0])],
      ] as const)
        expect(await who.post(`/auth${path}`, { code })).toMatchObject({ status: 409 });
    });

    it('accepts a code once, although it is valid for longer', async () => {
      const { who, uri } = await withTwoFactor(server);
      const [first, second] = [await firstStep(who), await firstStep(who)];
      const code = codeOf(uri);
      // The password alone has created no session.
      expect((await sessionOf(first)).status).toBe(401);
      const done = await post('/two-factor/verify-totp', { code }, first);
      expect(done).toMatchObject({ status: 204, body: undefined });
      expect((await sessionOf(cookieOf(done))).body.user.id).toBe(who.id);
      const before = await server.db.sql('select id from user_sessions where user_id = $1', [who.id]);
      // Almost the whole time in which the code is valid: until the code after the next one begins.
      await server.db.sql("update counted_tries set ends_at = ends_at - interval '89 seconds'");
      const replayed = await post('/two-factor/verify-totp', { code }, second);
      expect(replayed).toMatchObject({ status: 401, body: { code: 'wrong_code' } });
      expect(replayed.headers.getSetCookie()).toEqual([]);
      expect(await server.db.sql('select id from user_sessions where user_id = $1', [who.id])).toEqual(
        before,
      );
    });

    it('accepts a backup code once', async () => {
      const { who, backupCodes } = await withTwoFactor(server);
      const code = String(backupCodes[0]);
      const done = await post('/two-factor/verify-backup-code', { code }, await firstStep(who));
      expect(done.status).toBe(204);
      expect((await sessionOf(cookieOf(done))).status).toBe(200);
      const again = await post('/two-factor/verify-backup-code', { code }, await firstStep(who));
      expect(again).toMatchObject({ status: 401, body: { code: 'wrong_code' } });
    });

    it('allows at most five guesses for one sign-in, and ten in a row', async () => {
      const { who } = await withTwoFactor(server);
      const guess = (cookie: string): Promise<Answer> =>
        post('/two-factor/verify-totp', { code: '000000' }, cookie);
      const codes: string[] = [];
      const pending = await firstStep(who);
      for (let n = 0; n < 7; n += 1) codes.push((await guess(pending)).body.code);
      expect(codes).toEqual([...Array<string>(5).fill('wrong_code'), 'second_step_over', 'second_step_over']);
      const next = await firstStep(who);
      for (let n = 0; n < 5; n += 1) await guess(next);
      expect(await guess(await firstStep(who))).toMatchObject({
        status: 429,
        body: { code: 'too_many_tries' },
      });
    });

    it('refuses a second step if the password of the first step was replaced', async () => {
      const { who, uri } = await withTwoFactor(server);
      const pending = await firstStep(who);
      await setPassword(server.db.database, TEST_ACTOR, who.email, 'another horse battery');
      const late = await post('/two-factor/verify-totp', { code: codeOf(uri) }, pending);
      expect(late).toMatchObject({ status: 401, body: { code: 'second_step_over' } });
    });

    it('rejects trustDevice, so that it is required at every sign-in', async () => {
      const { who, uri } = await withTwoFactor(server);
      const refused = await post(
        '/two-factor/verify-totp',
        { code: codeOf(uri), trustDevice: true },
        await firstStep(who),
      );
      expect(refused.status).toBe(422);
    });

    it('requires the password to replace the backup codes and to be turned off', async () => {
      const { who, backupCodes } = await withTwoFactor(server);
      const change = (what: string, password = PASSWORD): Promise<Answer> =>
        who.post(`/auth/two-factor/${what}`, { password });
      const { body } = await change('generate-backup-codes');
      const use = async (code: unknown): Promise<number> =>
        (await post('/two-factor/verify-backup-code', { code: String(code) }, await firstStep(who))).status;
      expect([await use(backupCodes[1]), await use(body.backupCodes[1])]).toEqual([401, 204]);
      expect((await change('disable', 'wrong')).body).toMatchObject({ errors: { password: 'wrong' } });
      expect((await change('disable')).status).toBe(204);
      const { email } = who;
      expect((await post('/sign-in/email', { email, password: PASSWORD })).body).toEqual({
        secondStep: false,
      });
    });
  });

  describe('the setting that requires a second factor of staff', () => {
    const set = (staffTwoFactor: 'optional' | 'required') =>
      changeSettings(server.db.database, TEST_ACTOR, { staffTwoFactor });
    afterEach(() => set('optional'));

    const REQUIRED = { status: 403, body: { code: 'second_factor_required' } };
    const STAFF_ROUTES = ROUTES.filter(({ access }) => access === 'operator' || access === 'on_call').map(
      ({ method, path }) => ({ method: method.toUpperCase(), path }),
    );

    describe('while it is on', () => {
      it.each(['operator', 'on_call'] as const)(
        'refuses the staff’s routes to a user without a second factor: %s',
        async (staff) => {
          const who = await person(server, { staff });
          await set('required');
          expect(STAFF_ROUTES.length).toBeGreaterThan(20);
          for (const { method, path } of STAFF_ROUTES) {
            const address = path.replaceAll(/:\w+/g, '01a1fa05-b8ff-7465-ba7e-fd4e947cdd5c');
            const answer = await who.call(method, address, method === 'GET' ? undefined : {});
            expect([method, path, answer]).toMatchObject([method, path, REQUIRED]);
          }
        },
      );

      it('makes the queue board redirect staff without a second factor to the page with the reason', async () => {
        const who = await person(server, { staff: 'operator' });
        await set('required');
        const get = (path: string): Promise<Response> =>
          fetch(`${server.url}/board${path}`, { headers: { cookie: who.cookie }, redirect: 'manual' });
        const page = await get('/');
        expect([page.status, page.headers.get('location')]).toEqual([302, '/staff/health']);
        for (const path of ['/api/queues', '/static/js/main.js']) expect((await get(path)).status).toBe(403);
      });

      it('prevents staff with a passkey or a provider’s login from adding a second factor with the password alone', async () => {
        const [withPasskey, withLogin] = [
          await person(server, { staff: 'operator' }),
          await person(server, { staff: 'on_call' }),
        ];
        const passkey = await givePasskey(server, withPasskey);
        await server.db.sql(
          `insert into user_credentials (id, user_id, account_id, provider_id, updated_at)
         values (gen_random_uuid(), $1, 'x', 'oidc', now())`,
          [withLogin.id],
        );
        const tries = (who: TestPerson): Promise<Answer>[] => [
          who.post('/auth/two-factor/enable', { password: PASSWORD }),
          who.post('/auth/two-factor/verify-totp', { code: '000000' }),
          who.post('/auth/passkey/generate-register-options', {}),
          who.post('/auth/passkey/verify-registration', { name: 'Mine', response: {} }),
          who.call('DELETE', `/profile/passkeys/${passkey}`),
        ];
        await set('required');
        for (const who of [withPasskey, withLogin])
          for (const answer of tries(who)) expect(await answer).toMatchObject(REQUIRED);
        // If two factors are not required, the password is enough for all of this.
        await set('optional');
        expect((await withPasskey.post('/auth/two-factor/enable', { password: PASSWORD })).status).toBe(200);
      });

      it('keeps both factors of a session after a confirmation by password or a new password', async () => {
        const who = await person(server, { staff: 'operator' });
        await server.db.sql('update user_sessions set both_factors = true where user_id = $1', [who.id]);
        await set('required');
        expect((await who.post('/auth/confirm-password', { password: PASSWORD })).status).toBe(204);
        expect((await who.get('/staff/settings')).status).toBe(200);
        expect((await who.get('/session')).body).toMatchObject({ needsTwoFactor: true });
        const change = { password: PASSWORD, newPassword: 'another horse battery' };
        const headers = { cookie: cookieOf(await who.post('/auth/change-password', change)) };
        expect((await callConsole(server, 'GET', '/staff/settings', { headers })).status).toBe(200);
      });

      it('prevents staff, but not customers, from turning off their second factor', async () => {
        const [operator, customer] = [
          await withTwoFactor(server, { staff: 'on_call' }),
          await withTwoFactor(server),
        ];
        await set('required');
        const turnOff = ({ who }: { who: TestPerson }): Promise<Answer> =>
          who.call('POST', '/auth/two-factor/disable', { password: PASSWORD }, fromNewAddress());
        expect(await turnOff(operator)).toMatchObject(REQUIRED);
        expect((await operator.who.get('/staff/settings')).status).toBe(200);
        expect((await turnOff(customer)).status).toBe(204);
      });

      it('does not affect customers, or staff in their own account', async () => {
        const account = await buildAccount(server.db.database);
        const who = await person(server, { staff: 'operator', accounts: { [account]: 'admin' } });
        const customer = await person(server, { accounts: { [account]: 'viewer' } });
        await set('required');
        for (const one of [who, customer])
          expect((await one.get(`/accounts/${account}/members`)).status).toBe(200);
        expect((await customer.get('/session')).body.needsTwoFactor).toBe(false);
        expect(await customer.get('/staff/settings')).toMatchObject({ status: 404 });
      });
    });

    it('can be turned on only by an operator with a second factor, so that it cannot lock out all staff', async () => {
      const require = (who: TestPerson, staffTwoFactor = 'required'): Promise<Answer> =>
        who.put('/staff/settings/staff-two-factor', { staffTwoFactor, reason: 'a test' });
      const without = await person(server, { staff: 'operator' });
      expect(await require(without)).toMatchObject(REQUIRED);
      expect((await without.get('/staff/settings')).body.settings.staffTwoFactor).toBe('optional');

      const { who } = await withTwoFactor(server, { staff: 'operator' });
      expect((await require(who)).status).toBe(204);
      expect((await who.get('/staff/settings')).body.settings.staffTwoFactor).toBe('required');
      expect(
        await listAuditEntries(server.db.database, { limit: 1, actionPrefix: 'settings.' }),
      ).toMatchObject([
        {
          actor: { id: who.id },
          details: {
            before: { staffTwoFactor: 'optional' },
            after: { staffTwoFactor: 'required' },
            reason: 'a test',
          },
        },
      ]);
      expect((await require(who, 'optional')).status).toBe(204);
    });
  });
});

describe('confirmations', () => {
  const server = useConsole();
  let account: string;
  beforeAll(async () => {
    account = await buildAccount(server.db.database, { credits: 0 });
  });

  const grant = (who: TestPerson, grantId: string = newId()): Promise<Answer> =>
    who.post(`/staff/accounts/${account}/credits`, { amount: 5, reason: 'invoice 7', grantId });
  const confirm = (who: TestPerson, code: string): Promise<Answer> =>
    who.call('POST', '/auth/two-factor/confirm', { code }, fromNewAddress());
  const confirmPassword = (who: TestPerson, password: string): Promise<Answer> =>
    who.call('POST', '/auth/confirm-password', { password }, fromNewAddress());
  const UNCONFIRMED = { status: 403, body: { code: 'confirmation_required' } };

  async function signedIn(who: TestPerson, second?: { uri: string }): Promise<TestPerson> {
    const post = (path: string, body: object, cookie = ''): Promise<Answer> =>
      callConsole(server, 'POST', `/auth${path}`, { body, headers: { cookie, ...fromNewAddress() } });
    let answer = await post('/sign-in/email', { email: who.email, password: PASSWORD });
    if (second !== undefined)
      answer = await post('/two-factor/verify-totp', { code: codeOf(second.uri) }, cookieOf(answer));
    const cookie = cookieOf(answer);
    const { csrfToken } = (await callConsole(server, 'GET', '/session', { headers: { cookie } })).body;
    return inSession(server, who, { cookie, csrfToken });
  }

  describe('a change that requires a recent confirmation', () => {
    it('is made within ten minutes of a sign-in by password if there is no second factor', async () => {
      const operator = await signedIn(await person(server, { staff: 'operator' }));
      await letConfirmationPass(server, operator, 9);
      expect((await grant(operator)).status).toBe(204);
    });

    it('requires the second factor instead of the password if there is one', async () => {
      const { who, uri } = await withTwoFactor(server, { staff: 'operator' });
      expect((await grant(who)).status).toBe(204);
      await letConfirmationPass(server, who);
      expect(await grant(who)).toMatchObject(UNCONFIRMED);
      expect(await confirmPassword(who, PASSWORD)).toMatchObject({ status: 409 });
      expect(await confirm(who, '000000')).toMatchObject({ status: 401, body: { code: 'wrong_code' } });
      expect(await grant(who)).toMatchObject(UNCONFIRMED);
      expect((await confirm(who, codeOf(uri).replace(/^.../, '$& '))).status).toBe(204);
      expect((await grant(who)).status).toBe(204);
      expect(
        await listAuditEntries(server.db.database, { actionPrefix: 'user.confirm', limit: 2 }),
      ).toMatchObject([
        { action: 'user.confirm', actor: { id: who.id }, details: { proof: 'code' } },
        { action: 'user.confirm_failed', actor: { id: who.id }, details: { proof: 'code' } },
      ]);
    });

    it('accepts the code of a sign-in as a confirmation, each code once', async () => {
      const { who, uri } = await withTwoFactor(server, { staff: 'operator' });
      const again = await signedIn(who, { uri });
      expect((await grant(again)).status).toBe(204);
      await letConfirmationPass(server, who);
      expect(await confirm(again, codeOf(uri))).toMatchObject({ body: { code: 'wrong_code' } });
      expect(await grant(again)).toMatchObject(UNCONFIRMED);
      expect((await confirm(again, codeOf(uri, 1))).status).toBe(204);
      expect((await grant(again)).status).toBe(204);
    });

    it('accepts each backup code once', async () => {
      const { who, backupCodes } = await withTwoFactor(server, { staff: 'operator' });
      const code = String(backupCodes[0]);
      await letConfirmationPass(server, who);
      expect((await confirm(who, code)).status).toBe(204);
      expect((await grant(who)).status).toBe(204);
      await letConfirmationPass(server, who);
      expect(await confirm(who, code)).toMatchObject({ body: { code: 'wrong_code' } });
      expect(await grant(who)).toMatchObject(UNCONFIRMED);
    });

    it('is allowed only in the confirmed session, not in other sessions of the same user', async () => {
      const { who, uri } = await withTwoFactor(server, { staff: 'operator' });
      const other = await signedIn(who, { uri });
      await letConfirmationPass(server, who);
      expect((await confirm(who, codeOf(uri, 1))).status).toBe(204);
      expect([(await grant(who)).status, (await grant(other)).status]).toEqual([204, 403]);
    });

    it('is validated before its confirmation, so that an invalid form asks for no code', async () => {
      const operator = await person(server, { staff: 'operator' });
      await letConfirmationPass(server, operator);
      expect(
        await operator.post(`/staff/accounts/${account}/credits`, {
          amount: 0,
          reason: 'x',
          grantId: newId(),
        }),
      ).toMatchObject({ status: 422, body: { errors: { amount: 'minimum' } } });
    });
  });

  describe('a confirmation', () => {
    it('allows ten guesses from all addresses together, after which the correct code is refused too', async () => {
      const { who, uri } = await withTwoFactor(server, { staff: 'operator' });
      const answers = await Promise.all(
        Array.from({ length: SIGN_IN_TRIES_MAX + 6 }, () => confirm(who, '000000')),
      );
      expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
        ...Array<number>(SIGN_IN_TRIES_MAX).fill(401),
        ...Array<number>(6).fill(429),
      ]);
      await letConfirmationPass(server, who);
      expect(await confirm(who, codeOf(uri))).toMatchObject({ body: { code: 'too_many_tries' } });
      expect(await grant(who)).toMatchObject(UNCONFIRMED);
      // It does not block sign-ins.
      expect((await grant(await signedIn(who, { uri }))).status).toBe(204);
    });

    it('shares its limit with passwords at sign-in', async () => {
      const operator = await person(server, { staff: 'operator' });
      const statuses: number[] = [];
      for (let n = 0; n <= SIGN_IN_TRIES_MAX; n += 1)
        statuses.push((await confirmPassword(operator, `guess ${n}`)).status);
      expect(statuses).toEqual([...Array<number>(SIGN_IN_TRIES_MAX).fill(422), 429]);
      const body = { email: operator.email, password: PASSWORD };
      const signIn = await callConsole(server, 'POST', '/auth/sign-in/email', {
        body,
        headers: fromNewAddress(),
      });
      expect(signIn).toMatchObject({ status: 429, body: { code: 'too_many_tries' } });
    });

    it('accepts a code once, even in simultaneous requests', async () => {
      const { who, uri } = await withTwoFactor(server, { staff: 'operator' });
      const code = codeOf(uri);
      const answers = await Promise.all(Array.from({ length: 8 }, () => confirm(who, code)));
      expect(answers.filter(({ status }) => status === 204)).toHaveLength(1);
    });

    it('requires a session and the console’s own origin, like each route for signed-in users', async () => {
      const { who, uri } = await withTwoFactor(server);
      for (const [headers, status] of [
        [{ 'x-csrf-token': '' }, 403],
        [{ 'x-csrf-token': 'A'.repeat(43) }, 403],
        [{ cookie: '' }, 401],
        [{ origin: 'https://elsewhere.example' }, 403],
      ] as const)
        for (const [path, body] of [
          ['two-factor/confirm', { code: codeOf(uri) }],
          ['confirm-password', { password: PASSWORD }],
          ['sign-out', {}],
        ] as const)
          expect((await who.call('POST', `/auth/${path}`, body, headers)).status).toBe(status);
      expect((await who.get('/session')).status).toBe(200);
    });
  });

  describe('a second factor', () => {
    it.each(['disable', 'generate-backup-codes'])(
      'requires a fresh code before %s, not only the password',
      async (what) => {
        const { who, uri } = await withTwoFactor(server);
        await letConfirmationPass(server, who);
        const change = (): Promise<Answer> =>
          who.call('POST', `/auth/two-factor/${what}`, { password: PASSWORD }, fromNewAddress());
        expect(await change()).toMatchObject(UNCONFIRMED);
        await confirm(who, codeOf(uri));
        expect((await change()).status).toBeLessThan(300);
      },
    );
  });
});
