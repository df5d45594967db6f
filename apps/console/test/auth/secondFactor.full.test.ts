import { changeSettings } from '@onecode/store/accounts';
import { setPassword, SIGN_IN_TRIES_MAX } from '@onecode/store/users';
import { buildAccount, TEST_ACTOR } from '@onecode/testing';
import { newId } from '@onecode/store/client';
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
import { givePasskey, letConfirmationPass, signInAgain, turnOn, withTwoFactor } from '../secondFactor.js';
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

    it('ends the sessions that never used it', async () => {
      const ana = await person(server);
      const elsewhere = cookieOf(await post('/sign-in/email', { email: ana.email, password: PASSWORD }));
      const { who } = await turnOn(server, ana);
      expect((await who.get('/session')).status).toBe(200);
      expect((await sessionOf(elsewhere)).status).toBe(401);
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

    describe('while it is on', () => {
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
    it('accepts the code of a sign-in as a confirmation, each code once', async () => {
      const { who, uri } = await withTwoFactor(server, { staff: 'operator' });
      const again = await signInAgain(server, who, { uri });
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
      const other = await signInAgain(server, who, { uri });
      await letConfirmationPass(server, who);
      expect((await confirm(who, codeOf(uri, 1))).status).toBe(204);
      expect([(await grant(who)).status, (await grant(other)).status]).toEqual([204, 403]);
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
      expect((await grant(await signInAgain(server, who, { uri }))).status).toBe(204);
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
  });
});
