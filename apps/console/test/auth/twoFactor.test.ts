import type { SessionView } from '../../src/features/session/view.js';
import { useConsole } from '../console.js';
import { callConsole, cookieOf, PASSWORD, person, type Answer, type TestPerson } from '../people.js';
import { turnOn, withTwoFactor } from '../secondFactor.js';
import { codeOf } from '../totp.js';

const server = useConsole();

let addresses = 0;
const post = (path: string, body: object, cookie = ''): Promise<Answer> => {
  addresses += 1;
  return callConsole(server, 'POST', `/auth${path}`, {
    body,
    headers: { cookie, 'x-forwarded-for': `198.51.${addresses >> 8}.${addresses & 255}` },
  });
};
/** The first step. @returns the cookies with which the second one is taken */
async function firstStep({ email }: TestPerson): Promise<string> {
  const answer = await post('/sign-in/email', { email, password: PASSWORD });
  expect(answer).toMatchObject({ status: 200, body: { secondStep: true } });
  return cookieOf(answer);
}
const sessionOf = (cookie: string): Promise<Answer<SessionView>> =>
  callConsole(server, 'GET', '/session', { headers: { cookie } });

describe('the second factor', () => {
  it('is on once a code was given back, and not before', async () => {
    const ana = await person(server);
    expect((await ana.post('/auth/two-factor/enable', { password: 'wrong' })).body).toMatchObject({
      errors: { password: 'wrong' },
    });
    const { body } = await ana.post('/auth/two-factor/enable', { password: PASSWORD });
    expect(body).toEqual({ uri: expect.stringMatching(/^otpauth:/), backupCodes: expect.any(Array) });
    expect((await post('/sign-in/email', { email: ana.email, password: PASSWORD })).body).toEqual({
      secondStep: false,
    });
    expect((await ana.post('/auth/two-factor/verify-totp', { code: '000000' })).body.code).toBe('wrong_code');
    const on = await ana.post('/auth/two-factor/verify-totp', { code: codeOf(body.uri) });
    expect(on.status).toBe(204);
    expect((await sessionOf(cookieOf(on))).body.user.hasTwoFactor).toBe(true);
    const done = await server.db.sql<{ action: string }>(
      `select action from audit_entries where actor_id = $1 and action like '%two_factor%'`,
      [ana.id],
    );
    expect(done).toEqual([{ action: 'user.two_factor_turned_on' }]);
  });

  it('ends the sessions that never showed it', async () => {
    const ana = await person(server);
    const elsewhere = cookieOf(await post('/sign-in/email', { email: ana.email, password: PASSWORD }));
    const { who } = await turnOn(server, ana);
    expect((await who.get('/session')).status).toBe(200);
    expect((await sessionOf(elsewhere)).status).toBe(401);
  });

  it('has no guess at its codes beside those that are counted', async () => {
    const { who, uri, backupCodes } = await withTwoFactor(server);
    for (const [path, code] of [
      ['/two-factor/verify-totp', codeOf(uri)],
      ['/two-factor/verify-backup-code', String(backupCodes[0])],
    ] as const)
      expect(await who.post(`/auth${path}`, { code })).toMatchObject({ status: 409 });
  });

  it('is asked for at sign-in: the password alone begins no session', async () => {
    const { who, uri } = await withTwoFactor(server);
    const pending = await firstStep(who);
    expect((await sessionOf(pending)).status).toBe(401);
    const done = await post('/two-factor/verify-totp', { code: codeOf(uri) }, pending);
    expect(done).toMatchObject({ status: 204, body: undefined });
    expect((await sessionOf(cookieOf(done))).body.user.id).toBe(who.id);
  });

  it('lets a code in once, though it holds for longer', async () => {
    const { who, uri } = await withTwoFactor(server);
    const [first, second] = [await firstStep(who), await firstStep(who)];
    const code = codeOf(uri);
    expect((await post('/two-factor/verify-totp', { code }, first)).status).toBe(204);
    const before = await server.db.sql('select id from user_sessions where user_id = $1', [who.id]);
    const replayed = await post('/two-factor/verify-totp', { code }, second);
    expect(replayed).toMatchObject({ status: 401, body: { code: 'wrong_code' } });
    expect(replayed.headers.getSetCookie()).toEqual([]);
    expect(await server.db.sql('select id from user_sessions where user_id = $1', [who.id])).toEqual(before);
  });

  it('lets a backup code in once', async () => {
    const { who, backupCodes } = await withTwoFactor(server);
    const code = String(backupCodes[0]);
    const done = await post('/two-factor/verify-backup-code', { code }, await firstStep(who));
    expect(done.status).toBe(204);
    expect((await sessionOf(cookieOf(done))).status).toBe(200);
    const again = await post('/two-factor/verify-backup-code', { code }, await firstStep(who));
    expect(again).toMatchObject({ status: 401, body: { code: 'wrong_code' } });
  });

  it('takes no more than five guesses for one sign-in, and ten in a row', async () => {
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

  it('is never skipped for a device', async () => {
    const { who, uri } = await withTwoFactor(server);
    const refused = await post(
      '/two-factor/verify-totp',
      { code: codeOf(uri), trustDevice: true },
      await firstStep(who),
    );
    expect(refused.status).toBe(422);
  });

  it('has new backup codes for the password, which end the old ones', async () => {
    const { who, backupCodes } = await withTwoFactor(server);
    const { body } = await who.post('/auth/two-factor/generate-backup-codes', { password: PASSWORD });
    expect(body.backupCodes).toHaveLength(10);
    const use = async (code: unknown): Promise<number> =>
      (await post('/two-factor/verify-backup-code', { code: String(code) }, await firstStep(who))).status;
    expect([await use(backupCodes[1]), await use(body.backupCodes[1])]).toEqual([401, 204]);
  });

  it('is turned off with the password alone, and then asked for no longer', async () => {
    const { who } = await withTwoFactor(server);
    const turnOff = (password: string, token = who.csrfToken): Promise<Answer> =>
      who.call('POST', '/auth/two-factor/disable', { password }, { 'x-csrf-token': token });
    expect((await turnOff(PASSWORD, '')).status).toBe(403);
    expect((await turnOff('wrong')).body).toMatchObject({ errors: { password: 'wrong' } });
    expect((await turnOff(PASSWORD)).status).toBe(204);
    expect((await post('/sign-in/email', { email: who.email, password: PASSWORD })).body).toEqual({
      secondStep: false,
    });
  });
});
