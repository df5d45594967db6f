import { newId } from '@onecode/store/client';
import { listAuditEntries } from '@onecode/store/operations';
import { SIGN_IN_TRIES_MAX } from '@onecode/store/users';
import { buildAccount } from '@onecode/testing';
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
import { letConfirmationPass, withTwoFactor } from '../secondFactor.js';
import { codeOf } from '../totp.js';

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
