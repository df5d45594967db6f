import type { Finding } from '@onecode/domain';
import { createApiKey, createApplication, revokeApiKey } from '@onecode/store/accounts';
import {
  queueFindingAlerts,
  queueKeyExpiryAlerts,
  queueLowBalanceAlerts,
  removeEventWebhook,
  rotateEventSecret,
  setBalanceAlert,
  setEventWebhook,
} from '@onecode/store/mails';
import { recordIncidents } from '@onecode/store/operations';
import { acceptInvitation, setPassword } from '@onecode/store/users';
import { buildAccount, buildSender, linkOf, TEST_ACTOR, TEST_SECRET_KEY } from '@onecode/testing';
import { mailText } from '../src/mail/mailText.js';
import { CONSOLE_URL, useMails } from './mailEnvironment.js';

const t = useMails();

describe('mails', () => {
  it('are in the language of each recipient, as text and HTML, and contain no name as a link', async () => {
    const accountId = await buildAccount(t.database, { name: '<b>evil.example</b> http://evil.example' });
    const english = await t.user({ accountId, role: 'admin' });
    const portuguese = await t.user({ accountId, role: 'admin' }, 'pt-BR');
    // The account's language is Portuguese.
    const unset = await t.user({ accountId, role: 'admin' }, null);
    await t.createKey(accountId);
    await t.run();
    const [en, pt, own] = [english, portuguese, unset].map(({ email }) => t.mailbox.to(email)[0]!);
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
    const accountId = await buildAccount(t.database, { name: 'Loja' });
    const { email } = await t.user({ accountId, role: 'viewer' }, null);
    const alone = await t.user(null, null);
    for (const to of [email, alone.email])
      await setPassword(t.database, TEST_ACTOR, to, 'another horse battery');
    await t.run();
    // The account's language is Portuguese.
    expect(t.mailbox.to(email)[0]!.html).toContain('<html lang="pt-BR"');
    expect(t.mailbox.to(alone.email)[0]!.html).toContain('<html lang="en"');
  });

  it('report to all admins which admin set the webhook, replaced its secret or removed it', async () => {
    const accountId = await buildAccount(t.database, { name: 'Padaria' });
    const { email } = await t.user({ accountId, role: 'admin' });
    const other = await t.user({ accountId, role: 'admin' }, 'pt-BR');
    const ana = { kind: 'user', id: other.id, name: 'Ana' } as const;
    const url = 'https://ops.example.com/events?secret=1';
    await setEventWebhook(t.database, ana, TEST_SECRET_KEY, accountId, url);
    await rotateEventSecret(t.database, ana, TEST_SECRET_KEY, accountId);
    await removeEventWebhook(t.database, ana, accountId);
    await t.run();
    // Names must not become links, so the host contains word joiners.
    const sentences = t.mailbox
      .to(email)
      .map(({ text }) => /^Ana .*$/m.exec(text.replaceAll('\u2060', ''))?.[0].trim());
    expect(new Set(sentences)).toEqual(
      new Set([
        'Ana removed the webhook of Padaria.',
        'Ana replaced the webhook secret of Padaria.',
        'Ana set the webhook of Padaria: its events are now sent to ops.example.com.',
      ]),
    );
    expect(t.mailbox.to(other.email)).toHaveLength(3);
  });

  it('of an invitation contain the same link that the inviter sees', async () => {
    const accountId = await buildAccount(t.database, { name: 'Padaria' });
    const made = await t.inviteBy(await t.user({ accountId, role: 'admin' }), accountId, 'new@example.com');
    await t.run();
    const [mail] = t.mailbox.to('new@example.com');
    expect(mail!.subject).toBe('Entre na equipe de Padaria no Onecode');
    expect(made).toMatchObject({ token: new URL(linkOf(mail!)).hash.slice(1) });
  });
});

/** Names that an attacker could choose to put a link or a header into a mail. */
const CHOSEN = [
  'You won: http://evil.example/prize',
  'evil.example',
  '<a href="http://evil.example">Open</a>',
  'Loja\r\nBcc: victim@example.com',
  'Loja\u202e\u2028 x',
];

describe('an invitation', () => {
  it.each(CHOSEN)(
    'of a trial account has the name of its inviter and not of the account: %j',
    async (name) => {
      // The console refuses line breaks and control characters, so the name is written directly.
      const { accountId, admin } = await t.trialAccount('Loja');
      await t.sql('update accounts set name = $2 where id = $1', [accountId, name]);
      await t.sql('delete from outbox');
      await t.inviteBy(admin, accountId, 'stranger@example.com');
      await t.run();
      const [mail, ...others] = t.mailbox.mails;
      expect(others).toEqual([]);
      expect(mail).toMatchObject({ to: 'stranger@example.com', subject: 'You are invited to Onecode' });
      const inviter = admin.email.replace('@', '@\u2060').replace('.com', '.\u2060com');
      expect(mail!.text).toContain(`${inviter} invites you to an account as viewer.`);
      for (const text of [mail!.text, mail!.html]) expect(text).not.toMatch(/evil|prize|Loja|victim/);
    },
  );

  it.each(CHOSEN)('of a customer has the account’s name in one line and not as a link: %j', async (name) => {
    const accountId = await buildAccount(t.database, { name: name });
    const admin = await t.user({ accountId, role: 'admin' });
    await t.inviteBy(admin, accountId, 'new@example.com');
    await t.run();
    const [mail, ...others] = t.mailbox.mails;
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
    const { accountId, admin } = await t.trialAccount('You won a prize');
    const member = await t.user(null);
    await t.sql('update users set language = $2 where id = $1', [admin.id, language]);
    await t.sql('delete from outbox');
    const actor = { kind: 'user', id: member.id, name: member.email } as const;
    const invited = await t.inviteBy(admin, accountId, member.email);
    if (invited.kind !== 'invited') throw new Error(invited.kind);
    await acceptInvitation(t.database, actor, member, invited.token);
    const application = { accountId, name: 'You won a prize', mode: 'test' } as const;
    const { id: applicationId } = (await createApplication(t.database, TEST_ACTOR, application))!;
    const { id: keyId } = (await createApiKey(t.database, TEST_ACTOR, applicationId))!;
    await revokeApiKey(t.database, TEST_ACTOR, keyId);
    await t.sql(
      `update api_keys set revoked_at = null, created_at = now() - interval '9 days', expires_at = now() + interval '2 days'
       where id = $1`,
      [keyId],
    );
    await queueKeyExpiryAlerts(t.database);
    await setBalanceAlert(t.database, TEST_ACTOR, accountId, 1_000_000);
    await queueLowBalanceAlerts(t.database);
    await setEventWebhook(t.database, TEST_ACTOR, TEST_SECRET_KEY, accountId, 'https://hooks.example.com/');
    await t.run();
    expect(
      t.mailbox
        .to(admin.email)
        .map(({ subject }) => subject)
        .toSorted(),
    ).toEqual(wanted);
  },
);

it('an incident mail states the finding in words, in the language of the recipient', async () => {
  const english = await t.user({ staff: 'on_call' });
  const portuguese = await t.user({ staff: 'operator' }, 'pt-BR');
  const { id: senderId } = await buildSender(t.database, { number: '+5511999990001' });
  const failures = { reason: 'attempts_exhausted', failed: 60, ended: 100, accounts: 3 } as const;
  const at = new Date().toISOString();
  const template = { template: 'one_time_code', language: 'pt_BR', status: 'PAUSED', at, serving: 0 };
  const block = { senderId, number: '+5511999990001', errorCode: 190, since: at };
  await recordIncidents(
    t.database,
    [
      { name: 'sends_failing', cause: 'country', failures: { ...failures, country: 'BR' } },
      { name: 'sends_failing', cause: 'sender', failures: { ...failures, senderId } },
      { name: 'senders_blocked', cause: 'template', template },
      { name: 'sender_misconfigured', cause: 'refused', blocks: [block] },
    ].map((finding) => ({ ...finding, owner: 'meta', severity: 'failing' })) as Finding[],
  );
  await t.sql(`update incidents set failing_at = failing_at - interval '6 minutes'`);
  await queueFindingAlerts(t.database);
  await t.run();
  expect(t.subjectsTo(english)).toEqual([
    'Onecode alert: Meta has blocked a template: one_time_code (pt_BR)',
    'Onecode alert: Meta rejects our account, token or template: error 190',
    'Onecode alert: Sends from a sender fail: +5511999990001',
    'Onecode alert: Sends to a country fail: Brazil',
  ]);
  expect(t.subjectsTo(portuguese)).toEqual([
    'Alerta do Onecode: a Meta bloqueou um modelo: one_time_code (pt_BR)',
    'Alerta do Onecode: a Meta recusa nossa conta, token ou modelo: erro 190',
    'Alerta do Onecode: os envios de um remetente estão falhando: +5511999990001',
    'Alerta do Onecode: os envios para um país estão falhando: Brasil',
  ]);
  for (const { text } of t.mailbox.mails)
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
