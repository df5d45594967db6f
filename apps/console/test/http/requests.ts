import type { Route } from '../../src/http/route.js';

const DAY_MS = 86_400_000;

/** Routes with their names, for `it.each`. */
export const named = (routes: readonly Route[]): { name: string; route: Route }[] =>
  routes.map((route) => ({ name: `${route.method.toUpperCase()} ${route.path}`, route }));

export const parametersOf = ({ path }: Route): string[] =>
  [...path.matchAll(/:(\w+)/g)].map(([, name]) => name as string);

export const formatRoute = ({ method, path }: Route): string => `${method} ${path}`;

/**
 * Returns one of these values, a different one for each route. `npm run test:all` gets all values for all routes.
 *
 * @param nth the position of the route among the tested routes
 */
export const someFor = <T>(nth: number, values: readonly T[]): readonly T[] =>
  process.env['ALL_TESTS'] === '1' ? values : values.slice(nth % values.length, (nth % values.length) + 1);

/** The same for routes below each of these paths. */
const below = <T>(paths: readonly string[], routes: Record<string, T>): Record<string, T> =>
  Object.fromEntries(
    paths.flatMap((path) =>
      Object.entries(routes).map(([route, value]) => [route.replace(' ', ` ${path}`), value]),
    ),
  );
const ACCOUNTS = ['/accounts/:account', '/staff/accounts/:target'];

const SETUP = { businessAccountId: '102290129340398', token: 'a-token', template: 'verification_code' };

/** A valid body for each route with one, so that the response depends only on the user. */
export const BODIES: Readonly<Record<string, object>> = {
  'post /accounts': { name: 'Loja', language: 'en', countries: ['BR'] },
  'post /invitations/look-up': { token: 'no-such-token' },
  'post /invitations/accept': { token: 'no-such-token' },
  'put /profile': { name: 'Ana' },
  'put /profile/passkeys/:passkey': { name: 'My phone' },
  'put /profile/mails': { muted: ['low_balance'] },
  'put /accounts/:account': { name: 'Loja', language: 'en' },
  'put /staff/accounts/:target': { name: 'Loja', language: 'en' },
  'put /staff/users/:user/staff': { staff: null },
  'put /accounts/:account/balance-alert': { below: 100 },
  'put /accounts/:account/webhook': { url: 'https://hooks.example.com/onecode' },
  'post /accounts/:account/applications': { name: 'Shop', mode: 'test' },
  'put /accounts/:account/applications/:application': { name: 'Shop' },
  'put /accounts/:account/applications/:application/identity-check': { identityCheck: 'observe' },
  'put /accounts/:account/applications/:application/limits': { perMinute: 60, perRecipientHour: 5 },
  'post /accounts/:account/applications/:application/keys': { label: 'Server' },
  'post /accounts/:account/tryout/recipient': { to: '+5511987654321' },
  'post /accounts/:account/applications/:application/tryout/sends': { to: '+5511987654321', isLive: true },
  'post /accounts/:account/applications/:application/tryout/sends/:send/verify': { code: '000000' },
  'post /accounts/:account/search': { text: 'order-7' },
  'post /staff/search': { text: 'order-7' },
  'put /accounts/:account/members/:member': { role: 'viewer' },
  'post /accounts/:account/invitations': { email: 'invited@example.com', role: 'viewer' },
  ...below<object>(ACCOUNTS, {
    'post /sends/search': { recipient: '+5511987654321' },
    'post /recipients/export': { recipient: '+5511900000009' },
    'post /recipients/erase': { recipient: '+5511900000009', reason: 'a test' },
    'post /refused-requests/search': { text: 'order-7' },
    'put /protection/countries': { countries: ['BR'] },
    'put /protection/premium-rate': { isAllowed: false },
    'put /protection/ceilings': { unitsPerDay: 1_000, unitsPerMonth: null },
    'put /protection/breaker': { rule: null },
  }),
  ...below<object>(['/accounts/:account/senders', '/staff/senders'], {
    'post ': {
      phoneNumberId: '106540352249999',
      number: '+15550789999',
      token: 'a-token',
      template: 'verification_code',
      englishTemplateLanguage: 'en',
      throughput: 80,
    },
    'post /numbers': SETUP,
    'post /setup': { ...SETUP, phoneNumberId: '106540352249999' },
    'post /:sender/setup': { pin: '482913', mayChangeTemplates: false },
    'post /:sender/test': { to: '+5511987654321' },
    'put /:sender': { token: 'another-token', throughput: 100 },
    'put /:sender/app': { appSecret: 'a'.repeat(32) },
    'post /:sender/pause': { reason: 'a test' },
    'post /:sender/resume': { reason: 'a test' },
  }),
  'put /staff/senders/:sender/owner': { accountId: null, applicationIds: [] },
  'put /staff/settings': { freeSends: 10, reason: 'a test' },
  'put /staff/prices': { country: 'BR', since: '2026-11', price: 0.0068, currency: 'USD' },
  'put /staff/settings/staff-two-factor': { staffTwoFactor: 'optional', reason: 'a test' },
  'put /staff/accounts/:target/senders': { senders: 'own' },
  'post /staff/accounts/:target/credits': {
    amount: 1,
    reason: 'a test',
    grantId: '01a1fa05-b8ff-7465-ba7e-fd4e947cdd5c',
  },
  'put /staff/accounts/:target/rate': { ratePerMinute: 60 },
  'post /staff/accounts/:target/suspend': { reason: 'a test' },
  'post /staff/health/incidents/:incident/acknowledge': { note: 'a test' },
  'post /staff/holds': { kind: 'country', target: 'BR', reason: 'a test' },
  'post /staff/holds/release': { kind: 'country', target: 'BR', reason: 'a test' },
};

const OVERVIEW = {
  from: new Date(Date.now() - DAY_MS).toISOString(),
  to: new Date().toISOString(),
  bucket: 'hour',
  timeZone: 'America/Sao_Paulo',
};

const MONTH = { month: '2026-11' };

/** The required query parameters of the routes. */
export const QUERIES: Readonly<Record<string, Record<string, string>>> = {
  ...below(ACCOUNTS, {
    'get /overview': OVERVIEW,
    'get /overview.csv': OVERVIEW,
    'get /statement': MONTH,
    'get /statement.csv': MONTH,
  }),
  'get /staff/settings/conflicting-templates': { codeValiditySeconds: '300' },
};
