import { changeSettings } from '@onecode/store/accounts';
import { deleteExpiredVerifications, noteMailSender } from '@onecode/store/mails';
import { listAuditEntries } from '@onecode/store/operations';
import { buildAccount, describeInBrowser, TEST_ACTOR, useBrowser } from '@onecode/testing';
import type { CDPSession, Page } from 'playwright-core';
import { useConsole } from '../console.js';
import { callConsole, cookieOf, cookiesOf, person, PASSWORD, windowOf, type TestPerson } from '../people.js';
import { givePasskey, letConfirmationPass } from '../secondFactor.js';

const server = useConsole();
const browser = useBrowser();

const press = (page: Page, name: string): Promise<void> =>
  page.getByRole('button', { name, exact: true }).click();

/** A virtual authenticator of the page that acts like its user. */
class Authenticator {
  private constructor(
    private readonly devtools: CDPSession,
    private readonly authenticatorId: string,
  ) {}

  static async of(page: Page): Promise<Authenticator> {
    const devtools = await page.context().newCDPSession(page);
    await devtools.send('WebAuthn.enable');
    const { authenticatorId } = await devtools.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    });
    return new Authenticator(devtools, authenticatorId);
  }

  /** Whether it recognizes its user: by a PIN, a finger, a face. */
  async recognizeUser(isUserVerified: boolean): Promise<void> {
    const { authenticatorId } = this;
    await this.devtools.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified });
  }

  async credentials(): Promise<number> {
    const { authenticatorId } = this;
    return (await this.devtools.send('WebAuthn.getCredentials', { authenticatorId })).credentials.length;
  }
}

async function addPasskey(page: Page, name: string): Promise<void> {
  await page.goto('/profile');
  await press(page, 'Add a passkey');
  await page.getByRole('dialog').getByRole('textbox', { name: 'Name' }).fill(name);
  await press(page, 'Continue');
}

/** Opens a window of a user who has just added a passkey in it. The caller closes its context. */
async function withPasskey(who: TestPerson, name: string) {
  const window = await windowOf(browser, server, who);
  const authenticator = await Authenticator.of(window.page);
  await addPasskey(window.page, name);
  await window.page.getByRole('cell', { name, exact: true }).waitFor();
  return { ...window, authenticator };
}

async function signOut(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'User menu' }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
}

/** Returns the audit entries of a user, oldest first, and the kinds of their mails. */
async function readTraces({ id }: TestPerson): Promise<{ actions: [string, unknown][]; mails: string[] }> {
  const entries = await listAuditEntries(server.db.database, { limit: 100, actionPrefix: 'user.' });
  const mails = await server.db.sql<{ kind: string }>(
    'select kind from outbox where recipient = (select email from users where id = $1) order by kind',
    [id],
  );
  return {
    actions: entries
      .filter(({ subject }) => subject === id)
      .toReversed()
      .map(({ action, details }) => [action, details['proof'] ?? details['name']]),
    mails: mails.map(({ kind }) => kind),
  };
}

describeInBrowser('a passkey', () => {
  it('is added, signs in, is renamed and is removed, and each change is logged or mailed', async () => {
    await noteMailSender(server.db.database, 'Onecode <codes@example.test>');
    const account = await buildAccount(server.db.database);
    const ana = await person(server, { accounts: { [account]: 'viewer' } });
    const { page, context } = await windowOf(browser, server, ana);
    const authenticator = await Authenticator.of(page);
    await letConfirmationPass(server, ana);
    await addPasskey(page, 'My phone');
    // A session alone is not enough.
    await page.getByRole('textbox', { name: 'Your password' }).fill(PASSWORD);
    await press(page, 'Confirm');
    await page.getByRole('cell', { name: 'My phone', exact: true }).waitFor();

    await addPasskey(page, 'The same phone');
    await page.getByText('This device already has one of your passkeys').waitFor();
    expect(await authenticator.credentials()).toBe(1);
    await press(page, 'Cancel');

    await signOut(page);
    await press(page, 'Use a passkey');
    await page.getByRole('button', { name: 'User menu' }).waitFor();
    await page.goto('/profile');
    await press(page, 'Rename My phone');
    await page.getByRole('dialog').getByRole('textbox', { name: 'Name' }).fill('Old phone');
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    const elsewhere = await callConsole(server, 'POST', '/auth/sign-in/email', {
      body: { email: ana.email, password: PASSWORD },
    });
    await press(page, 'Remove Old phone');
    await page.getByRole('dialog').getByRole('button', { name: 'Remove', exact: true }).click();
    await page.getByText('You have no passkeys yet.').waitFor();
    // The other sessions end. The passkey's session is the current one, and stays.
    const headers = { cookie: cookieOf(elsewhere) };
    expect((await callConsole(server, 'GET', '/session', { headers })).status).toBe(401);
    await page.reload();
    await page.getByText('You have no passkeys yet.').waitFor();

    await signOut(page);
    await press(page, 'Use a passkey');
    await page.getByText('This passkey is not registered here').waitFor();
    expect(await readTraces(ana)).toEqual({
      actions: [
        ['user.confirm', 'password'],
        ['user.passkey_added', 'My phone'],
        ['user.sign_out', undefined],
        ['user.sign_in', 'passkey'],
        ['user.passkey_renamed', undefined],
        ['user.sign_in', 'password'],
        ['user.passkey_removed', 'Old phone'],
        ['user.sign_out', undefined],
      ],
      mails: ['passkey_added', 'passkey_removed'],
    });
    await noteMailSender(server.db.database, null);
    await context.close();
  });

  it('counts as both factors, unlike the password alone', async () => {
    const operator = await person(server, { staff: 'operator' });
    const { page, context } = await withPasskey(operator, 'Key');
    await changeSettings(server.db.database, TEST_ACTOR, { staffTwoFactor: 'required' });
    try {
      // This session was started with a password.
      expect(await operator.get('/staff/settings')).toMatchObject({
        body: { code: 'second_factor_required' },
      });
      await signOut(page);
      await press(page, 'Use a passkey');
      await page.getByRole('button', { name: 'User menu' }).waitFor();
      await page.goto('/staff/settings');
      await page.getByRole('heading', { level: 1, name: 'Settings' }).waitFor();
    } finally {
      await changeSettings(server.db.database, TEST_ACTOR, { staffTwoFactor: 'optional' });
    }
    await context.close();
  });

  it('confirms sessions of its owner only', async () => {
    const [ana, bia] = [await person(server), await person(server)];
    const { page, context } = await withPasskey(ana, 'Key');
    await letConfirmationPass(server, ana);
    await addPasskey(page, 'Another');
    await press(page, 'Use a passkey');
    await page.getByText('This device already has one of your passkeys').waitFor();
    // The authenticator stays, as if two people shared a computer.
    await context.addCookies(cookiesOf(bia));
    await letConfirmationPass(server, bia);
    await addPasskey(page, 'Mine');
    await press(page, 'Use a passkey');
    await page.getByText('This passkey is not registered here').waitFor();
    expect((await readTraces(bia)).actions).toEqual([['user.confirm_failed', 'passkey']]);
    expect((await bia.get('/session')).body.user.id).toBe(bia.id);
    const sessions = await server.db.sql('select from user_sessions where user_id = $1', [ana.id]);
    expect(sessions).toHaveLength(1);
    await context.close();
  });

  it('is refused without a PIN or a biometric check', async () => {
    const ana = await person(server);
    const { page, context, authenticator } = await withPasskey(ana, 'Key');
    await signOut(page);
    await authenticator.recognizeUser(false);
    await press(page, 'Use a passkey');
    await page.getByText('Your browser did not return a passkey').waitFor();
    await context.close();
  });
});

describe('the routes of passkeys', () => {
  it('delete unanswered challenges', async () => {
    const { status } = await callConsole(server, 'POST', '/auth/passkey/generate-authenticate-options', {
      body: {},
    });
    expect(status).toBe(200);
    await server.db.sql(`update user_verifications set expires_at = clock_timestamp() - interval '1 second'`);
    await deleteExpiredVerifications(server.db.database);
    expect(await server.db.sql('select from user_verifications')).toEqual([]);
  });

  it('return the same for another user’s passkey as for an unknown one', async () => {
    const [ana, bia] = [await person(server), await person(server)];
    const id = await givePasskey(server, ana);
    expect((await bia.get('/profile/passkeys')).body).toEqual({ passkeys: [] });
    expect((await bia.put(`/profile/passkeys/${id}`, { name: 'Mine' })).status).toBe(404);
    expect((await bia.delete(`/profile/passkeys/${id}`)).status).toBe(404);
    expect((await ana.get('/profile/passkeys')).body).toMatchObject({ passkeys: [{ id, name: 'Key' }] });
  });

  it('refuse a response without an authenticator, and an unknown challenge', async () => {
    const ana = await person(server);
    const post = (path: string, response: object, cookie = ''): Promise<{ status: number; body: unknown }> =>
      callConsole(server, 'POST', `/auth/passkey${path}`, {
        body: { response },
        headers: { cookie, 'x-forwarded-for': '198.51.100.77' },
      });
    const wrong = { status: 401, body: { code: 'wrong_passkey' } };
    for (const response of [{}, { id: 'x' }, { id: ['x'] }, { id: null, response: {} }])
      expect(await post('/verify-authentication', response)).toMatchObject(wrong);
    expect((await ana.post('/auth/passkey/generate-register-options')).status).toBe(200);
    expect(
      await ana.post('/auth/passkey/verify-registration', { name: 'Key', response: { id: 'x' } }),
    ).toMatchObject(wrong);
  });
});
