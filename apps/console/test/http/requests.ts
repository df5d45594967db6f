const DAY_MS = 86_400_000;

/** A body that each route with one would accept, so that what it answers with is about who asks and not about what. */
export const BODIES: Readonly<Record<string, object>> = {
  'post /accounts': { name: 'Loja', language: 'en', countries: ['BR'] },
  'post /invitations/look-up': { token: 'no-such-token' },
  'post /invitations/accept': { token: 'no-such-token' },
  'put /profile': { name: 'Ana' },
  'post /accounts/:account/applications': { name: 'Shop', mode: 'test' },
  'put /accounts/:account/applications/:application': { name: 'Shop' },
  'put /accounts/:account/applications/:application/identity-check': { identityCheck: 'observe' },
  'put /accounts/:account/applications/:application/limits': { perMinute: 60, perRecipientHour: 5 },
  'post /accounts/:account/applications/:application/keys': { label: 'Server' },
  'post /accounts/:account/applications/:application/tryout/sends': { to: '+5511987654321', isLive: true },
  'post /accounts/:account/applications/:application/tryout/sends/:send/verify': { code: '000000' },
  'post /accounts/:account/sends/search': { recipient: '+5511987654321' },
  'post /accounts/:account/recipients/export': { recipient: '+5511900000009' },
  'post /accounts/:account/recipients/erase': { recipient: '+5511900000009', reason: 'a test' },
  'post /accounts/:account/refused-requests/search': { text: 'order-7' },
  'put /accounts/:account/members/:member': { role: 'viewer' },
  'post /accounts/:account/invitations': { email: 'somebody@example.com', role: 'viewer' },
  'post /staff/senders': {
    phoneNumberId: '106540352249999',
    number: '+15550789999',
    token: 'a-token',
    template: 'verification_code',
    englishTemplateLanguage: 'en',
    throughput: 80,
  },
  'put /staff/senders/:sender/token': { token: 'another-token' },
  'put /staff/senders/:sender/throughput': { throughput: 100 },
  'post /staff/senders/:sender/pause': { reason: 'a test' },
  'put /staff/settings': { freeSends: 10 },
  'put /staff/settings/staff-two-factor': { staffTwoFactor: 'optional' },
  'post /staff/accounts/:target/recipients/export': { recipient: '+5511900000009' },
  'post /staff/accounts/:target/recipients/erase': { recipient: '+5511900000009', reason: 'a test' },
  'post /staff/accounts/:target/refused-requests/search': { text: 'order-7' },
  'post /staff/accounts/:target/credits': {
    amount: 1,
    reason: 'a test',
    grantId: '01a1fa05-b8ff-7465-ba7e-fd4e947cdd5c',
  },
  'put /staff/accounts/:target/rate': { ratePerMinute: 60 },
  'put /staff/accounts/:target/countries': { countries: ['BR'] },
  'put /staff/accounts/:target/breaker': { rule: null },
  'post /staff/accounts/:target/suspend': { reason: 'a test' },
  'post /staff/holds': { kind: 'country', target: 'BR', reason: 'a test' },
  'post /staff/holds/release': { kind: 'country', target: 'BR' },
};

/** Query parameters of the routes that cannot do without. */
export const QUERIES: Readonly<Record<string, Record<string, string>>> = {
  'get /accounts/:account/overview': {
    from: new Date(Date.now() - DAY_MS).toISOString(),
    to: new Date().toISOString(),
    bucket: 'hour',
    timeZone: 'America/Sao_Paulo',
  },
};
