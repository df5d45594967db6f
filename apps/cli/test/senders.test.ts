import { randomBytes, randomUUID } from 'node:crypto';
import { decrypt, encrypt, parseKeyring, PORTFOLIO_HELD } from '@onecode/domain';
import { applyProviderReport, findOwnApp, type Sender } from '@onecode/store/senders';
import { verifyTokenOf } from '@onecode/whatsapp';
import { blockSender, buildCaller, buildSender, endBlocks, tableContents } from '@onecode/testing';
import { argsOf, expectFault, ID, onecode, SECRET_KEY, TIME, useCommandLine } from './onecode.js';

const TOKEN = 'EAAGplantedTokenOfASender';
const ADD = 'sender add --phone-number-id 106540352242922 --number +15550783881';

const commandLine = useCommandLine();
const { store, json, jsonWith } = commandLine;
beforeEach(() => store.sql('delete from senders'));

const ACTIVE = {
  account_id: null,
  application_ids: [],
  throughput: 80,
  state: 'active',
  paused_until: null,
  pause_reason: null,
  pause_scope: null,
  faults: 0,
  created_at: TIME,
};
const ADDED = {
  ...ACTIVE,
  id: ID,
  phone_number_id: '106540352242922',
  number: '+15550783881',
  template: 'verification_code',
  english: 'en',
};

async function tokenOf(id: unknown, secretKey = SECRET_KEY): Promise<string> {
  const [row] = await store.sql<{ token: Buffer }>(
    'select encrypted_token as token from senders where id = $1',
    [id],
  );
  return decrypt(parseKeyring(secretKey), String(id), row!.token);
}

describe('sender add', () => {
  it('adds an active sender and stores its token only encrypted', async () => {
    const added = await json(`${ADD} --token ${TOKEN}`);
    expect(added).toEqual(ADDED);
    expect(await tokenOf(added['id'])).toBe(TOKEN);
    const everything = [...(await tableContents(store)).values()].join('\n');
    expect(everything).toContain('106540352242922');
    for (const leaked of [TOKEN, Buffer.from(TOKEN).toString('hex')])
      expect(everything).not.toContain(leaked);
  });

  it('reads the token from standard input', async () => {
    const added = await jsonWith(`${TOKEN}\n`, `${ADD} --token -`);
    expect(added).toEqual(ADDED);
    expect(await tokenOf(added['id'])).toBe(TOKEN);
  });

  it('normalizes the number, and accepts a template, its language and a throughput', async () => {
    const options = `--template codigo_2 --english en_US --throughput 1000 --token ${TOKEN}`;
    const added = await json(`sender add --phone-number-id 7 ${options} --number`, '+55 (11) 98765-4321');
    expect(added).toEqual({
      ...ADDED,
      phone_number_id: '7',
      number: '+5511987654321',
      template: 'codigo_2',
      english: 'en_US',
      throughput: 1000,
    });
  });

  it('refuses a phone number id that already exists', async () => {
    await json(`${ADD} --token ${TOKEN}`);
    const line = 'a sender with this phone number id already exists';
    await commandLine.expectFault(line, `${ADD} --token another`);
    expect(await store.sql('select from senders')).toHaveLength(1);
  });

  it.each(['', 'two\nlines', 'a b', 'tokén', '-'])(
    'refuses %j as the token on standard input',
    async (input) => {
      const ended = await onecode(argsOf([`${ADD} --token -`]), commandLine.env, input);
      expectFault(ended, 2, '--token on standard input must be 1 to 4096 letters');
    },
  );
});

describe('sender', () => {
  it('list prints senders oldest first, without tokens', async () => {
    const first = await buildSender(store.database, { token: TOKEN });
    const second = await buildSender(store.database, { englishTemplateLanguage: 'en_US' });
    const formatSender = ({ id, phoneNumberId, number, template, englishTemplateLanguage }: Sender) => ({
      ...ACTIVE,
      id,
      phone_number_id: phoneNumberId,
      number,
      template,
      english: englishTemplateLanguage,
    });
    expect(await json('sender list')).toEqual([formatSender(first), formatSender(second)]);
    expect(await json(`sender show ${first.id}`)).toEqual({
      ...formatSender(first),
      business_account_id: null,
      portfolio_id: null,
      quality: 'UNKNOWN',
      messaging_limit: null,
      unique_recipients_24h: null,
      held_messages_24h: 0,
      checked_at: null,
      alerts: [],
      templates: [],
    });
  });

  it("show prints alerts about the business account in Meta's words", async () => {
    const { id } = await buildSender(store.database, { businessAccountId: '7' });
    const alert = { type: 'OBA_REJECTED', severity: 'CRITICAL', detail: null };
    const at = new Date('2026-11-01T10:00:00Z');
    await applyProviderReport(store.database, '7', { alert }, at);
    expect(await json(`sender show ${id}`)).toMatchObject({ alerts: [{ ...alert, at: at.toISOString() }] });
  });

  it('pause pauses a sender until it is resumed', async () => {
    const { id } = await buildSender(store.database);
    const paused = { state: 'paused', paused_until: null, pause_reason: 'paused by an operator' };
    expect(await json(`sender pause ${id}`)).toMatchObject(paused);
    expect(await json('sender list')).toMatchObject([{ id, ...paused }]);
    expect(await json(`sender resume ${id}`)).toMatchObject(ACTIVE);
    expect(await json('sender list')).toMatchObject([{ id, ...ACTIVE }]);
  });

  it('pause and resume keep a reason, which list, show and the audit log have', async () => {
    const { id } = await buildSender(store.database);
    const paused = { id, state: 'paused', pause_reason: 'low' };
    expect(await json(`sender pause ${id} --reason low`)).toMatchObject(paused);
    expect(await json('sender list')).toMatchObject([paused]);
    expect(await json(`sender show ${id}`)).toMatchObject(paused);
    await json(`sender resume ${id} --reason better`);
    const audit = await json<unknown[]>('audit list');
    expect(audit.slice(0, 2)).toMatchObject([
      { action: 'sender.resume', details: { reason: 'better', ended: ['low'] } },
      { action: 'sender.pause', details: { reason: 'low' } },
    ]);
  });

  it('list prints the end and the reason of a block, and active after its end', async () => {
    await blockSender(store.database, await buildSender(store.database), { reason: 'quality' });
    const resting = {
      state: 'cooling_down',
      paused_until: TIME,
      pause_reason: 'quality',
      pause_scope: 'sender',
      faults: 1,
    };
    expect(await json('sender list')).toMatchObject([resting]);
    await endBlocks(store.database);
    const active = { state: 'active', paused_until: null, pause_reason: null, faults: 1 };
    expect(await json('sender list')).toMatchObject([active]);
  });

  it('list and show name a block of a portfolio for each of its senders', async () => {
    const senders = [await buildSender(store.database), await buildSender(store.database)];
    await store.sql(`update senders set portfolio_id = '501'`);
    await store.sql(
      `insert into sender_blocks (cause, scope, subject, source, reason, until, error_code, is_configuration)
       values ('fault', 'portfolio', '501', 'receipt', $1, now() + interval '1 minute', 135000, true)`,
      [PORTFOLIO_HELD],
    );
    const blocked = { state: 'cooling_down', pause_reason: PORTFOLIO_HELD, pause_scope: 'portfolio' };
    expect(await json('sender list')).toMatchObject(senders.map(({ id }) => ({ id, ...blocked })));
    expect(await json(`sender show ${senders[0]!.id}`)).toMatchObject({ portfolio_id: '501', ...blocked });
    await store.sql('truncate sender_blocks');
  });

  it('adds a sender with --paused, edits it and removes it', async () => {
    const added = await json(`${ADD} --token ${TOKEN} --paused`);
    expect(added).toMatchObject({ state: 'paused', pause_reason: 'added, not activated yet' });
    const id = String(added['id']);
    expect(await json(`sender resume ${id}`)).toMatchObject({ state: 'active' });
    expect(await json(`sender throughput ${id} 250`)).toMatchObject({ id, throughput: 250 });
    const edited = { template: 'login_code', english: 'en_US', number: '+5511987654321', throughput: 250 };
    expect(
      await json(`sender edit ${id} --template login_code --english en_US --number +5511987654321`),
    ).toMatchObject(edited);
    await json(`sender edit ${id} --business-account 102290129340398`);
    expect(await json(`sender show ${id}`)).toMatchObject({
      ...edited,
      business_account_id: '102290129340398',
    });
    expect(await json(`sender remove ${id}`)).toMatchObject({ id });
    expect(await json('sender list')).toEqual([]);
    expect(await json(`${ADD} --token ${TOKEN}`)).toMatchObject({ state: 'active' });
  });

  it('token replaces a token, also from standard input, and prints none', async () => {
    const { id } = await buildSender(store.database);
    const set = {
      id,
      token: 'set',
      accepted: null,
      detail: expect.stringMatching(/^Reading it from Meta failed: No worker is running\./),
    };
    expect(await json(`sender token ${id} --token another`)).toEqual(set);
    expect(await tokenOf(id)).toBe('another');
    expect(await jsonWith(`\ufeff${TOKEN}\r\n`, `sender token ${id} --token -`)).toEqual(set);
    expect(await tokenOf(id)).toBe(TOKEN);
  });

  it('token asks for the token at a terminal, and does not show it', async () => {
    const { id } = await buildSender(store.database);
    const args = argsOf([`sender token ${id} --token -`]);
    const { code, stdout, stderr } = await onecode(args, commandLine.env, `${TOKEN}\r`, true);
    expect(code).toBe(0);
    expect(stderr).toMatch(/^Access token: \n/);
    expect(stdout + stderr).not.toContain(TOKEN);
    expect(await tokenOf(id)).toBe(TOKEN);
  });
});

describe('sender assign', () => {
  it('assigns a sender to an account, to some of its live applications, and shares it again', async () => {
    const { id } = await buildSender(store.database);
    const { accountId, applicationId } = await buildCaller(store.database, 'live');
    const test = await buildCaller(store.database, 'test', { id: accountId });
    const other = await buildCaller(store.database, 'live');
    const assign = (options: string) => json(`sender assign ${id} ${options}`);
    const own = { account_id: accountId, application_ids: [] };
    expect(await assign(`--account ${accountId}`)).toMatchObject({ id, ...own });
    const some = { account_id: accountId, application_ids: [applicationId] };
    expect(await assign(`--account ${accountId} --application ${applicationId}`)).toMatchObject(some);
    expect(await json('sender list')).toMatchObject([{ id, ...some }]);
    for (const { applicationId: wrong } of [test, other])
      await commandLine.expectFault(
        'the account has no live application with this id',
        `sender assign ${id} --account ${accountId} --application ${applicationId} --application ${wrong}`,
      );
    expect(await json(`sender show ${id}`)).toMatchObject(some);
    expect(await assign('--shared')).toMatchObject({ account_id: null, application_ids: [] });
  });

  it('is not needed for a sender that sender add assigned', async () => {
    const { accountId, applicationId } = await buildCaller(store.database, 'live');
    const owner = `--account ${accountId} --application ${applicationId}`;
    expect(await json(`${ADD} --token ${TOKEN} ${owner}`)).toEqual({
      ...ADDED,
      account_id: accountId,
      application_ids: [applicationId],
    });
    await commandLine.expectFault(
      'there is no account with this id',
      `sender add --phone-number-id 8 --number +15550783882 --token ${TOKEN} --account ${applicationId}`,
    );
  });

  it('refuses unknown accounts and unknown senders', async () => {
    const { id } = await buildSender(store.database);
    const { accountId } = await buildCaller(store.database, 'live');
    await commandLine.expectFault('there is no account with this id', `sender assign ${id} --account ${id}`);
    await commandLine.expectFault('there is no sender with this id', `sender assign ${accountId} --shared`);
  });
});

describe('sender app', () => {
  const APP_SECRET = '0123456789abcdef0123456789abcdef';
  const appOf = (id: string) => findOwnApp(store.database, parseKeyring(SECRET_KEY), id);

  it('encrypts the secret from standard input, prints the values to enter at Meta, and erases the secret with --none', async () => {
    const { id } = await buildSender(store.database);
    expect(await jsonWith(`${APP_SECRET}\n`, `sender app ${id} --secret -`)).toEqual({
      id,
      app: 'own',
      callback_path: `/webhooks/whatsapp/${id}`,
      verify_token: verifyTokenOf(APP_SECRET, id),
    });
    expect(await appOf(id)).toEqual({ accountId: null, secret: APP_SECRET });
    expect([...(await tableContents(store)).values()].join('\n')).not.toContain(APP_SECRET);
    expect(await json(`sender app ${id} --none`)).toMatchObject({ app: 'none', verify_token: null });
    expect(await appOf(id)).toBeNull();
  });

  it('stores a secret that sender reencrypt also reencrypts', async () => {
    const { id } = await buildSender(store.database, { secretKey: parseKeyring(SECRET_KEY) });
    await jsonWith(`${APP_SECRET}\n`, `sender app ${id} --secret -`);
    const newKey = randomBytes(32).toString('base64');
    const env = { ...commandLine.env, SECRET_KEY: `2:${newKey},1:${SECRET_KEY}` };
    expect(await onecode(['sender', 'reencrypt'], env)).toMatchObject({ code: 0 });
    const opened = await findOwnApp(store.database, parseKeyring(`2:${newKey}`), id);
    expect(opened).toMatchObject({ secret: APP_SECRET });
  });

  it('refuses any other secret without repeating it', async () => {
    const { id } = await buildSender(store.database);
    const typed = await onecode(['sender', 'app', id, '--secret', APP_SECRET], commandLine.env);
    expectFault(typed, 2, /must be -/);
    const short = await onecode(['sender', 'app', id, '--secret', '-'], commandLine.env, 'planted\n');
    expectFault(short, 2, /must be 32 digits/);
    expect(JSON.stringify([typed, short])).not.toMatch(/planted|0123456789abcdef/);
    await commandLine.expectFault('there is no sender with this id', `sender app ${randomUUID()} --none`);
  });
});

describe('sender reencrypt', () => {
  const OLD_KEY = randomBytes(32).toString('base64');
  const BOTH = `2:${SECRET_KEY},1:${OLD_KEY}`;
  const reencrypt = async (secretKey: string, ...more: string[]) => {
    const ended = await onecode(['sender', 'reencrypt', ...more], {
      ...commandLine.env,
      SECRET_KEY: secretKey,
    });
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    return ended.stdout;
  };
  let id: string;
  beforeEach(async () => {
    ({ id } = await buildSender(store.database));
    await store.sql('update senders set encrypted_token = $1', [encrypt(parseKeyring(OLD_KEY), id, TOKEN)]);
  });

  it('encrypts every token with the first key, and prints the result for each sender without its token', async () => {
    for (const token of ['reencrypted', 'current'])
      expect(JSON.parse(await reencrypt(BOTH, '--json'))).toEqual([
        { id, phone_number_id: expect.any(String), number: expect.any(String), token },
      ]);
    expect(await tokenOf(id, `2:${SECRET_KEY}`)).toBe(TOKEN);
  });

  it('reports a token with a missing key, and the remedy', async () => {
    expect(await reencrypt(`2:${SECRET_KEY}`)).toMatch(
      /unreadable\n\nunreadable: its key is not in SECRET_KEY/,
    );
    expect(await tokenOf(id, OLD_KEY)).toBe(TOKEN);
  });
});

describe('SECRET_KEY', () => {
  it.each([
    `${ADD} --token ${TOKEN}`,
    'sender reencrypt',
    `sender token 01990c1e-7c5a-7d2b-9a53-6f0d3b1c2e4f --token ${TOKEN}`,
  ])('is required by %s', async (typed) => {
    for (const env of [{}, { SECRET_KEY: '' }])
      expectFault(
        await onecode(argsOf([typed]), { DATABASE_URL: store.url, ...env }),
        1,
        'SECRET_KEY is missing',
      );
  });

  it('is not required by other commands', async () => {
    expect(await onecode(['sender', 'list', '--json'], { DATABASE_URL: store.url })).toEqual({
      code: 0,
      stdout: '[]\n',
      stderr: '',
    });
  });

  it('is named in one line with other faults, and its value never printed', async () => {
    const ended = await onecode(argsOf([`${ADD} --token ${TOKEN}`]), { SECRET_KEY: 'cGxhbnRlZA==' });
    expectFault(ended, 1, /DATABASE_URL is missing; SECRET_KEY must be 32 bytes in base64\n$/);
    expect(ended.stderr).not.toMatch(/EAAG|cGxhbnRlZA/);
  });
});
