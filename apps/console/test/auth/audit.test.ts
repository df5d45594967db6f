import { listAuditEntries } from '@onecode/store/operations';
import { SIGN_IN_TRIES_MAX } from '@onecode/store/users';
import { useConsole } from '../console.js';
import { callConsole, cookieOf, fromNewAddress, PASSWORD, person, type Answer } from '../people.js';
import { withTwoFactor } from '../secondFactor.js';
import { codeOf } from '../totp.js';

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
    const [entry, ...more] = await recordEntries(() => signIn(ana.email, 'not the password', '203.0.113.6'));
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
      Promise.all(Array.from({ length: SIGN_IN_TRIES_MAX + 6 }, () => signIn(ana.email, 'not the password'))),
    );
    expect(failed).toHaveLength(SIGN_IN_TRIES_MAX);
    expect(failed.filter(({ details }) => details['triesUsedUp'] === true)).toHaveLength(1);
  });

  it('records an unknown address once, when its attempts are used up, without the address', async () => {
    const failed = await recordEntries(async () => {
      for (let n = 0; n < SIGN_IN_TRIES_MAX + 2; n += 1) await signIn('secret-words@example.org', 'guess');
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
