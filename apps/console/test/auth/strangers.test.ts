import { decrypt } from '@onecode/domain';
import { noteMailSender } from '@onecode/store/mails';
import { listAuditEntries } from '@onecode/store/operations';
import { setPassword, setStaffRole, type StaffRole } from '@onecode/store/users';
import { TEST_ACTOR, TEST_SECRET_KEY } from '@onecode/testing';
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
import { givePasskey, turnOn } from '../secondFactor.js';
import { codeOf } from '../totp.js';

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
