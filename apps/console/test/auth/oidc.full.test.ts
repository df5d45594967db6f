import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { listAuditEntries } from '@onecode/store/operations';
import { buildAccount } from '@onecode/testing';
import type { ConsoleConfig } from '../../src/config.js';
import { startConsole, type StartedConsole } from '../console.js';
import { CLIENT, startOpenidProvider, type OpenidProvider, type ProviderShape } from '../openidProvider.js';
import { callConsole, cookieOf, fromNewAddress, PASSWORD, person, type Answer } from '../people.js';

const CALLBACK = '/api/auth/callback/oidc';
const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

interface Setup {
  server: StartedConsole;
  provider: OpenidProvider;
  /** The fields of the warnings that the console logged. */
  warnings: unknown[];
}

/** Starts a console with a staff provider of this shape; null: the provider is unavailable. */
async function setUp(
  shape: ProviderShape | null = {},
  overrides: Partial<ConsoleConfig> = {},
): Promise<Setup> {
  const provider = await startOpenidProvider();
  closers.push(() => provider.close());
  const server = await startConsole({ OIDC_ISSUER: provider.issuer, ...CLIENT, ...overrides });
  closers.push(() => server.close());
  if (shape !== null) provider.open(`${server.url}${CALLBACK}`, shape);
  const warnings: unknown[] = [];
  server.log.warn = (fields: unknown) => void warnings.push(fields);
  return { server, provider, warnings };
}

/** Follows a provider's pages, with its cookies, to the URL at which they redirect to the console. */
async function followProvider(address: string, console: string): Promise<string> {
  const cookies = new Map<string, string>();
  let next = address;
  while (!next.startsWith(console)) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(next, { redirect: 'manual', headers: { cookie } });
    for (const line of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!;
      cookies.set(name!, value!);
    }
    const location = response.headers.get('location');
    if (location === null) throw new Error(`the provider answered ${response.status}`);
    next = new URL(location, next).href;
  }
  return next;
}

const begin = ({ server }: Setup): Promise<Answer> =>
  callConsole(server, 'POST', '/auth/sign-in/oidc', { body: {} });

/** Signs in by the provider. @returns where the console redirects, and the status of the new session */
async function signIn(setup: Setup): Promise<{ leadsTo: string | null; session: number }> {
  const { server } = setup;
  const begun = await begin(setup);
  const back = await followProvider(begun.body.url, server.url);
  const answer = await fetch(back, { redirect: 'manual', headers: { cookie: cookieOf(begun) } });
  const cookie = answer.headers
    .getSetCookie()
    .map((line) => line.split(';')[0])
    .join('; ');
  const { status } = await callConsole(server, 'GET', '/session', { headers: { cookie } });
  return { leadsTo: answer.headers.get('location'), session: status };
}

const SIGNED_IN = { leadsTo: '/', session: 200 };
const REFUSED = { leadsTo: '/sign-in?refused', session: 401 };
const FAILED = { leadsTo: '/sign-in?failed', session: 401 };

async function failures({ server }: Setup): Promise<unknown[]> {
  const entries = await listAuditEntries(server.db.database, { limit: 100, actionPrefix: 'user.sign_in' });
  return entries.map(({ subject, details }) => ({ subject, reason: details['reason'] }));
}

/** Signs in an operator, which the console refuses, and checks the reason in the log and the audit log. */
async function expectRefusal(
  setup: Setup,
  {
    reason,
    leadsTo,
    isVerified = true,
    names,
  }: { reason: string; leadsTo: object; isVerified?: boolean; names: boolean },
): Promise<void> {
  const { server, provider, warnings } = setup;
  const olga = await person(server, { staff: 'operator' });
  provider.signIn({ email: olga.email, isVerified });
  expect(await signIn(setup)).toEqual(leadsTo);
  expect(await failures(setup)).toEqual([{ subject: names ? olga.id : null, reason }]);
  expect(warnings).toContainEqual(expect.objectContaining({ part: 'identity', reason }));
  expect(JSON.stringify(warnings)).not.toContain(olga.email.split('@')[0]);
}

const ONLY_EMAIL = ({ email }: { email: string }) => ({ email });
const NOTHING = () => ({});

describe('the claims `email` and `email_verified` of a provider', () => {
  it.each<[string, ProviderShape]>([
    ['both in the ID token, without a UserInfo endpoint', { userInfo: null }],
    [
      'both in the ID token, with UserInfo that answers 500',
      { answerUserInfo: (_, to) => to.writeHead(500).end() },
    ],
    ['`email` in the ID token and `email_verified` only in UserInfo', { idToken: ONLY_EMAIL }],
    ['both only in UserInfo', { idToken: NOTHING }],
    [
      '`email_verified` in the ID token and `email` only in UserInfo',
      { idToken: () => ({ email_verified: true }), userInfo: ONLY_EMAIL },
    ],
    ['both in the ID token, of an issuer that ends with a slash', { hasSlash: true }],
    ['`email_verified` as the text "true"', { idToken: ({ email }) => ({ email, email_verified: 'true' }) }],
    [
      'the text "true" only in UserInfo, and another case of the address',
      {
        idToken: ONLY_EMAIL,
        userInfo: ({ email }) => ({ email: email.toUpperCase(), email_verified: 'true' }),
      },
    ],
  ])('sign in an operator: %s', async (_, shape) => {
    const setup = await setUp(shape);
    const olga = await person(setup.server, { staff: 'operator' });
    setup.provider.signIn({ email: olga.email, isVerified: true });
    expect(await signIn(setup)).toEqual(SIGNED_IN);
    expect(await signIn(setup)).toEqual(SIGNED_IN);
    expect(setup.warnings).toEqual([]);
  });

  it.each<[string, ProviderShape, { reason: string; leadsTo: object; isVerified?: boolean; names: boolean }]>(
    [
      [
        'an address that the ID token reports as unverified',
        {},
        { reason: 'email_unverified', leadsTo: REFUSED, isVerified: false, names: true },
      ],
      [
        'an address that only UserInfo reports as unverified',
        { idToken: ONLY_EMAIL },
        { reason: 'email_unverified', leadsTo: REFUSED, isVerified: false, names: true },
      ],
      [
        'the text "false"',
        { idToken: ({ email }) => ({ email, email_verified: 'false' }) },
        { reason: 'email_unverified', leadsTo: REFUSED, names: true },
      ],
      [
        'an address without `email_verified` anywhere',
        { idToken: ONLY_EMAIL, userInfo: ONLY_EMAIL },
        { reason: 'email_verified_missing', leadsTo: REFUSED, names: true },
      ],
      [
        'an address without `email_verified`, and no UserInfo endpoint',
        { idToken: ONLY_EMAIL, userInfo: null },
        { reason: 'email_verified_missing', leadsTo: REFUSED, names: true },
      ],
      [
        'no address',
        { idToken: NOTHING, userInfo: NOTHING },
        { reason: 'email_missing', leadsTo: REFUSED, names: false },
      ],
      [
        'the verification of another address',
        { idToken: ONLY_EMAIL, userInfo: () => ({ email: 'other@example.com', email_verified: true }) },
        { reason: 'emails_differ', leadsTo: FAILED, names: false },
      ],
      [
        'UserInfo of another subject',
        {
          idToken: ONLY_EMAIL,
          answerUserInfo: (_, to) =>
            to
              .writeHead(200, { 'content-type': 'application/json' })
              .end(JSON.stringify({ sub: 'another user', email_verified: true })),
        },
        { reason: 'userinfo_of_another', leadsTo: FAILED, names: false },
      ],
      [
        'an ID token that its keys do not verify',
        { discovery: (document) => ({ ...document, jwks_uri: `${String(document['jwks_uri'])}/none` }) },
        { reason: 'id_token_invalid', leadsTo: FAILED, names: false },
      ],
      [
        'UserInfo as a signed JWT',
        { idToken: ONLY_EMAIL, isUserInfoSigned: true },
        { reason: 'userinfo_signed', leadsTo: FAILED, names: false },
      ],
      [
        'UserInfo that answers 500',
        { idToken: ONLY_EMAIL, answerUserInfo: (_, to) => to.writeHead(500).end() },
        { reason: 'userinfo_failed', leadsTo: FAILED, names: false },
      ],
      [
        'UserInfo that redirects',
        { idToken: ONLY_EMAIL, answerUserInfo: (_, to) => to.writeHead(302, { location: '/other' }).end() },
        { reason: 'userinfo_failed', leadsTo: FAILED, names: false },
      ],
      [
        'UserInfo that is not an object',
        {
          idToken: ONLY_EMAIL,
          answerUserInfo: (_, to) => to.writeHead(200, { 'content-type': 'application/json' }).end('null'),
        },
        { reason: 'userinfo_failed', leadsTo: FAILED, names: false },
      ],
    ],
  )('are refused, with the reason in the log and the audit log: %s', async (_, shape, expected) => {
    await expectRefusal(await setUp(shape), expected);
  });

  describe('if a missing `email_verified` is trusted', () => {
    const TRUST = { OIDC_MISSING_EMAIL_VERIFIED: 'trust' } as const;

    it('sign in an operator without `email_verified`', async () => {
      const setup = await setUp({ idToken: ONLY_EMAIL, userInfo: ONLY_EMAIL }, TRUST);
      const olga = await person(setup.server, { staff: 'operator' });
      setup.provider.signIn({ email: olga.email, isVerified: false });
      expect(await signIn(setup)).toEqual(SIGNED_IN);
    });

    it.each<[string, ProviderShape]>([
      ['the ID token', {}],
      ['only UserInfo', { idToken: ONLY_EMAIL }],
    ])('are refused when %s reports the address as unverified', async (_, shape) => {
      await expectRefusal(await setUp(shape, TRUST), {
        reason: 'email_unverified',
        leadsTo: REFUSED,
        isVerified: false,
        names: true,
      });
    });
  });
});

describe('the client authentication at a provider', () => {
  const basic = `Basic ${Buffer.from(
    `${CLIENT.OIDC_CLIENT_ID}:${CLIENT.OIDC_CLIENT_SECRET.replaceAll(' ', '+')}`,
  ).toString('base64')}`;

  it.each<[string, ProviderShape, ('basic' | 'post')[]]>([
    [
      'only client_secret_basic',
      { registered: 'client_secret_basic', supported: ['client_secret_basic'] },
      ['basic'],
    ],
    [
      'only client_secret_post',
      { registered: 'client_secret_post', supported: ['client_secret_post'] },
      ['post'],
    ],
    ['client_secret_basic, by default', { registered: 'client_secret_basic', supported: null }, ['basic']],
    ['client_secret_basic, of the two that it lists', { registered: 'client_secret_basic' }, ['basic']],
    ['client_secret_post, of the two that it lists', {}, ['basic', 'post']],
  ])('uses the method that the provider accepts: %s', async (_, shape, expected) => {
    const setup = await setUp(shape);
    const olga = await person(setup.server, { staff: 'operator' });
    setup.provider.signIn({ email: olga.email, isVerified: true });
    expect(await signIn(setup)).toEqual(SIGNED_IN);
    expect(setup.provider.tokenRequests).toEqual(
      expected.map((method) => (method === 'basic' ? basic : null)),
    );
  });

  it('is refused with a wrong secret, with the reason in the log', async () => {
    const setup = await setUp({}, { OIDC_CLIENT_SECRET: 'another secret' });
    await expectRefusal(setup, { reason: 'token_refused', leadsTo: FAILED, names: false });
    expect(setup.warnings).toContainEqual({
      part: 'identity',
      status: 401,
      error: 'invalid_client',
      method: 'client_secret_post',
    });
  });
});

describe('a sign-in by the provider', () => {
  it('is logged without the address if it is unknown', async () => {
    const setup = await setUp();
    setup.provider.signIn({ email: 'stranger@example.com', isVerified: true });
    expect(await signIn(setup)).toEqual(REFUSED);
    expect(await failures(setup)).toEqual([{ subject: null, reason: 'not_known' }]);
    expect(JSON.stringify(setup.warnings)).not.toContain('stranger');
  });

  it('is logged with the customer if the address is a customer’s', async () => {
    const setup = await setUp();
    const account = await buildAccount(setup.server.db.database);
    const ana = await person(setup.server, { accounts: { [account]: 'admin' } });
    setup.provider.signIn({ email: ana.email, isVerified: false });
    expect(await signIn(setup)).toEqual(REFUSED);
    expect(await failures(setup)).toEqual([{ subject: ana.id, reason: 'not_staff' }]);
  });

  it('is logged with the provider’s refusal', async () => {
    const setup = await setUp();
    setup.provider.signIn(null);
    expect(await signIn(setup)).toEqual(FAILED);
    expect(await failures(setup)).toEqual([{ subject: null, reason: 'access_denied' }]);
  });

  it('is logged without the text of an error that the provider did not send', async () => {
    const setup = await setUp();
    const begun = await begin(setup);
    const state = new URL(begun.body.url).searchParams.get('state');
    const back = `${setup.server.url}${CALLBACK}?state=${state}&error=`;
    for (const error of ['email_unverified', 'Nice%20try']) {
      const headers = { cookie: cookieOf(await begin(setup)) };
      await fetch(`${back}${error}`, { redirect: 'manual', headers });
    }
    await fetch(`${back}email_unverified`, { redirect: 'manual', headers: { cookie: cookieOf(begun) } });
    const reasons = (await failures(setup)).map((entry) => (entry as { reason: string }).reason);
    expect(reasons).toEqual(['provider_error', 'state_lost', 'state_lost']);
  });

  it('is logged at most twenty times an hour without a user', async () => {
    const setup = await setUp();
    for (let n = 0; n < 25; n += 1)
      await fetch(`${setup.server.url}${CALLBACK}?code=a&state=b`, {
        redirect: 'manual',
        headers: fromNewAddress(),
      });
    expect(await failures(setup)).toHaveLength(20);
    const refusals = setup.warnings.filter((fields) => (fields as { reason?: string }).reason !== undefined);
    expect(refusals).toHaveLength(25);
  });
});

describe('a provider that cannot be used', () => {
  it.each<[string, ProviderShape | null, string]>([
    ['unavailable', null, 'provider_unreachable'],
    [
      'of another issuer',
      { discovery: (document) => ({ ...document, issuer: 'https://id.example.com' }) },
      'provider_unusable',
    ],
    [
      'with private_key_jwt only',
      {
        registered: 'client_secret_post',
        discovery: (document) => ({
          ...document,
          token_endpoint_auth_methods_supported: ['private_key_jwt'],
        }),
      },
      'provider_unusable',
    ],
    [
      'without keys',
      { discovery: (document) => ({ ...document, jwks_uri: undefined }) },
      'provider_unusable',
    ],
  ])('does not affect passwords, and is used when it becomes usable: %s', async (_, shape, reason) => {
    const setup = await setUp(shape);
    const { server, provider, warnings } = setup;
    const olga = await person(server, { staff: 'operator' });
    expect(await begin(setup)).toMatchObject({ status: 502, body: { code: 'provider_unavailable' } });
    expect(await failures(setup)).toEqual([{ subject: null, reason }]);
    expect(warnings).toContainEqual({ part: 'identity', reason });
    const body = { email: olga.email, password: PASSWORD };
    expect((await callConsole(server, 'POST', '/auth/sign-in/email', { body })).status).toBe(200);
    provider.open(`${server.url}${CALLBACK}`);
    provider.signIn({ email: olga.email, isVerified: true });
    expect(await signIn(setup)).toEqual(SIGNED_IN);
  });

  it('does not block other requests if it accepts connections and never responds', async () => {
    // The request never gets a response.
    const silent = createServer(() => {});
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const { port } = silent.address() as AddressInfo;
    const server = await startConsole({ OIDC_ISSUER: `http://127.0.0.1:${port}`, ...CLIENT });
    closers.push(() => server.close());
    const asked = new Promise<void>((resolve) => silent.once('request', () => resolve()));
    const begun = callConsole(server, 'POST', '/auth/sign-in/oidc', { body: {} });
    await asked;
    expect((await callConsole(server, 'GET', '/session')).status).toBe(401);
    const olga = await person(server, { staff: 'operator' });
    expect((await olga.get('/session')).status).toBe(200);
    silent.closeAllConnections();
    expect(await begun).toMatchObject({ status: 502 });
    silent.close();
  });
});
