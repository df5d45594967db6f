import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { LIMIT_REFUSALS } from '@onecode/domain';
import {
  changeAccount,
  createApiKey,
  grantCredits,
  changeApplication,
  scheduleDeletion,
} from '@onecode/store/accounts';
import { noteMailSender, setEventWebhook } from '@onecode/store/mails';
import { acknowledgeIncident, listIncidents, recordIncidents } from '@onecode/store/operations';
import { setMessagePrice } from '@onecode/store/reports';
import { applySenderReading, pauseSender } from '@onecode/store/senders';
import {
  blockSender,
  buildAccount,
  buildCaller,
  buildSender,
  closedPort,
  describeInBrowser,
  fillHistory,
  refuseRequests,
  startProcess,
  TEST_NUMBER_PEPPER,
  TEST_SECRET_KEY,
  testRedisUrl,
  untilReady,
  TEST_ACTOR,
  useBrowser,
  type StartedProcess,
} from '@onecode/testing';
import type { AxeResults, RunOptions } from 'axe-core';
import type { Page } from 'playwright-core';
import { useConsole } from '../console.js';
import { person, untilIdle, windowOf, type TestPerson } from '../people.js';
import { givePasskey, letConfirmationPass, withTwoFactor } from '../secondFactor.js';
import { daysAgo } from './daysAgo.js';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** Screenshots for a visual review; ignored by Git. */
const PICTURES = '.data/pictures';

const THEMES = [
  { name: 'desktop-light-en', width: 1280, height: 860, colorScheme: 'light', language: 'en' },
  { name: 'phone-dark-pt', width: 390, height: 844, colorScheme: 'dark', language: 'pt-BR' },
  { name: 'desktop-dark-pt', width: 1280, height: 860, colorScheme: 'dark', language: 'pt-BR' },
  { name: 'phone-light-en', width: 390, height: 844, colorScheme: 'light', language: 'en' },
] as const;
type Theme = (typeof THEMES)[number];

function shownIn(theme: Theme): Visit[] {
  const states = [...SEARCHES, ...TRIED, ...CONFIRMATIONS, ...REQUIRED, NEW_KEY, ...OF_SENDERS, SETTINGS];
  // The buttons of dialogs are found by their English names.
  const dialogs = theme.language === 'en' ? Object.entries(DIALOGS).map(dialogVisit) : [];
  return [...PAGES, ...states, ...dialogs];
}

interface Visit {
  name: string;
  path: string;
  as: 'anonymous' | keyof typeof people;
  /** The actions on the page before it is checked. */
  act?: (page: Page) => Promise<void>;
  /** Whether the operators require a second factor during the visit. */
  isRequired?: true;
}

const UNKNOWN = '/no-such-page';
const OURS = '/accounts/ACCOUNT';

const PAGES: readonly Visit[] = [
  { name: 'sign-in', path: '/sign-in', as: 'anonymous' },
  { name: 'sign-in-refused', path: '/sign-in?refused', as: 'anonymous' },
  { name: 'sign-up', path: '/sign-up', as: 'anonymous' },
  { name: 'invitation', path: '/invitation#not-a-token', as: 'anonymous' },
  { name: 'forgotten-password', path: '/forgot-password', as: 'anonymous' },
  {
    name: 'forgotten-password-sent',
    path: '/forgot-password',
    as: 'anonymous',
    async act(page) {
      await page.locator('input[type=email]').fill('unknown@example.com');
      await page.locator('[type=submit]').click();
      await page.getByRole('status').waitFor();
    },
  },
  { name: 'reset-password', path: '/reset-password#a-token', as: 'anonymous' },
  {
    name: 'reset-password-over',
    path: '/reset-password#a-token',
    as: 'anonymous',
    async act(page) {
      await page.locator('input[type=password]').fill('correct horse battery');
      await page.locator('[type=submit]').click();
      await page.locator('a[href="/forgot-password"]').waitFor();
    },
  },
  { name: 'confirm-sign-up', path: '/confirm-sign-up#a-token', as: 'anonymous' },
  { name: 'confirm-address', path: '/confirm-address#a-token', as: 'anonymous' },
  { name: 'new-account', path: '/', as: 'newcomer' },
  { name: 'unknown-page', path: UNKNOWN, as: 'member' },
  { name: 'overview', path: '/accounts/ACCOUNT/overview', as: 'member' },
  { name: 'sends', path: '/accounts/ACCOUNT/sends', as: 'member' },
  { name: 'send', path: '/accounts/ACCOUNT/sends/SEND', as: 'member' },
  { name: 'send-failed', path: '/accounts/ACCOUNT/sends/FAILED', as: 'member' },
  {
    name: 'overview-custom',
    path: `/accounts/ACCOUNT/overview?period=custom&from=${daysAgo(9)}&to=${daysAgo(3)}`,
    as: 'member',
  },
  { name: 'requests', path: '/accounts/ACCOUNT/requests', as: 'member' },
  { name: 'requests-of-a-code', path: '/accounts/ACCOUNT/requests?code=rate_limited', as: 'member' },
  { name: 'empty-requests', path: '/accounts/EMPTY/requests', as: 'member' },
  { name: 'applications', path: '/accounts/ACCOUNT/applications', as: 'member' },
  { name: 'application', path: '/accounts/ACCOUNT/applications/APPLICATION', as: 'member' },
  { name: 'tryout-test', path: '/accounts/ACCOUNT/applications/TRIED/tryout', as: 'member' },
  { name: 'tryout-live', path: '/accounts/ACCOUNT/applications/APPLICATION/tryout', as: 'member' },
  { name: 'protection', path: '/accounts/ACCOUNT/protection', as: 'member' },
  { name: 'protection-on-trial', path: '/accounts/EMPTY/protection#ceilings', as: 'member' },
  { name: 'recipients', path: '/accounts/ACCOUNT/recipients', as: 'member' },
  { name: 'personal-data', path: '/accounts/ACCOUNT/personal-data', as: 'member' },
  { name: 'ledger', path: '/accounts/ACCOUNT/ledger', as: 'member' },
  { name: 'statement', path: '/accounts/ACCOUNT/statement', as: 'member' },
  { name: 'webhook', path: '/accounts/ACCOUNT/webhook', as: 'member' },
  { name: 'empty-webhook', path: '/accounts/EMPTY/webhook', as: 'member' },
  { name: 'team', path: '/accounts/ACCOUNT/team', as: 'member' },
  { name: 'own-senders', path: '/accounts/ACCOUNT/senders', as: 'member' },
  { name: 'add-own-sender', path: '/accounts/ACCOUNT/senders/new', as: 'member' },
  { name: 'own-sender', path: '/accounts/ACCOUNT/senders/OWNED', as: 'member' },
  { name: 'empty-own-senders', path: '/accounts/EMPTY/senders', as: 'member' },
  { name: 'account-audit', path: '/accounts/ACCOUNT/audit', as: 'member' },
  { name: 'profile', path: '/profile', as: 'member' },
  { name: 'start', path: '/accounts/ACCOUNT/start', as: 'member' },
  { name: 'empty-start', path: '/accounts/EMPTY/start', as: 'member' },
  { name: 'empty-overview', path: '/accounts/EMPTY/overview', as: 'member' },
  { name: 'empty-sends', path: '/accounts/EMPTY/sends', as: 'member' },
  { name: 'empty-recipients', path: '/accounts/EMPTY/recipients', as: 'member' },
  { name: 'empty-applications', path: '/accounts/EMPTY/applications', as: 'member' },
  { name: 'health', path: '/staff/health', as: 'operator' },
  { name: 'runbooks', path: '/staff/runbooks#no_workers', as: 'operator' },
  { name: 'accounts', path: '/staff/accounts', as: 'operator' },
  { name: 'account', path: '/staff/accounts/ACCOUNT', as: 'operator' },
  { name: 'account-on-trial', path: '/staff/accounts/EMPTY', as: 'operator' },
  { name: 'users', path: '/staff/users', as: 'operator' },
  { name: 'user', path: '/staff/users/USER', as: 'operator' },
  { name: 'staff-requests', path: '/staff/accounts/ACCOUNT/requests', as: 'operator' },
  { name: 'staff-overview', path: '/staff/accounts/ACCOUNT/overview', as: 'operator' },
  { name: 'staff-sends', path: '/staff/accounts/ACCOUNT/sends?status=failed', as: 'operator' },
  { name: 'staff-ledger', path: '/staff/accounts/ACCOUNT/ledger', as: 'operator' },
  { name: 'senders', path: '/staff/senders', as: 'operator' },
  { name: 'sender', path: '/staff/senders/SENDER', as: 'operator' },
  { name: 'holds', path: '/staff/holds', as: 'operator' },
  { name: 'costs', path: '/staff/costs', as: 'operator' },
  { name: 'settings', path: '/staff/settings', as: 'operator' },
  { name: 'audit', path: '/staff/audit', as: 'operator' },
  { name: 'staff-send', path: '/staff/sends/FAILED', as: 'operator' },
  { name: 'health-on-call', path: '/staff/health', as: 'onCall' },
  { name: 'senders-on-call', path: '/staff/senders', as: 'onCall' },
  { name: 'sender-on-call', path: '/staff/senders/SENDER', as: 'onCall' },
  { name: 'settings-on-call', path: '/staff/settings', as: 'onCall' },
  { name: 'application-read-only', path: '/accounts/READ/applications/LIMITED', as: 'member' },
];

/** The search and its results. */
const SEARCHES: readonly Visit[] = (['member', 'operator'] as const).map((as) => ({
  name: `search-${as}`,
  path: as === 'member' ? '/accounts/ACCOUNT/sends' : '/staff/health',
  as,
  async act(page) {
    await page.keyboard.press('/');
    await page
      .getByRole('dialog')
      .locator('input')
      .fill(as === 'member' ? ids['DIGITS']! : 'Loja');
    await page.getByRole('dialog').getByRole('link').first().waitFor();
  },
}));

/** A path, the user, the button that opens the dialog, and a button in it that is clicked with empty fields. */
type Dialog = [path: string, as: keyof typeof people, opener: string, confirm?: string];

const DIALOGS: Record<string, Dialog> = {
  'create-application': [`${OURS}/applications`, 'member', 'Create application', 'Create application'],
  'new-key': [`${OURS}/applications/APPLICATION`, 'member', 'Create key', 'Create key'],
  'revoke-key': [`${OURS}/applications/APPLICATION`, 'member', 'Revoke ak_'],
  'delete-account': [`${OURS}/team`, 'member', 'Delete account'],
  invite: [`${OURS}/team`, 'member', 'Invite member', 'Create link'],
  countries: [`${OURS}/protection`, 'member', 'Change allowed countries'],
  ceilings: [`${OURS}/protection`, 'member', 'Change ceilings'],
  'account-name': [`${OURS}/team`, 'member', 'Change name and language'],
  'new-link': [`${OURS}/team`, 'member', 'New link for'],
  'user-password': ['/staff/users/USER', 'operator', 'Reset password'],
  'user-role': ['/staff/users/USER', 'operator', 'Change staff role'],
  resume: [`${OURS}/protection`, 'member', 'Resume sends'],
  'second-factor': ['/profile', 'member', 'Turn on', 'Continue'],
  passkey: ['/profile', 'member', 'Add a passkey'],
  credits: ['/staff/accounts/ACCOUNT', 'operator', 'Grant credits', 'Grant credits'],
  hold: ['/staff/holds', 'operator', 'Hold all live delivery', 'Hold all live delivery'],
  address: ['/profile', 'member', 'Change email', 'Send the link'],
  'low-balance': [`${OURS}/ledger`, 'member', 'Set low-balance alert'],
  'webhook-address': ['/accounts/EMPTY/webhook', 'member', 'Set the address', 'Save'],
  'webhook-secret': [`${OURS}/webhook`, 'member', 'Replace the secret', 'Replace the secret'],
  acknowledge: ['/staff/health', 'operator', 'Acknowledge'],
  sender: ['/staff/senders/new', 'operator', 'Enter the details yourself'],
  'own-sender': [`${OURS}/senders/new`, 'member', 'Enter the details yourself'],
  'account-senders': ['/staff/accounts/ACCOUNT', 'operator', 'Change senders'],
};

const dialogVisit = ([name, [path, as, opener, confirm]]: [string, Dialog]): Visit => ({
  name: `dialog-${name}`,
  path,
  as,
  async act(page) {
    await page.getByRole('button', { name: opener }).first().click();
    const dialog = page.getByRole('dialog');
    await dialog.waitFor();
    if (confirm !== undefined) await dialog.getByRole('button', { name: confirm }).click();
    // The clicked button may have disappeared with its step.
    await dialog.locator(':focus').waitFor();
  },
});

/** The confirmation before settings are saved, with all effects. */
const SETTINGS: Visit = {
  name: 'dialog-settings',
  path: '/staff/settings',
  as: 'operator',
  async act(page) {
    await page.getByRole('main').locator('input[inputmode=numeric]').nth(1).fill('300');
    for (const name of [/Delete old sends|Apagar envios antigos/, /Guess budget|Limite de códigos errados/])
      await page.getByRole('switch', { name }).press('Space');
    await page.getByRole('main').locator('form [type=submit]').click();
    const dialog = page.getByRole('dialog');
    await dialog.locator(':focus').waitFor();
    await dialog.locator('[aria-busy=true]').waitFor({ state: 'detached' });
  },
};

const submit = (page: Page, step: number): Promise<void> =>
  page.getByRole('main').locator('form').nth(step).locator('[type=submit]').click();
const TEST_TRYOUT = { path: '/accounts/ACCOUNT/applications/TRIED/tryout', as: 'member' } as const;

/** The form of a new key, with a last day in the past. */
const NEW_KEY: Visit = {
  name: 'dialog-new-key-date',
  path: `${OURS}/applications/APPLICATION`,
  as: 'member',
  async act(page) {
    await page.getByRole('button', { name: /^(Create key|Criar chave)$/ }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('combobox').click();
    await page.getByRole('option').last().click();
    await dialog.locator('input[type=date]').fill('2026-01-31');
    await dialog.locator('[type=submit]').click();
    await dialog.locator('input[type=date][aria-invalid=true]').waitFor();
  },
};

/** The entries in the menu of a sender. */
const OF_SENDERS: readonly Visit[] = [
  'dialog-edit-sender',
  'dialog-test-code',
  'dialog-assign',
  'dialog-own-app',
].map((name, place) => ({
  name,
  path: '/staff/senders/SENDER',
  as: 'operator',
  async act(page) {
    await page.locator('main button[aria-haspopup=menu]').click();
    await page.getByRole('menuitem').nth(place).click();
    const dialog = page.getByRole('dialog');
    await dialog.locator(':focus').waitFor();
    if (name !== 'dialog-own-app') return;
    await dialog.locator('input').fill('a'.repeat(32));
    await dialog.locator('[type=submit]').click();
    await dialog.getByText('/webhooks/whatsapp/').waitFor();
  },
}));

/** The calls on an application's page, with an API behind the console and no worker. */
const TRIED: readonly Visit[] = [
  {
    ...TEST_TRYOUT,
    name: 'tryout-verified',
    async act(page) {
      await submit(page, 0);
      await page.getByText('000000', { exact: true }).waitFor();
      await page.getByRole('main').locator('form').nth(1).locator('input').fill('000000');
      await submit(page, 1);
      await page.getByText('valid: true', { exact: true }).waitFor();
    },
  },
  {
    ...TEST_TRYOUT,
    name: 'tryout-refused',
    async act(page) {
      await page.locator('input[type=tel]').fill('07700 900123');
      await page.locator('input[inputmode=numeric]').fill('42');
      await submit(page, 0);
      await page.getByText('invalid_recipient', { exact: true }).waitFor();
    },
  },
  {
    name: 'tryout-question',
    path: '/accounts/ACCOUNT/applications/APPLICATION/tryout',
    as: 'member',
    async act(page) {
      await page.locator('input[type=tel]').fill('+5511987654321');
      await submit(page, 0);
      await page.getByRole('dialog', { name: '+5511987654321' }).locator(':focus').waitFor();
    },
  },
];

/** Staff confirm who they are, with a second factor or without one. */
const CONFIRMATIONS: readonly Visit[] = (['withCode', 'withPassword'] as const).map((as) => ({
  name: `dialog-confirm-${as}`,
  path: '/staff/holds',
  as,
  async act(page) {
    await page.getByRole('main').getByRole('region').getByRole('button').first().click();
    await page.getByRole('dialog').locator('input').fill('a test');
    await page.getByRole('dialog').locator('[type=submit]').click();
    await page.locator('input[type=password]:focus, input[maxlength="20"]:focus').waitFor();
  },
}));

/** The pages of an operator without a required second factor, and of one who has it. */
const REQUIRED: readonly Visit[] = [
  { name: 'required-health', path: '/staff/health', as: 'operator', isRequired: true },
  { name: 'required-profile', path: '/profile', as: 'operator', isRequired: true },
  { name: 'required-has-profile', path: '/profile', as: 'withCode', isRequired: true },
  { name: 'required-has-settings', path: '/staff/settings', as: 'withCode', isRequired: true },
];

const API_PORT = await closedPort();
const server = useConsole({
  // A provider that does not respond: its button is still shown.
  OIDC_ISSUER: 'http://127.0.0.1:9',
  OIDC_CLIENT_ID: 'onecode',
  OIDC_CLIENT_SECRET: 'secret',
  API_URL: `http://127.0.0.1:${API_PORT}`,
});
const browser = useBrowser();
let people: Record<'member' | 'newcomer' | 'operator' | 'onCall' | 'withCode' | 'withPassword', TestPerson>;
const ids: Record<string, string> = {};

let api: StartedProcess;
beforeAll(async () => {
  const base64 = (bytes: number) => randomBytes(bytes).toString('base64');
  api = startProcess('apps/api/dist/main.js', {
    DATABASE_URL: server.db.url,
    REDIS_URL: testRedisUrl(),
    QUEUE_PREFIX: server.prefix,
    BASE_URL: 'https://api.example.test',
    CODE_PEPPER: base64(32),
    SECRET_KEY: base64(32),
    WHATSAPP_APP_SECRET: base64(16),
    WHATSAPP_VERIFY_TOKEN: base64(16),
    PORT: String(API_PORT),
    METRICS_PORT: '0',
  });
  await untilReady(api);
});
afterAll(() => api.stop());

beforeAll(async () => {
  const { database } = server.db;
  await noteMailSender(database, 'codes@onecode.example');
  const account = await buildAccount(database, { name: 'Loja Azul', freeQuota: 10 });
  const live = await buildCaller(database, 'live', { id: account });
  const test = await buildCaller(database, 'test', { id: account });
  for (const [name, change] of [
    ['Checkout server', `expires_at = now() + interval '10 days', last_used_at = now()`],
    [
      'Old integration',
      `created_at = now() - interval '200 days', last_used_at = now() - interval '120 days'`,
    ],
    ['Contractor', `created_at = now() - interval '40 days', expires_at = now() - interval '10 days'`],
    ['Before the leak', 'revoked_at = now()'],
  ] as const) {
    const key = await createApiKey(database, TEST_ACTOR, live.applicationId, { name });
    await server.db.sql(`update api_keys set ${change} where id = $1`, [key!.id]);
  }
  await grantCredits(database, TEST_ACTOR, account, 500, 'invoice 44', {
    reference: 'INV-2026-44',
    expiresAt: new Date('2090-01-31T00:00:00Z'),
  });
  const sender = await buildSender(database, { businessAccountId: '77' });
  const blocked = await buildSender(database);
  const reason = 'The sender’s access token has expired or is not valid.';
  await blockSender(database, blocked, { errorCode: 190, reason, isConfiguration: true });
  await applySenderReading(
    database,
    sender,
    {
      businessAccountId: '77',
      portfolioId: null,
      number: {
        quality: 'YELLOW',
        status: 'CONNECTED',
        messagingLimit: 'TIER_2K',
        token: { isValid: true, scopes: ['whatsapp_business_messaging'], expiresAt: 0 },
      },
      businessAccount: { verification: 'VERIFIED', isSubscribed: true },
      templates: [
        { language: 'en', values: { status: 'APPROVED', category: 'AUTHENTICATION', quality: 'GREEN' } },
        { language: 'pt_BR', values: { status: 'PAUSED', category: 'AUTHENTICATION', quality: 'RED' } },
      ],
      failures: {},
    },
    new Date(Date.now() - 7_200_000),
  );
  const owner = { accountId: account, applicationIds: [live.applicationId] };
  const own = await buildSender(database, { owner });
  await buildSender(database, { owner: { ...owner, applicationIds: [] } });
  await pauseSender(database, TEST_ACTOR, own.id);
  await changeAccount(database, TEST_ACTOR, account, { senders: 'own' });
  await fillHistory(server.db.url, {
    applications: [live, test],
    senderId: sender.id,
    sends: 3_000,
    days: 30,
    numberPepper: TEST_NUMBER_PEPPER,
  });
  await server.db.sql(
    `insert into guess_budgets (account_id, recipient_key, points, last_wrong_at)
     select account_id, recipient_key, 100 + n, clock_timestamp() - make_interval(hours => n)
     from (
       select *, row_number() over (order by id)::integer as n
       from (select distinct on (recipient_key) * from sends where account_id = $1 and mode = 'live') d
     ) s where n <= 4`,
    [account],
  );
  const limit = LIMIT_REFUSALS.recipient_rate;
  await refuseRequests(
    database,
    live,
    'rate_limited',
    Array.from({ length: 20 }, () => ({ status: 429, detail: limit, count: 2 })),
  );
  await refuseRequests(database, test, 'invalid_recipient', [
    { detail: 'The recipient is not a valid phone number.', fields: ['to', 'code'], count: 4_321 },
  ]);
  await refuseRequests(database, live, 'internal_error', [
    { status: 500, detail: 'Something failed inside the service.', ageMs: 90_000_000 },
  ]);
  await server.db.sql(
    `update accounts set units_per_day = 500, units_per_month = 20000, units_on = (now() at time zone 'UTC')::date, units_of_day = 500,
       units_of_month = 12345, allowed_countries = '{BR,PT,US}', allows_premium_rate = false, breaker_unverified_percent = 90,
       breaker_min_sends = 50 where id = $1`,
    [account],
  );
  await server.db.sql(
    `insert into breaker_trips (account_id, country, tripped_at, open_until, sends, unverified)
     values ($1, 'BR', now(), now() + interval '40 minutes', 87, 85), ($1, 'US', now() - interval '2 days', now() - interval '47 hours', 60, 57)`,
    [account],
  );
  await setEventWebhook(
    database,
    TEST_ACTOR,
    TEST_SECRET_KEY,
    account,
    'https://hooks.example.com/onecode/events?shop=loja-azul',
  );
  await server.db.sql(
    `insert into outbox (id, event, recipient, account_id, kind, facts, created_at, due_at, gives_up_at, tries, error, answer, ended_at, outcome)
     select gen_random_uuid(), e.kind, $1::uuid::text, $1::uuid, e.kind, '{}', now() - make_interval(hours => nth), case when outcome is null then now() + interval '8 minutes' end, now(),
       tries, error, answer, case when outcome is not null then now() - make_interval(mins => nth) end, outcome
     from (values (1, 'breaker.tripped', 9, 'HTTP 503', 503, null), (2, 'balance.low', 1, null, 204, 'sent'),
       (3, 'sender.blocked', 30, 'private_address', null, 'given_up'), (4, 'webhook.test', 2, 'DEPTH_ZERO_SELF_SIGNED_CERT', null, 'given_up'))
       as e (nth, kind, tries, error, answer, outcome)`,
    [account],
  );
  await server.db.sql(
    `insert into invitations (id, account_id, email, role, token_hash, created_at, expires_at)
     values (gen_random_uuid(), $1, 'bia@example.com', 'developer', sha256('x'), now(), now() + interval '5 days')`,
    [account],
  );
  const empty = await buildAccount(database, { name: 'Ateliê Novo' });
  await server.db.sql(
    `update accounts set trial_countries = '{BR,PT}', allowed_countries = '{BR,PT}', allows_premium_rate = false, units_per_day = 1000 where id = $1`,
    [empty],
  );
  await scheduleDeletion(database, TEST_ACTOR, empty);
  // An incident that has ended, and was acknowledged.
  await recordIncidents(database, [
    { name: 'mail_failing', cause: 'mail', owner: 'us', severity: 'degraded' },
  ]);
  const [incident] = await listIncidents(database);
  await acknowledgeIncident(
    database,
    TEST_ACTOR,
    incident!.id,
    'the password of the SMTP server had expired',
  );
  await server.db.sql(
    `update incidents set began_at = began_at - interval '40 minutes', seen_at = seen_at - interval '20 minutes' where id = $1`,
    [incident!.id],
  );
  const read = await buildAccount(database, { name: 'Loja Lida' });
  const limited = await buildCaller(database, 'test', { id: read });
  await changeApplication(database, TEST_ACTOR, limited.applicationId, {
    perMinute: 60,
    perRecipientHour: 5,
  });
  const first = async (where: string): Promise<string> =>
    String((await server.db.sql(`select id from sends where ${where} order by id desc limit 1`))[0]?.['id']);
  Object.assign(ids, {
    ACCOUNT: account,
    EMPTY: empty,
    READ: read,
    LIMITED: limited.applicationId,
    APPLICATION: live.applicationId,
    TRIED: test.applicationId,
    SENDER: blocked.id,
    OWNED: own.id,
    SEND: await first(`status = 'read' and verification = 'verified' and mode = 'live'`),
    FAILED: await first(`status = 'failed'`),
    DIGITS: String(
      (await server.db.sql('select right(recipient, 4) as digits from sends limit 1'))[0]?.['digits'],
    ),
  });
  await server.db.sql(
    `insert into message_costs
     select (now() at time zone 'UTC')::date - n * 20, country, 'authentication', 'regular', country <> 'US', 'PMP', 1813 * n, 10 * n, 1800 * n
     from generate_series(1, 3) n, unnest(array['BR', 'PT', 'US', 'ZZ']) country`,
  );
  await server.db.sql(
    `insert into message_costs select day, country, category, type, billable, pricing_model, 12 * messages / 1813, 0, 12 * messages / 1813, $1
     from message_costs where country in ('BR', 'PT')`,
    [account],
  );
  // One sender's messages no longer arrive.
  await server.db.sql(
    `insert into delivery_hours
     select date_bin('1 hour', now(), 'epoch') - make_interval(hours => n * 3), 'BR', id, 200, case when id = $1 and n < 8 then 45 else 3 end
     from senders, generate_series(1, 60) n where id = any($2)`,
    [own.id, [own.id, blocked.id]],
  );
  for (const country of ['BR', 'PT'])
    await setMessagePrice(database, TEST_ACTOR, {
      country,
      since: '2020-01',
      price: 0.0068,
      currency: 'USD',
    });
  await server.db.sql('update sends set request_id = gen_random_uuid()');
  people = {
    member: await person(server, { accounts: { [account]: 'admin', [empty]: 'admin', [read]: 'viewer' } }),
    newcomer: await person(server),
    operator: await person(server, { staff: 'operator' }),
    onCall: await person(server, { staff: 'on_call' }),
    withCode: (await withTwoFactor(server, { staff: 'operator' })).who,
    withPassword: await person(server, { staff: 'operator' }),
  };
  ids['USER'] = people.member.id;
  for (const who of [people.withCode, people.withPassword]) await letConfirmationPass(server, who);
  for (const name of ['Chrome on macOS', 'Security key']) await givePasskey(server, people.member, name);
}, 60_000);

interface Window {
  page: Page;
  /** Page errors, console errors and foreign requests since the last check. */
  faults: string[];
  /** Whether the console runs in it in the right state for the next visit. */
  isReady: boolean;
}

/** One window per person and theme, reused for every page. */
const windows = new Map<string, Window>();

async function windowFor({ as }: Visit, theme: Theme): Promise<Window> {
  if (as !== 'anonymous') {
    await server.db.sql('update users set language = $1 where id = $2', [theme.language, people[as].id]);
    // Independent of how long the earlier pages took. The confirmations of two users have expired permanently.
    if (as !== 'withCode' && as !== 'withPassword') await letConfirmationPass(server, people[as], 0);
  }
  const name = `${as} ${theme.name}`;
  const known = windows.get(name);
  if (known !== undefined) return known;
  const opened = await open(as, theme);
  windows.set(name, opened);
  return opened;
}

async function open(as: Visit['as'], theme: Theme): Promise<Window> {
  const options = {
    viewport: { width: theme.width, height: theme.height },
    colorScheme: theme.colorScheme,
    locale: theme.language,
    reducedMotion: 'reduce',
    timezoneId: 'America/Sao_Paulo',
  } as const;
  const page =
    as === 'anonymous'
      ? await browser.newPage({ ...options, baseURL: server.url })
      : (await windowOf(browser, server, people[as], options)).page;
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(`error: ${error.message}`));
  page.on('console', (message) => {
    // Expected: a page gets 401 without a session, and 403 if it has to ask for a confirmation.
    if (['error', 'warning'].includes(message.type()) && !/status of 40[134]/.test(message.text()))
      faults.push(`${message.type()}: ${message.text()}`);
  });
  page.on('request', (request) => {
    if (!request.url().startsWith(server.url) && !request.url().startsWith('data:'))
      faults.push(`asks ${request.url()}`);
  });
  page.setDefaultTimeout(15_000);
  return { page, faults, isReady: false };
}

/** Goes to a path within the console, as its links do: a start of the console for each page would take most of the time. */
async function follow(page: Page, path: string): Promise<void> {
  const push = (to: string): Promise<unknown> =>
    page.evaluate(
      `history.pushState(null, '', ${JSON.stringify(to)}); dispatchEvent(new PopStateEvent('popstate'))`,
    );
  // Through a page that looks like no other page, so that the next page is remounted and its appearance can be detected.
  const unknownPage = page.locator('main .tabler-icon-map-off');
  await push(UNKNOWN);
  await unknownPage.waitFor();
  await push(path);
  await unknownPage.waitFor({ state: 'detached' });
}

const ENABLE = `for (const field of document.querySelectorAll('input:disabled, textarea:disabled')) {
  field.dataset.disabled = 'true';
  field.disabled = false;
}`;

/**
 * Returns the accessibility violations that axe finds. The debugger injects axe past the content security policy. axe ignores disabled
 * fields, but users who cannot change a field still read it: disabled fields are enabled for the check, and keep their look.
 */
async function violationsOf(page: Page): Promise<string[]> {
  if ((await page.evaluate('typeof axe')) === 'undefined') await page.evaluate(AXE);
  await page.evaluate(ENABLE);
  const violations = await page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: { run(options: RunOptions): Promise<AxeResults> } };
    // Only the violations in full: the rest is most of the work.
    const results = await axe.run({ resultTypes: ['violations'] });
    return results.violations;
  });
  return violations.flatMap(({ id, nodes }) =>
    nodes.map((node) => `${id}: ${node.html.slice(0, 160)} ${node.failureSummary ?? ''}`),
  );
}

/** Opens a page, does what the visit says, and checks accessibility, layout and network requests. */
async function inspect({ act, ...visit }: Visit, theme: Theme): Promise<void> {
  const window = await windowFor(visit, theme);
  const { page, faults } = window;
  const path = visit.path.replaceAll(/[A-Z]{4,}/g, (name) => ids[name] ?? name);
  faults.length = 0;
  if (window.isReady && !visit.isRequired && path !== UNKNOWN) await follow(page, path);
  else {
    // A change of the fragment alone would not reload the page.
    await page.goto('about:blank');
    await page.goto(path);
  }
  window.isReady = visit.as !== 'anonymous' && !visit.isRequired;
  await untilIdle(page);
  await act?.(page);
  await page.screenshot({
    path: `${PICTURES}/${theme.name}/${visit.name}.png`,
    fullPage: !visit.name.startsWith('dialog'),
  });

  expect(await page.locator('h1').count()).toBe(1);
  expect(await page.evaluate('document.documentElement.lang')).toBe(theme.language);
  const over = await page.evaluate(
    'document.documentElement.scrollWidth - document.documentElement.clientWidth',
  );
  expect(over).toBe(0);
  expect(await violationsOf(page)).toEqual([]);
  expect(faults).toEqual([]);
}

describeInBrowser.each(THEMES)('every page, $name', (theme) => {
  beforeAll(async () => {
    mkdirSync(`${PICTURES}/${theme.name}`, { recursive: true });
    // All themes together need more tries in a minute than one person may make.
    await server.db.sql('delete from counted_tries');
  });

  it.each(shownIn(theme))(
    '$name is accessible, fits its viewport, and loads from its own server only',
    async (visit) => {
      const setTwoFactor = (to: 'required' | 'optional'): Promise<unknown> =>
        server.db.sql('update settings set staff_two_factor = $1', [to]);
      if (visit.isRequired) await setTwoFactor('required');
      try {
        await inspect(visit, theme);
      } finally {
        if (visit.isRequired) await setTwoFactor('optional');
      }
    },
  );
});
