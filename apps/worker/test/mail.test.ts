import type { Finding } from '@onecode/domain';
import { createLog } from '@onecode/runtime';
import {
  cancelDeletion,
  createApiKey,
  createApplication,
  createOwnAccount,
  revokeApiKey,
  scheduleDeletion,
  tripBreaker,
} from '@onecode/store/accounts';
import type { Database } from '@onecode/store/client';
import {
  muteMails,
  noteMailSender,
  postponeEntry,
  queueFindingAlerts,
  queueKeyExpiryAlerts,
  queueLowBalanceAlerts,
  readMailStatistics,
  setBalanceAlert,
  takeDueMails,
  removeEventWebhook,
  rotateEventSecret,
  setEventWebhook,
} from '@onecode/store/mails';
import { acknowledgeIncident, listIncidents, recordIncidents } from '@onecode/store/operations';
import {
  acceptInvitation,
  createUser,
  inviteMember,
  logOwnSecurityChange,
  type MemberRole,
  requestPasswordReset,
  requestSignUp,
  setPassword,
  type StaffRole,
  createVisitKey,
} from '@onecode/store/users';
import {
  buildAccount,
  buildCaller,
  buildSender,
  linkOf,
  Mailbox,
  TEST_ACTOR,
  TEST_SECRET_KEY,
  until,
} from '@onecode/testing';
import { openMailer, type Mailer } from '../src/mail/mailer.js';
import { mailText } from '../src/mail/mailText.js';
import { createMailRun } from '../src/mail/sendMails.js';
import { WorkerEnvironment } from './workerEnvironment.js';
import { PROCESSES_MS_MAX, startWorkerProcess } from './workerProcess.js';

const FROM = 'Onecode <codes@onecode.example>';
const CONSOLE_URL = 'https://console.example.test';
const subjectsTo = ({ email }: TestUser): string[] =>
  mailbox
    .to(email)
    .map(({ subject }) => subject)
    .toSorted();

let environment: WorkerEnvironment;
let database: Database;
let mailbox: Mailbox;
let mailer: Mailer;
let run: () => Promise<void>;
let people = 0;

beforeAll(async () => {
  environment = await WorkerEnvironment.open();
  ({ database } = environment.db);
  mailbox = await Mailbox.start();
  mailer = (await openMailer({ SMTP_URL: mailbox.url, MAIL_FROM: FROM }))!;
  run = createMailRun({
    database,
    secretKey: TEST_SECRET_KEY,
    log: createLog('worker', 'silent'),
    releaseClaims: new AbortController().signal,
    mailer,
    consoleUrl: CONSOLE_URL,
  });
  await run();
});
afterAll(async () => {
  mailer.close();
  await mailbox.close();
  await environment.close();
});
beforeEach(async () => {
  mailbox.fault = () => null;
  mailbox.onMail = () => Promise.resolve();
  mailbox.mails.length = 0;
  await sql('delete from outbox');
  await sql('delete from counted_tries');
  await sql('delete from incidents');
  await sql('delete from user_verifications');
  await sql('update users set staff = null');
});

interface TestUser {
  id: string;
  email: string;
}

/** Creates a user with a role, without queueing a mail. */
async function user(
  role: { accountId: string; role: MemberRole } | { staff: StaffRole } | null,
  language: 'en' | 'pt-BR' | null = 'en',
): Promise<TestUser> {
  people += 1;
  const made = await createUser(database, TEST_ACTOR, {
    name: `Ana ${people}`,
    email: `ana${people}@example.com`,
    language,
    staff: role !== null && 'staff' in role ? role.staff : null,
    password: 'correct horse battery',
    membership: role !== null && 'accountId' in role ? role : null,
  });
  if (made.kind !== 'created') throw new Error(made.kind);
  await sql('delete from outbox');
  return made.user;
}

/** Queues mails that are not urgent, each a second older than the next. */
const writeInvitations = (count: number): Promise<unknown> =>
  sql(
    `insert into outbox (id, event, recipient, language, kind, facts, due_at, gives_up_at)
     select gen_random_uuid(), 'invitation ' || n, 'friend' || n || '@example.com', 'en', 'invitation',
       '{"account":"Loja","role":"viewer","by":"ana@example.com"}', clock_timestamp() - interval '1 hour', clock_timestamp() + interval '1 day'
     from generate_series(1, $1::integer) n`,
    [count],
  );

/** Creates a key, which queues a mail to the account's admins. */
async function createKey(accountId: string): Promise<void> {
  const application = { accountId, name: 'Loja', mode: 'test' } as const;
  const { id } = (await createApplication(database, TEST_ACTOR, application))!;
  await createApiKey(database, TEST_ACTOR, id);
}

const link = { language: 'en', network: '198.18.0.1', page: `${CONSOLE_URL}/x` } as const;
/** Runs plain SQL on the database of this file. */
const sql: WorkerEnvironment['db']['sql'] = (text, values) => environment.db.sql(text, values);
/** Ends the wait for the next try, and the leases of dead workers. */
const letTimePass = (): Promise<unknown> =>
  sql(`update outbox set due_at = clock_timestamp() - interval '1 second' where due_at is not null`);
const waiting = async (): Promise<number> => (await readMailStatistics(database)).waiting;

describe('mails', () => {
  it(
    'are each sent once, although the server fails twice and a worker is killed while sending',
    async () => {
      const admins: (TestUser & { accountId: string })[] = [];
      while (admins.length < 12) {
        const accountId = await buildAccount(database, { name: 'Loja Azul' });
        admins.push({ ...(await user({ accountId, role: 'admin' })), accountId });
      }
      mailbox.fault = (nth) => (nth === 2 ? 451 : nth === 5 ? 'hang up' : null);
      const env = { SMTP_URL: mailbox.url, MAIL_FROM: FROM, CONSOLE_URL };
      const workers = await Promise.all([
        startWorkerProcess(environment, env),
        startWorkerProcess(environment, env),
      ]);
      let killed = false;
      mailbox.onMail = async () => {
        if (killed || mailbox.mails.length < 3) return;
        killed = true;
        // The server has accepted the mail, but its reply never arrives.
        workers[0].signal('SIGKILL');
        await workers[0].exited;
      };
      for (const { accountId } of admins) await createKey(accountId);
      await until('mails to all', async () => {
        await letTimePass();
        return (await waiting()) === 0 && killed;
      });
      for (const { email } of admins) {
        const ids = new Set(mailbox.to(email).map(({ messageId }) => messageId));
        expect([email, ids.size]).toEqual([email, 1]);
      }
      const rows = await sql('select facts, encrypted_link, outcome, error from outbox');
      expect(rows).toHaveLength(12);
      for (const row of rows)
        expect(row).toEqual({ facts: {}, encrypted_link: null, outcome: 'sent', error: null });
      const output = workers.map((worker) => worker.output()).join('');
      expect(output).not.toMatch(/example\.com|Loja|secret/);
      await workers[1].stop();
    },
    PROCESSES_MS_MAX,
  );

  it('that the server refuses are retried, shown on Health, and given up after a day', async () => {
    await user({ staff: 'operator' });
    const { email } = await user(null);
    mailbox.fault = () => 550;
    await requestPasswordReset(database, TEST_SECRET_KEY, { ...link, email });
    for (const tries of [1, 2]) {
      await letTimePass();
      await run();
      const mails = await sql('select error, tries from outbox where due_at > clock_timestamp()');
      expect(mails).toEqual([{ error: 'EMESSAGE 550', tries }]);
    }
    for (const [left, wanted] of [
      ['10 minutes', 60],
      ['59 seconds', 0],
    ] as const) {
      await sql(`update outbox set tries = 20, gives_up_at = clock_timestamp() + $1::interval`, [left]);
      await letTimePass();
      await run();
      const [last] = await sql(
        'select extract(epoch from gives_up_at - due_at)::float8 as early from outbox',
      );
      expect(last).toEqual({ early: wanted });
    }
    await sql(
      `update outbox set gives_up_at = clock_timestamp() - interval '1 second', created_at = created_at - interval '1 hour'`,
    );
    expect(await readMailStatistics(database)).toMatchObject({
      waiting: 1,
      givenUp: 0,
      error: 'EMESSAGE 550',
    });
    await letTimePass();
    await run();
    expect(await readMailStatistics(database)).toMatchObject({ waiting: 0, givenUp: 1 });
    expect(await sql('select outcome, encrypted_link from outbox')).toEqual([
      { outcome: 'given_up', encrypted_link: null },
    ]);
  });

  it('are not changed by a worker with an expired lease after another worker has claimed them', async () => {
    const accountId = await buildAccount(database);
    await user({ accountId, role: 'admin' });
    await createKey(accountId);
    const dueAt = async () => sql('select due_at, error from outbox');
    const take = () => until('a mail that is due', async () => (await takeDueMails(database, 1))[0]);
    const first = await take();
    await letTimePass();
    const second = await take();
    const leased = await dueAt();
    await postponeEntry(database, first, 'ETIMEDOUT');
    expect(await dueAt()).toEqual(leased);
    await postponeEntry(database, second, 'EAUTH');
    expect(await dueAt()).toMatchObject([{ error: 'EAUTH' }]);
  });

  it('are not queued while no worker sends mail', async () => {
    const { accountId, keyId } = await buildCaller(database, 'test');
    const { email } = await user({ accountId, role: 'admin' });
    await noteMailSender(database, null);
    try {
      expect(await requestPasswordReset(database, TEST_SECRET_KEY, { ...link, email })).toBe('not_sent');
      await revokeApiKey(database, TEST_ACTOR, keyId);
      expect(await sql('select from outbox')).toEqual([]);
      expect(await sql(`select from user_verifications where identifier like 'password-reset%'`)).toEqual([]);
    } finally {
      await noteMailSender(database, FROM);
    }
  });

  it('are not sent about the temporary key of the "Try it" page', async () => {
    const { accountId, applicationId } = await buildCaller(database, 'test');
    const { id: userId, email } = await user({ accountId, role: 'admin' });
    await createVisitKey(database, TEST_ACTOR, TEST_SECRET_KEY, { userId, applicationId });
    await createApiKey(database, TEST_ACTOR, applicationId);
    expect(await sql('select kind, recipient from outbox')).toEqual([{ kind: 'key_made', recipient: email }]);
  });

  it('are in the language of each recipient, as text and HTML, and contain no name as a link', async () => {
    const accountId = await buildAccount(database, { name: '<b>evil.example</b> http://evil.example' });
    const english = await user({ accountId, role: 'admin' });
    const portuguese = await user({ accountId, role: 'admin' }, 'pt-BR');
    // The account's language is Portuguese.
    const unset = await user({ accountId, role: 'admin' }, null);
    await createKey(accountId);
    await run();
    const [en, pt, own] = [english, portuguese, unset].map(({ email }) => mailbox.to(email)[0]!);
    expect(en!.subject).toBe('New API key for Loja');
    for (const mail of [pt!, own!]) expect(mail.subject).toBe('Nova chave de API para Loja');
    expect(linkOf(en!)).toBe(`${CONSOLE_URL}/accounts/${accountId}/applications`);
    expect(en!.from).toBe('codes@onecode.example');
    expect(en!.messageId).toMatch(/^<[0-9a-f-]{36}@onecode\.example>$/);
    for (const { html, text } of [en!, pt!]) {
      expect(html).toContain('<html lang=');
      expect(html).not.toContain('<b>');
      expect(html + text).not.toMatch(/evil\.example|:\/\/evil/);
    }
  });

  it('about a user’s own sign-in are in the language of their account if they have chosen none', async () => {
    const accountId = await buildAccount(database, { name: 'Loja' });
    const { email } = await user({ accountId, role: 'viewer' }, null);
    const alone = await user(null, null);
    for (const to of [email, alone.email])
      await setPassword(database, TEST_ACTOR, to, 'another horse battery');
    await run();
    // The account's language is Portuguese.
    expect(mailbox.to(email)[0]!.html).toContain('<html lang="pt-BR"');
    expect(mailbox.to(alone.email)[0]!.html).toContain('<html lang="en"');
  });

  it('report to all admins which admin set the webhook, replaced its secret or removed it', async () => {
    const accountId = await buildAccount(database, { name: 'Padaria' });
    const { email } = await user({ accountId, role: 'admin' });
    const other = await user({ accountId, role: 'admin' }, 'pt-BR');
    const ana = { kind: 'user', id: other.id, name: 'Ana' } as const;
    const url = 'https://ops.example.com/events?secret=1';
    await setEventWebhook(database, ana, TEST_SECRET_KEY, accountId, url);
    await rotateEventSecret(database, ana, TEST_SECRET_KEY, accountId);
    await removeEventWebhook(database, ana, accountId);
    await run();
    // Names must not become links, so the host contains word joiners.
    const sentences = mailbox
      .to(email)
      .map(({ text }) => /^Ana .*$/m.exec(text.replaceAll('\u2060', ''))?.[0].trim());
    expect(new Set(sentences)).toEqual(
      new Set([
        'Ana removed the webhook of Padaria.',
        'Ana replaced the webhook secret of Padaria.',
        'Ana set the webhook of Padaria: its events are now sent to ops.example.com.',
      ]),
    );
    expect(mailbox.to(other.email)).toHaveLength(3);
  });

  it('that are urgent are sent before 400 invitations, in every worker', async () => {
    const { id, email } = await user(null);
    const accountId = await buildAccount(database);
    const admin = await user({ accountId, role: 'admin' });
    await writeInvitations(400);
    await setBalanceAlert(database, TEST_ACTOR, accountId, 1_000_000);
    await queueLowBalanceAlerts(database);
    const notice = { kind: 'user', id, name: email } as const;
    await logOwnSecurityChange(database, notice, 'user.two_factor_turned_on');
    await createKey(accountId);
    await requestPasswordReset(database, TEST_SECRET_KEY, { ...link, email });
    const first = await takeDueMails(database, 4);
    expect(first.map(({ kind }) => kind).toSorted()).toEqual([
      'invitation',
      'key_made',
      'password_reset',
      'two_factor_on',
    ]);
    await letTimePass();
    const taken: string[] = [];
    for (let n = 0; n < 3; n += 1) taken.push((await takeDueMails(database, 1))[0]!.kind);
    expect(taken).toEqual(['password_reset', 'two_factor_on', 'key_made']);
    await letTimePass();
    await run();
    const subjects = mailbox.mails.map(({ subject }) => subject);
    // Two mails are sent at a time.
    expect(subjects.slice(0, 2).toSorted()).toEqual([
      'Set a new password',
      'Two-factor authentication is on',
    ]);
    expect(subjects.slice(0, 4)).toContain('New API key for Loja');
    expect(mailbox.to(admin.email)).toHaveLength(2);
    expect(subjects).toHaveLength(404);
  });

  it(
    'that are urgent are sent while the server hangs on other mails',
    async () => {
      const { email } = await user(null);
      await writeInvitations(400);
      let release = (): void => {};
      const released = new Promise<void>((resolve) => (release = resolve));
      mailbox.onMail = async () => {
        if (mailbox.mails.at(-1)!.to !== email) await released;
      };
      const worker = await startWorkerProcess(environment, {
        SMTP_URL: mailbox.url,
        MAIL_FROM: FROM,
        CONSOLE_URL,
      });
      try {
        await until('mails that the server does not take', () => mailbox.mails.length === 2);
        for (const nth of [1, 2]) {
          await requestPasswordReset(database, TEST_SECRET_KEY, { ...link, email });
          await until('the reset', () => mailbox.to(email).length === nth);
        }
        expect(mailbox.mails).toHaveLength(4);
      } finally {
        await sql('delete from outbox');
        release();
        await worker.stop();
      }
    },
    PROCESSES_MS_MAX,
  );

  it('to an unknown address are dropped, and a sign-up with a known address is reported to the user of the address', async () => {
    const { email } = await user(null, 'pt-BR');
    await requestPasswordReset(database, TEST_SECRET_KEY, { ...link, email: 'unknown@example.com' });
    const pending = { name: 'Eva', email, language: 'en', passwordHash: 'x' } as const;
    await requestSignUp(database, TEST_SECRET_KEY, { ...link, email }, pending);
    await run();
    expect(mailbox.to('unknown@example.com')).toEqual([]);
    expect(await sql(`select from outbox where recipient = 'unknown@example.com'`)).toEqual([]);
    const [mail] = mailbox.to(email);
    expect(mail!.subject).toBe('Você já tem cadastro');
    expect(linkOf(mail!)).toBe(`${CONSOLE_URL}/sign-in`);
  });

  it('of an invitation contain the same link that the inviter sees', async () => {
    const accountId = await buildAccount(database, { name: 'Padaria' });
    const made = await inviteBy(await user({ accountId, role: 'admin' }), accountId, 'new@example.com');
    await run();
    const [mail] = mailbox.to('new@example.com');
    expect(mail!.subject).toBe('Entre na equipe de Padaria no Onecode');
    expect(made).toMatchObject({ token: new URL(linkOf(mail!)).hash.slice(1) });
  });
});

/** Creates a trial account with its admin. */
async function trialAccount(name: string): Promise<{ accountId: string; admin: TestUser }> {
  const admin = await user(null);
  const made = await createOwnAccount(
    database,
    { kind: 'user', id: admin.id, name: admin.email },
    { name, language: 'en', countries: ['BR'], names: { application: name, key: name } },
  );
  if (made.kind !== 'member') throw new Error(made.kind);
  return { accountId: made.accountId, admin };
}

/** Names that an attacker could choose to put a link or a header into a mail. */
const CHOSEN = [
  'You won: http://evil.example/prize',
  'evil.example',
  '<a href="http://evil.example">Open</a>',
  'Loja\r\nBcc: victim@example.com',
  'Loja\u202e\u2028 x',
];

const inviteBy = ({ id, email }: TestUser, accountId: string, to: string) =>
  inviteMember(
    database,
    { kind: 'user', id, name: email },
    { accountId, email: to, role: 'viewer', network: '198.18.0.0/24' },
    { keyring: TEST_SECRET_KEY, page: `${CONSOLE_URL}/invitation` },
  );

describe('an invitation', () => {
  it.each(CHOSEN)(
    'of a trial account has the name of its inviter and not of the account: %j',
    async (name) => {
      // The console refuses line breaks and control characters, so the name is written directly.
      const { accountId, admin } = await trialAccount('Loja');
      await sql('update accounts set name = $2 where id = $1', [accountId, name]);
      await sql('delete from outbox');
      await inviteBy(admin, accountId, 'stranger@example.com');
      await run();
      const [mail, ...others] = mailbox.mails;
      expect(others).toEqual([]);
      expect(mail).toMatchObject({ to: 'stranger@example.com', subject: 'You are invited to Onecode' });
      const inviter = admin.email.replace('@', '@\u2060').replace('.com', '.\u2060com');
      expect(mail!.text).toContain(`${inviter} invites you to an account as viewer.`);
      for (const text of [mail!.text, mail!.html]) expect(text).not.toMatch(/evil|prize|Loja|victim/);
    },
  );

  it.each(CHOSEN)('of a customer has the account’s name in one line and not as a link: %j', async (name) => {
    const accountId = await buildAccount(database, { name: name });
    const admin = await user({ accountId, role: 'admin' });
    await inviteBy(admin, accountId, 'new@example.com');
    await run();
    const [mail, ...others] = mailbox.mails;
    expect(others).toEqual([]);
    expect(mail!.to).toBe('new@example.com');
    expect(mail!.subject).toMatch(/^Entre na equipe de .+ no Onecode$/);
    expect(mail!.html).not.toMatch(/<a href="http:\/\/evil|[\u202e\u2028]/);
    expect(mail!.subject + mail!.html + mail!.text).not.toMatch(/evil\.example|:\/\/evil|victim@example/);
  });
});

it.each([
  [
    'en',
    [
      'API key of your account revoked',
      'An API key of your account expires in 2 days',
      'Low balance: your account has 10 units left',
      'New API key for your account',
      'New member of your account',
      'Webhook of your account changed',
    ],
  ],
  [
    'pt-BR',
    [
      'Chave de API de sua conta revogada',
      'Nova chave de API para sua conta',
      'Novo membro em sua conta',
      'Saldo baixo: sua conta só tem 10 unidades',
      'Uma chave de API de sua conta expira em 2 dias',
      'Webhook de sua conta alterado',
    ],
  ],
] as const)(
  'mails to members of a trial account have no user-chosen name in the subject: %s',
  async (language, wanted) => {
    const { accountId, admin } = await trialAccount('You won a prize');
    const member = await user(null);
    await sql('update users set language = $2 where id = $1', [admin.id, language]);
    await sql('delete from outbox');
    const actor = { kind: 'user', id: member.id, name: member.email } as const;
    const invited = await inviteBy(admin, accountId, member.email);
    if (invited.kind !== 'invited') throw new Error(invited.kind);
    await acceptInvitation(database, actor, member, invited.token);
    const application = { accountId, name: 'You won a prize', mode: 'test' } as const;
    const { id: applicationId } = (await createApplication(database, TEST_ACTOR, application))!;
    const { id: keyId } = (await createApiKey(database, TEST_ACTOR, applicationId))!;
    await revokeApiKey(database, TEST_ACTOR, keyId);
    await sql(
      `update api_keys set revoked_at = null, created_at = now() - interval '9 days', expires_at = now() + interval '2 days'
       where id = $1`,
      [keyId],
    );
    await queueKeyExpiryAlerts(database);
    await setBalanceAlert(database, TEST_ACTOR, accountId, 1_000_000);
    await queueLowBalanceAlerts(database);
    await setEventWebhook(database, TEST_ACTOR, TEST_SECRET_KEY, accountId, 'https://hooks.example.com/');
    await run();
    expect(
      mailbox
        .to(admin.email)
        .map(({ subject }) => subject)
        .toSorted(),
    ).toEqual(wanted);
  },
);

describe('a key that expires', () => {
  const DAY_MS = 86_400_000;
  /** Creates a key that was made a number of days before now and expires after a number of days. */
  async function buildKey(applicationId: string, madeDaysAgo: number, inDays: number): Promise<string> {
    const expiresAt = new Date(Date.now() + inDays * DAY_MS);
    const { id } = (await createApiKey(database, TEST_ACTOR, applicationId, { expiresAt }))!;
    await sql(`update api_keys set created_at = created_at - make_interval(days => $2) where id = $1`, [
      id,
      madeDaysAgo,
    ]);
    return id;
  }
  /** Queues the mails as eight workers do. */
  async function queueAlerts(): Promise<void> {
    await sql(`delete from outbox where kind = 'key_made'`);
    await Promise.all(Array.from({ length: 8 }, () => queueKeyExpiryAlerts(database)));
    await run();
  }
  /** Moves the end of the keys, and their creation, by days. */
  const advanceDays = (days: number): Promise<unknown> =>
    sql(
      `update api_keys set created_at = created_at - make_interval(days => $1), expires_at = expires_at - make_interval(days => $1)
       where expires_at is not null`,
      [days],
    );

  it('is reported to the subscribed admins 14 and 3 days before, once each, by any number of workers', async () => {
    const { accountId, applicationId } = await buildCaller(database, 'live', { name: 'Loja' });
    const admin = await user({ accountId, role: 'admin' });
    const portuguese = await user({ accountId, role: 'admin' }, 'pt-BR');
    const unsubscribed = await user({ accountId, role: 'admin' });
    const developer = await user({ accountId, role: 'developer' });
    await muteMails(database, { ...TEST_ACTOR, id: unsubscribed.id }, ['key_expires']);
    await sql(`update applications set name = 'Shop' where id = $1`, [applicationId]);
    await buildKey(applicationId, 1, 15.5);
    const subjects = ({ email }: TestUser): string[] => mailbox.to(email).map(({ subject }) => subject);
    await queueAlerts();
    expect(subjects(admin)).toEqual([]);

    await advanceDays(2);
    await queueAlerts();
    await queueAlerts();
    expect(subjects(admin)).toEqual(['An API key of Shop expires in 14 days']);
    expect(subjectsTo(portuguese)).toEqual(['Uma chave de API de Shop expira em 14 dias']);
    expect(mailbox.to(admin.email)[0]!.text).toMatch(
      /The key ak_live_.* of the application Shop of Loja expires on .* UTC\./,
    );
    expect(linkOf(mailbox.to(admin.email)[0]!)).toBe(`${CONSOLE_URL}/accounts/${accountId}/applications`);

    // Old mails are deleted before the second notice is due.
    await sql('delete from outbox');
    await advanceDays(7);
    await queueAlerts();
    expect(subjects(admin)).toHaveLength(1);
    await advanceDays(4);
    await queueAlerts();
    await queueAlerts();
    expect(subjects(admin)[1]).toBe('An API key of Shop expires in 3 days');
    await advanceDays(3);
    await sql('delete from outbox');
    await queueAlerts();
    expect(subjects(admin)).toHaveLength(2);
    expect(subjects(unsubscribed)).toEqual([]);
    expect(subjects(developer)).toEqual([]);
  });

  it('is not reported if it was created after the notice was due, is revoked, or belongs to a visit', async () => {
    const { accountId, applicationId } = await buildCaller(database, 'live');
    const { id: userId, email } = await user({ accountId, role: 'admin' });
    await buildKey(applicationId, 0, 14);
    await buildKey(applicationId, 0, 2);
    const revoked = await buildKey(applicationId, 1, 13.5);
    await revokeApiKey(database, TEST_ACTOR, revoked);
    await createVisitKey(database, TEST_ACTOR, TEST_SECRET_KEY, { userId, applicationId });
    await sql('delete from outbox');
    await queueAlerts();
    expect(mailbox.to(email)).toEqual([]);
  });
});

describe('a low balance', () => {
  const setBalance = (accountId: string, credits: number): Promise<unknown> =>
    sql('update accounts set credits = $2 where id = $1', [accountId, credits]);

  it('is reported once for each crossing, by any number of workers, and again only after the balance has risen well above its alert', async () => {
    const accountId = await buildAccount(database, { freeQuota: 0, credits: 200, name: 'Loja' });
    const { email } = await user({ accountId, role: 'admin' });
    await setBalanceAlert(database, TEST_ACTOR, accountId, 100);
    const rich = await buildAccount(database, { freeQuota: 1, credits: 2_147_483_647 });
    await setBalanceAlert(database, TEST_ACTOR, rich, 100);
    const queueAlerts = async (): Promise<number> => {
      await Promise.all(Array.from({ length: 8 }, () => queueLowBalanceAlerts(database)));
      await run();
      return mailbox.to(email).length;
    };
    expect(await queueAlerts()).toBe(0);
    await setBalance(accountId, 99);
    expect(await queueAlerts()).toBe(1);
    expect(mailbox.to(email)[0]).toMatchObject({ subject: 'Low balance: Loja has 99 units left' });
    // Units of failed sends are refunded, and used again.
    await setBalance(accountId, 104);
    expect(await queueAlerts()).toBe(1);
    await setBalance(accountId, 98);
    expect(await queueAlerts()).toBe(1);
    await setBalance(accountId, 110);
    expect(await queueAlerts()).toBe(1);
    await setBalance(accountId, 50);
    expect(await queueAlerts()).toBe(2);
  });

  it('of an account with a failing mail does not block other accounts', async () => {
    const { database } = environment.db;
    const [refused, other] = [await buildAccount(database), await buildAccount(database)];
    const { email } = await user({ accountId: other, role: 'admin' });
    for (const id of [refused, other]) await setBalanceAlert(database, TEST_ACTOR, id, 1_000);
    await sql(
      `alter table accounts add constraint refuse check (id <> '${refused}' or low_balance_at is null)`,
    );
    await expect(queueLowBalanceAlerts(database)).rejects.toThrow();
    await sql('alter table accounts drop constraint refuse');
    await run();
    expect(mailbox.to(email)).toHaveLength(1);
  });

  it('is reported with the number of days that it lasts at the rate of the last day', async () => {
    const { accountId } = await buildCaller(database, 'live', { freeQuota: 0, credits: 1_000, name: 'Loja' });
    const { email } = await user({ accountId, role: 'admin' });
    await setBalanceAlert(database, TEST_ACTOR, accountId, 5_000);
    const facts = { left: 900, below: 5_000, perDay: 290, account: 'Loja', accountId };
    await queueLowBalanceAlerts(database);
    await sql('update outbox set facts = $1', [facts]);
    await run();
    expect(mailbox.to(email)[0]!.text).toContain('(290 live sends), the balance will be used up in 3 days.');
  });
});

it('a tripped breaker is reported once to the subscribed admins', async () => {
  const accountId = await buildAccount(database, { name: 'Loja' });
  await sql('update accounts set breaker_unverified_percent = 50, breaker_min_sends = 10 where id = $1', [
    accountId,
  ]);
  const [wants, mutes] = [await user({ accountId, role: 'admin' }), await user({ accountId, role: 'admin' })];
  await user({ accountId, role: 'viewer' });
  await muteMails(database, { ...TEST_ACTOR, id: mutes.id }, ['breaker_tripped']);
  const counts = { country: 'BR', sends: 1_200, unverified: 1_100, denying: 0 };
  const rule = { unverifiedPercent: 50, minSends: 10 };
  const evidence = { accountId, ...counts, rule, lastOpenUntil: null };
  const trips = await Promise.all(Array.from({ length: 4 }, () => tripBreaker(database, evidence, 3_600)));
  expect(trips.filter(Boolean)).toHaveLength(1);
  await run();
  expect(mailbox.mails.map(({ to, subject }) => [to, subject])).toEqual([
    [wants.email, 'Loja: sends to Brazil are blocked'],
  ]);
  expect(mailbox.mails[0]!.text).toContain('1,100 were not verified');
});

it('the deletion of an account is mailed to all its admins when it is scheduled and when it is cancelled', async () => {
  const accountId = await buildAccount(database, { name: 'Padaria' });
  const admins = [
    await user({ accountId, role: 'admin' }),
    await user({ accountId, role: 'admin' }, 'pt-BR'),
  ] as const;
  const viewer = await user({ accountId, role: 'viewer' });
  const actor = { kind: 'user', id: admins[0].id, name: admins[0].email } as const;
  const at = await scheduleDeletion(database, actor, accountId);
  await cancelDeletion(database, actor, accountId);
  await run();
  expect(subjectsTo(admins[0])).toEqual(['Padaria will be deleted', 'Padaria will not be deleted']);
  expect(subjectsTo(admins[1])).toEqual(['Padaria não vai mais ser excluída', 'Padaria vai ser excluída']);
  expect(subjectsTo(viewer)).toEqual([]);
  const scheduled = mailbox.to(admins[0].email).find(({ subject }) => subject === 'Padaria will be deleted')!;
  expect(scheduled.text).toContain(at!.toLocaleString('en', { dateStyle: 'medium', timeZone: 'UTC' }));
  expect(linkOf(scheduled)).toBe(`${CONSOLE_URL}/accounts/${accountId}/team`);
});

it('an incident that has been failing for five minutes is mailed to staff once, with its first start, unless it has ended', async () => {
  const { email } = await user({ staff: 'on_call' });
  const findings = [
    { name: 'no_workers', cause: 'none', owner: 'us', severity: 'failing' },
    { name: 'paused_by_operator', cause: 'hold', owner: 'held', severity: 'degraded' },
  ] as const;
  const queueAlerts = async (): Promise<string[]> => {
    await recordIncidents(database, findings);
    await Promise.all([queueFindingAlerts(database), queueFindingAlerts(database)]);
    await run();
    return mailbox.to(email).map(({ subject }) => subject);
  };
  const age = (interval: string): Promise<unknown> =>
    sql(
      `update incidents set began_at = began_at - $1::interval, failing_at = failing_at - $1::interval, seen_at = seen_at - $1::interval,
         ended_at = ended_at - $1::interval`,
      [interval],
    );
  const subject = 'Onecode alert: No worker is running';
  expect(await queueAlerts()).toEqual([]);
  await sql(`update incidents set began_at = began_at - interval '4 minutes 50 seconds',
    failing_at = failing_at - interval '4 minutes 50 seconds'`);
  expect(await queueAlerts()).toEqual([]);
  // The incident ends before the server accepts the mail, so the mail is not sent.
  mailbox.fault = () => 451;
  await sql(`update incidents set failing_at = failing_at - interval '11 seconds'`);
  expect(await queueAlerts()).toEqual([]);
  expect(await waiting()).toBe(1);
  await recordIncidents(database, []);
  mailbox.fault = () => null;
  await letTimePass();
  await run();
  expect([mailbox.mails, await waiting()]).toEqual([[], 0]);
  // When an incident returns, its failing time starts again, but its beginning stays.
  await age('2 minutes');
  expect(await queueAlerts()).toEqual([]);
  await sql(`update incidents set failing_at = failing_at - interval '6 minutes'`);
  const incident = (await listIncidents(database)).find(({ finding }) => finding.name === 'no_workers');
  await acknowledgeIncident(database, { ...TEST_ACTOR, name: 'ana@example.com' }, incident!.id, 'disk full');
  expect(await queueAlerts()).toEqual([subject]);
  const [{ text } = { text: '' }] = mailbox.to(email);
  const beganAt = incident!.beganAt.toLocaleString('en', { timeStyle: 'short', timeZone: 'UTC' });
  expect(text).toContain('No worker is running. This check has been failing for more than five minutes.');
  expect(text).toContain('Start the workers');
  expect(text).toContain(`${beganAt} UTC`);
  expect(text).toContain('has acknowledged the incident: “disk full”');
  await age('2 minutes');
  await queueAlerts();
  await sql(`update incidents set failing_at = failing_at - interval '6 minutes'`);
  expect(await queueAlerts()).toEqual([subject]);
});

it('an incident mail states the finding in words, in the language of the recipient', async () => {
  const english = await user({ staff: 'on_call' });
  const portuguese = await user({ staff: 'operator' }, 'pt-BR');
  const { id: senderId } = await buildSender(database, { number: '+5511999990001' });
  const failures = { reason: 'attempts_exhausted', failed: 60, ended: 100, accounts: 3 } as const;
  const at = new Date().toISOString();
  const template = { template: 'one_time_code', language: 'pt_BR', status: 'PAUSED', at, serving: 0 };
  const block = { senderId, number: '+5511999990001', errorCode: 190, since: at };
  await recordIncidents(
    database,
    [
      { name: 'sends_failing', cause: 'country', failures: { ...failures, country: 'BR' } },
      { name: 'sends_failing', cause: 'sender', failures: { ...failures, senderId } },
      { name: 'senders_blocked', cause: 'template', template },
      { name: 'sender_misconfigured', cause: 'refused', blocks: [block] },
    ].map((finding) => ({ ...finding, owner: 'meta', severity: 'failing' })) as Finding[],
  );
  await sql(`update incidents set failing_at = failing_at - interval '6 minutes'`);
  await queueFindingAlerts(database);
  await run();
  expect(subjectsTo(english)).toEqual([
    'Onecode alert: Meta has blocked a template: one_time_code (pt_BR)',
    'Onecode alert: Meta rejects our account, token or template: error 190',
    'Onecode alert: Sends from a sender fail: +5511999990001',
    'Onecode alert: Sends to a country fail: Brazil',
  ]);
  expect(subjectsTo(portuguese)).toEqual([
    'Alerta do Onecode: a Meta bloqueou um modelo: one_time_code (pt_BR)',
    'Alerta do Onecode: a Meta recusa nossa conta, token ou modelo: erro 190',
    'Alerta do Onecode: os envios de um remetente estão falhando: +5511999990001',
    'Alerta do Onecode: os envios para um país estão falhando: Brasil',
  ]);
  for (const { text } of mailbox.mails)
    expect(text).not.toMatch(/sends_failing|sender_misconfigured|senders_blocked/);
});

it.each([
  [{}, 'The account was deleted.', ['The sender cannot send messages.', 'Reason: The account was deleted.']],
  [{ language: 'pt-BR' }, 'PAUSED', ['messages in Brazilian Portuguese.', 'the template status PAUSED.']],
  [{ language: 'en' }, 'category UTILITY', ['messages in English.', 'the template to the category UTILITY.']],
  [{ country: 'BR' }, 'It may not send there.', ['messages to Brazil.', 'Reason: It may not send there.']],
  [{ country: 'ZZ' }, 'It may not send there.', ['messages to numbers without a country.']],
])('a mail about a blocked sender states scope and reason in words: %j, %s', (scope, reason, sentences) => {
  const facts = { number: '+5511999990001', reason, language: null, country: null, ...scope };
  const mail = { kind: 'sender_blocked', language: 'en', facts, link: null, isKnown: true } as const;
  const { subject, text } = mailText(mail, CONSOLE_URL);
  expect(subject).toBe('The sender +5511999990001 is blocked');
  for (const sentence of sentences) expect(text).toContain(sentence);
});

it('a mail about a blocked sender has the whole reason', () => {
  const reason = `The business account is restricted: ${'see what Meta requires. '.repeat(5)}See https://business.facebook.com/x.`;
  const facts = { number: '+5511999990001', reason, language: null, country: null };
  const mail = { kind: 'sender_blocked', language: 'en', facts, link: null, isKnown: true } as const;
  expect(mailText(mail, CONSOLE_URL).text).toContain(`Reason: ${reason}`);
});

it.each([
  ['It may not send there.', 'Motivo, em inglês: It may not send there.'],
  ['PAUSED', 'Motivo: a Meta informa que o status do modelo é PAUSED.'],
  ['category UTILITY', 'Motivo: a Meta mudou o modelo para a categoria UTILITY.'],
])('a mail about a blocked sender has scope and reason in Portuguese: %s', (reason, sentence) => {
  const facts = { number: '+5511999990001', reason, language: 'pt-BR', country: null };
  const mail = { kind: 'sender_blocked', language: 'pt-BR', facts, link: null, isKnown: true } as const;
  const { subject, text } = mailText(mail, CONSOLE_URL);
  expect(subject).toBe('O remetente +5511999990001 está bloqueado');
  expect(text).toContain('O remetente não consegue enviar mensagens em português (Brasil).');
  expect(text).toContain(sentence);
});
