import { changeSettings } from '@onecode/store/accounts';
import { listAuditEntries } from '@onecode/store/operations';
import { buildAccount, TEST_ACTOR } from '@onecode/testing';
import { newId } from '@onecode/store/client';
import { ROUTES } from '../../src/features/routes.js';
import type { SessionView } from '../../src/features/session/view.js';
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
import { letConfirmationPass, signInAgain, withTwoFactor } from '../secondFactor.js';
import { codeOf } from '../totp.js';

const isLong = process.env['ALL_TESTS'] === '1';

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
      it.each(isLong ? (['operator', 'on_call'] as const) : (['on_call'] as const))(
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

  describe('a change that requires a recent confirmation', () => {
    it('is made within ten minutes of a sign-in by password if there is no second factor', async () => {
      const operator = await signInAgain(server, await person(server, { staff: 'operator' }));
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
    it.each(isLong ? ['disable', 'generate-backup-codes'] : ['disable'])(
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
