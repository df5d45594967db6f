import { randomBytes } from 'node:crypto';
import { changeSettings } from '@onecode/store/accounts';
import { listAuditEntries } from '@onecode/store/operations';
import { createUser, setStaffRole } from '@onecode/store/users';
import { buildAccount, describeInBrowser, TEST_ACTOR, useBrowser } from '@onecode/testing';
import type { Page } from 'playwright-core';
import { readConsoleConfig } from '../../src/config.js';
import { startConsole, type StartedConsole } from '../console.js';
import { CLIENT, startOpenidProvider, type Identified, type OpenidProvider } from '../openidProvider.js';
import { callConsole, fromNewAddress, PASSWORD, person } from '../people.js';

const browser = useBrowser();
const BUTTON = 'Staff: company sign-in';

let provider: OpenidProvider;
let server: StartedConsole;
beforeAll(async () => {
  provider = await startOpenidProvider();
  server = await startConsole({ OIDC_ISSUER: provider.issuer, ...CLIENT });
  // Fetched after startup, so that an unreachable identity provider does not prevent the console from starting.
  provider.open(`${server.url}/api/auth/callback/oidc`);
});
afterAll(async () => {
  await server.close();
  await provider.close();
});

/** A different client address each time, because one address may start three sign-ins in ten seconds. */
const newWindow = () =>
  browser.newContext({ locale: 'en-US', baseURL: server.url, extraHTTPHeaders: fromNewAddress() });

/** Opens the provider as this user, in a separate browser. */
async function come(who: Identified): Promise<Page> {
  provider.signIn(who);
  const context = await newWindow();
  const page = await context.newPage();
  await page.goto('/sign-in');
  await page.getByRole('button', { name: BUTTON }).click();
  return page;
}

async function expectRefused(who: Identified): Promise<void> {
  const before = await server.db.sql('select id from users');
  const page = await come(who);
  await page.getByText('Your company account does not belong to a staff member here').waitFor();
  const answer = await page.evaluate(async () => (await fetch('/api/session')).status);
  expect(answer).toBe(401);
  expect(await server.db.sql('select id from users')).toEqual(before);
  const linked = await server.db.sql(
    `select from user_credentials c join users u on u.id = c.user_id where u.email = $1 and c.provider_id = 'oidc'`,
    [who.email],
  );
  expect(linked).toEqual([]);
  await page.context().close();
}

const entriesOf = async (id: string): Promise<unknown[]> => {
  const entries = await listAuditEntries(server.db.database, { limit: 100, actionPrefix: 'user.sign_in' });
  return entries
    .filter(({ subject }) => subject === id)
    .toReversed()
    .map(({ action, details }) => [action, details['proof']]);
};

describe('the configuration of the provider', () => {
  const base64 = randomBytes(32).toString('base64');
  const OTHERS = {
    DATABASE_URL: 'postgresql://localhost/onecode',
    REDIS_URL: 'redis://localhost',
    BASE_URL: 'https://api.example.test',
    CONSOLE_URL: 'https://console.example.test',
    SESSION_SECRET: base64,
    SECRET_KEY: base64,
  };
  const WHOLE = { OIDC_ISSUER: 'https://id.example.test/', ...CLIENT };

  it('has all of its variables or none', () => {
    expect(readConsoleConfig(OTHERS)).toMatchObject({ OIDC_ISSUER: '' });
    expect(readConsoleConfig({ ...OTHERS, ...WHOLE })).toMatchObject({
      OIDC_ISSUER: 'https://id.example.test',
    });
    for (const name of Object.keys(WHOLE))
      expect(() => readConsoleConfig({ ...OTHERS, ...WHOLE, [name]: '' })).toThrow(
        `${name} is missing: for OpenID Connect, OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET are needed`,
      );
  });

  it.each([
    ['http://id.example.test', 'must begin with https://'],
    ['id.example.test', 'must be an address'],
    ['https://id.example.test/?tenant=1', 'must be an address'],
  ])('refuses the issuer %s: it %s', (OIDC_ISSUER, fault) => {
    expect(() => readConsoleConfig({ ...OTHERS, ...WHOLE, OIDC_ISSUER })).toThrow(`OIDC_ISSUER ${fault}`);
  });
});

describeInBrowser('the OpenID provider of the staff', () => {
  it('signs in a staff member repeatedly, for both factors, and stores no tokens', async () => {
    const olga = await person(server, { staff: 'operator' });
    await changeSettings(server.db.database, TEST_ACTOR, { staffTwoFactor: 'required' });
    try {
      for (let n = 0; n < 2; n += 1) {
        const page = await come({ email: olga.email.toUpperCase(), isVerified: true });
        await page.getByRole('button', { name: 'User menu' }).waitFor();
        await page.goto('/staff/settings');
        await page.getByRole('heading', { level: 1, name: 'Settings' }).waitFor();
        await page.context().close();
      }
    } finally {
      await changeSettings(server.db.database, TEST_ACTOR, { staffTwoFactor: 'optional' });
    }
    expect(await entriesOf(olga.id)).toEqual([
      ['user.sign_in', 'oidc'],
      ['user.sign_in', 'oidc'],
    ]);
    const kept = `select access_token, refresh_token, id_token from user_credentials where user_id = $1 and provider_id = 'oidc'`;
    expect(await server.db.sql(kept, [olga.id])).toEqual([
      { access_token: null, refresh_token: null, id_token: null },
    ]);
  });

  it('removes the sign-in methods of the stranger who signed up with an unconfirmed address', async () => {
    const olga = await person(server, { staff: 'operator' });
    await server.db.sql('update users set email_verified = false where id = $1', [olga.id]);
    expect((await olga.get('/session')).status).toBe(200);
    // A link to the stranger's own address, and a sign-in between the password and the second factor.
    for (const [identifier, value] of [
      ['address_change:x', JSON.stringify({ userId: olga.id, email: 'thief@example.com' })],
      ['2fa-x', olga.id],
    ])
      await server.db.sql(
        `insert into user_verifications (id, identifier, value, expires_at)
         values (gen_random_uuid(), $1, $2, now() + interval '1 hour')`,
        [identifier, value],
      );
    const page = await come({ email: olga.email, isVerified: true });
    await page.getByRole('button', { name: 'User menu' }).waitFor();
    expect((await olga.get('/session')).status).toBe(401);
    const begun = 'select identifier from user_verifications where strpos(value, $1) > 0';
    expect(await server.db.sql(begun, [olga.id])).toEqual([]);
    const left = 'select provider_id from user_credentials where user_id = $1';
    expect(await server.db.sql(left, [olga.id])).toEqual([{ provider_id: 'oidc' }]);
    await page.context().close();
  });

  it('keeps the password of a user that an operator created', async () => {
    const email = 'created@example.com';
    const made = {
      name: 'Olga',
      language: 'en',
      staff: 'operator',
      password: PASSWORD,
      membership: null,
    } as const;
    await createUser(server.db.database, TEST_ACTOR, { ...made, email });
    const page = await come({ email, isVerified: true });
    await page.getByRole('button', { name: 'User menu' }).waitFor();
    await page.context().close();
    const signIn = { body: { email, password: PASSWORD } };
    expect((await callConsole(server, 'POST', '/auth/sign-in/email', signIn)).status).toBe(200);
  });

  it('shows on the sign-in page that it failed', async () => {
    provider.signIn(null);
    const context = await newWindow();
    const page = await context.newPage();
    await page.goto('/sign-in');
    await page.getByRole('button', { name: BUTTON }).click();
    await page.getByText('The company sign-in failed').waitFor();
    await context.close();
  });

  it('is called with a state, a nonce and a code challenge', async () => {
    const asked = provider.asked.at(-1)!;
    for (const name of ['state', 'nonce', 'code_challenge'])
      expect(asked.get(name)).toMatch(/^[A-Za-z0-9_-]{20,}$/);
    expect(asked.get('code_challenge_method')).toBe('S256');
  });

  it('refuses users that Onecode does not know', () =>
    expectRefused({ email: 'stranger@example.com', isVerified: true }));

  it('refuses staff with an address that it has not verified', async () => {
    const olga = await person(server, { staff: 'on_call' });
    await expectRefused({ email: olga.email, isVerified: false });
    expect(await entriesOf(olga.id)).toEqual([['user.sign_in_failed', 'oidc']]);
  });

  it('refuses customers', async () => {
    const account = await buildAccount(server.db.database);
    const ana = await person(server, { accounts: { [account]: 'admin' } });
    await expectRefused({ email: ana.email, isVerified: true });
    expect(await entriesOf(ana.id)).toEqual([['user.sign_in_failed', 'oidc']]);
  });

  it('refuses users who have left the staff', async () => {
    const olga = await person(server, { staff: 'operator' });
    const page = await come({ email: olga.email, isVerified: true });
    await page.getByRole('button', { name: 'User menu' }).waitFor();
    await page.context().close();
    await setStaffRole(server.db.database, TEST_ACTOR, olga.email, null);
    const again = await come({ email: olga.email, isVerified: true });
    await again.getByText('Your company account does not belong to a staff member here').waitFor();
    await again.context().close();
  });

  it('signs in only the browser that started the sign-in', async () => {
    const olga = await person(server, { staff: 'operator' });
    provider.signIn({ email: olga.email, isVerified: true });
    const thief = await newWindow();
    const page = await thief.newPage();
    const callback = page.waitForRequest((request) => request.url().includes('/api/auth/callback/oidc'));
    await page.route('**/api/auth/callback/oidc**', (route) => route.abort());
    await page.goto('/sign-in');
    await page.getByRole('button', { name: BUTTON }).click();
    const carried = (await callback).url();
    const answer = await fetch(carried, { redirect: 'manual' });
    expect([answer.status, answer.headers.get('location')]).toEqual([302, '/sign-in?failed']);
    await thief.close();
  });

  it('is not shown on the sign-in page if none is configured', async () => {
    const without = await startConsole();
    try {
      const signIn = await callConsole(without, 'POST', '/auth/sign-in/oidc', { body: {} });
      const callback = await callConsole(without, 'GET', '/auth/callback/oidc?code=a&state=b');
      expect([signIn.status, callback.status]).toEqual([404, 404]);
      expect((await callConsole(without, 'GET', '/sign-up-offer')).body.hasProvider).toBe(false);
      const context = await browser.newContext({ locale: 'en-US', baseURL: without.url });
      const page = await context.newPage();
      await page.goto('/sign-in');
      await page.getByRole('link', { name: 'Create an account' }).waitFor();
      await page.getByText('Ask an operator').waitFor();
      expect(await page.getByRole('button', { name: BUTTON }).count()).toBe(0);
      await context.close();
    } finally {
      await without.close();
    }
  });
});
