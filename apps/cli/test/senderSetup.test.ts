import { listSenders } from '@onecode/store/senders';
import { startSimulator, type Simulator } from '@onecode/simulator';
import { buildCaller } from '@onecode/testing';
import { argsOf, expectFault, onecode, useCommandLine, type Ended } from './onecode.js';

const ACCOUNT = '300000000000001';
const NUMBER_ID = '400000000000001';
const NUMBER = '+5511987654321';
const TOKEN = 'EAAGsystemUserToken';
const PIN = '482913';
const STEPS = [
  'token',
  'number',
  'registration',
  'subscription',
  'sender',
  'template_pt_BR',
  'template_en',
  'health',
  'activation',
];

interface Step {
  step: string;
  status: string;
  detail: string;
  link: string | null;
}

const commandLine = useCommandLine();
const { store } = commandLine;

let simulator: Simulator;
beforeAll(async () => {
  simulator = await startSimulator({ appSecret: 'secret-of-the-simulator-0123456789' });
});
afterAll(() => simulator.close());

/** A business account with one number, as Meta leaves it: not registered, not subscribed, without templates. */
beforeEach(async () => {
  await store.sql('delete from senders');
  await store.sql('delete from provider_facts');
  simulator.reset();
  simulator.changeSettings({ reviewMs: 0 });
  await simulator.business.changeAccount(ACCOUNT, { startsEmpty: true, subscribed: false });
  await simulator.business.changeSender(NUMBER_ID, {
    wabaId: ACCOUNT,
    displayPhoneNumber: NUMBER.slice(1),
    status: 'PENDING',
    registered: false,
    verifiedName: 'Loja Azul',
  });
});

async function setup(options = '', input = `${TOKEN}\n${PIN}\n`): Promise<Ended> {
  const secrets = options.includes('--pin') ? '--token -' : '--token - --pin -';
  const typed = `sender setup --business-account ${ACCOUNT} ${secrets} ${options} --json`.replaceAll(
    / +/g,
    ' ',
  );
  return onecode(argsOf([typed]), { ...commandLine.env, WHATSAPP_API_URL: simulator.apiUrl }, input);
}

/** Runs the setup, and expects this exit code. @returns the sender and the steps by name */
async function setUp(code: number, options?: string, input?: string) {
  const ended = await setup(options, input);
  expect(ended).toEqual({ code, stdout: expect.stringMatching(/^\{.*\}\n$/), stderr: '' });
  const { sender, steps } = JSON.parse(ended.stdout) as { sender: { state: string } | null; steps: Step[] };
  expect(ended.stdout).not.toContain(TOKEN);
  for (const step of steps) expect(Object.keys(step)).toEqual(['step', 'status', 'detail', 'link']);
  return {
    sender,
    steps: Object.fromEntries(steps.map((step) => [step.step, step])),
    names: steps.map(({ step }) => step),
  };
}

const statusesOf = (steps: Record<string, Step>): Record<string, string> =>
  Object.fromEntries(Object.entries(steps).map(([name, { status }]) => [name, status]));

describe('sender setup', () => {
  it('changes nothing at Meta if ONECODE_ACTOR is not a name', async () => {
    const env = { ...commandLine.env, ONECODE_ACTOR: 'two\nlines', WHATSAPP_API_URL: simulator.apiUrl };
    const typed = `sender setup --business-account ${ACCOUNT} --token - --pin - --json`;
    expectFault(
      await onecode(argsOf([typed]), env, `${TOKEN}\n${PIN}\n`),
      1,
      'ONECODE_ACTOR must be one line',
    );
    const headers = { authorization: `Bearer ${TOKEN}` };
    const response = await fetch(`${simulator.apiUrl}/${NUMBER_ID}?fields=status`, { headers });
    expect(await response.json()).toMatchObject({ status: 'PENDING' });
  });

  it('registers, subscribes, creates templates and activates the sender, and changes nothing when it is repeated', async () => {
    const { sender, steps, names } = await setUp(0);
    expect(names).toEqual(STEPS);
    expect(statusesOf(steps)).toEqual({
      token: 'already',
      number: 'already',
      registration: 'done',
      subscription: 'done',
      sender: 'done',
      template_pt_BR: 'done',
      template_en: 'done',
      health: 'already',
      activation: 'done',
    });
    expect(sender).toMatchObject({
      state: 'active',
      number: NUMBER,
      phone_number_id: NUMBER_ID,
      english: 'en',
    });
    expect(simulator.business.sender(NUMBER_ID)).toMatchObject({
      registered: true,
      pin: PIN,
      status: 'CONNECTED',
    });
    expect(simulator.business.templates(ACCOUNT)).toMatchObject(
      ['pt_BR', 'en'].map((language) => ({
        language,
        name: 'verification_code',
        category: 'AUTHENTICATION',
        ttlSeconds: 600,
        codeExpirationMinutes: 10,
        otpType: 'COPY_CODE',
      })),
    );
    const before = simulator.business.snapshot();
    const again = await setUp(0);
    expect(new Set(Object.values(statusesOf(again.steps)))).toEqual(new Set(['already']));
    expect(simulator.business.snapshot()).toEqual(before);
    expect(await listSenders(store.database)).toHaveLength(1);
  });

  it('prints the plan with --dry-run and changes nothing', async () => {
    const before = simulator.business.snapshot();
    const { sender, steps } = await setUp(0, '--dry-run');
    expect(sender).toBeNull();
    const planned = ['registration', 'subscription', 'sender', 'template_pt_BR', 'template_en'];
    for (const name of planned) expect(steps[name]).toMatchObject({ status: 'waiting', detail: /^Would / });
    expect(simulator.business.snapshot()).toEqual(before);
    expect(await listSenders(store.database)).toEqual([]);
  });

  it('completes all other steps after a wrong PIN, and continues with the right PIN', async () => {
    await simulator.business.changeSender(NUMBER_ID, { pin: '111111' });
    const { sender, steps } = await setUp(2);
    expect(steps['registration']).toMatchObject({
      status: 'needs_you',
      detail: expect.stringContaining('133005'),
      link: expect.stringContaining(ACCOUNT),
    });
    expect(steps['template_pt_BR']).toMatchObject({ status: 'done' });
    expect(steps['activation']).toMatchObject({
      status: 'waiting',
      detail: expect.stringContaining('registration'),
    });
    expect(sender).toMatchObject({ state: 'paused' });
    const again = await setUp(0, '--pin 111111', `${TOKEN}\n`);
    expect(again.steps['registration']).toMatchObject({ status: 'done' });
    expect(again.sender).toMatchObject({ state: 'active' });
  });

  it('registers a number that Meta shows as connected, also after a run without a PIN and one with a wrong PIN', async () => {
    await simulator.business.changeSender(NUMBER_ID, { status: 'CONNECTED', pin: '111111' });
    const secrets = `--business-account ${ACCOUNT} --token - --json`;
    const env = { ...commandLine.env, WHATSAPP_API_URL: simulator.apiUrl };
    const withoutPin = await onecode(argsOf([`sender setup ${secrets}`]), env, TOKEN);
    expect(withoutPin.code).toBe(2);
    expect((await setUp(2)).steps['registration']).toMatchObject({ status: 'needs_you' });
    const { steps, sender } = await setUp(0, '--pin 111111', `${TOKEN}\n`);
    expect(steps['registration']).toMatchObject({ status: 'done' });
    expect(sender).toMatchObject({ state: 'active' });
    expect(simulator.business.sender(NUMBER_ID).registered).toBe(true);
  });

  it('waits for the approval of templates, and continues in the next run', async () => {
    simulator.changeSettings({ reviewMs: 60_000 });
    const { steps, sender } = await setUp(2, '--wait 0');
    expect(steps).toMatchObject({
      template_en: { status: 'waiting', detail: expect.stringMatching(/waits for Meta’s approval\.$/) },
      activation: { status: 'waiting', detail: expect.stringMatching(/Then run the setup again\.$/) },
    });
    expect(sender).toMatchObject({ state: 'paused' });
    for (const language of ['pt_BR', 'en'])
      await simulator.business.changeTemplate(
        { wabaId: ACCOUNT, name: 'verification_code', language },
        { status: 'APPROVED' },
      );
    const again = await setUp(0);
    expect(again.steps).toMatchObject({
      registration: { status: 'already' },
      template_en: { status: 'already' },
      activation: { status: 'done' },
    });
  });

  it('reports a rejected template with its reason, and does not activate the sender', async () => {
    simulator.changeSettings({ review: 'REJECTED' });
    const { steps, sender } = await setUp(2);
    expect(steps['template_en']).toMatchObject({
      status: 'needs_you',
      detail: expect.stringMatching(/REJECTED \(INVALID_FORMAT\)/),
      link: expect.stringContaining('message-templates'),
    });
    expect(sender).toMatchObject({ state: 'paused' });
  });

  it('reports how an existing template differs, and changes it only with --fix', async () => {
    const key = { wabaId: ACCOUNT, name: 'verification_code', language: 'pt_BR' };
    await simulator.business.changeTemplate(key, { codeExpirationMinutes: 5, ttlSeconds: -1 });
    const { steps } = await setUp(2);
    expect(steps['template_pt_BR']).toMatchObject({
      status: 'needs_you',
      detail: expect.stringMatching(/pt_BR \(43200 min\).* pt_BR \(5 min\)/),
    });
    expect(simulator.business.findTemplate(key)).toMatchObject({ codeExpirationMinutes: 5, ttlSeconds: -1 });
    const fixed = await setUp(0, '--fix');
    expect(fixed.steps['template_pt_BR']).toMatchObject({ status: 'done' });
    expect(simulator.business.findTemplate(key)).toMatchObject({
      codeExpirationMinutes: 10,
      ttlSeconds: 600,
    });
  });

  it('uses a template without a time to live, and sets one only with --fix', async () => {
    const key = { wabaId: ACCOUNT, name: 'verification_code', language: 'pt_BR' };
    const template = { otpType: 'COPY_CODE', ttlSeconds: null } as const;
    await simulator.business.changeTemplate(key, { ...template, codeExpirationMinutes: 10 });
    expect((await setUp(0)).steps['template_pt_BR']).toMatchObject({ status: 'already' });
    expect(simulator.business.findTemplate(key)).toMatchObject(template);
    await setUp(0, '--fix');
    expect(simulator.business.findTemplate(key)).toMatchObject({ ttlSeconds: 600 });
  });

  it('uses a one-tap template, and does not change it, because that would remove its app', async () => {
    const key = { wabaId: ACCOUNT, name: 'verification_code', language: 'pt_BR' };
    const template = { otpType: 'ONE_TAP', ttlSeconds: 600 } as const;
    await simulator.business.changeTemplate(key, { ...template, codeExpirationMinutes: 10 });
    expect((await setUp(0, '--fix')).steps['template_pt_BR']).toMatchObject({ status: 'already' });
    await simulator.business.changeTemplate(key, { codeExpirationMinutes: 5 });
    expect((await setUp(0, '--fix')).steps['template_pt_BR']).toMatchObject({
      status: 'needs_you',
      detail: expect.stringContaining('in WhatsApp Manager'),
    });
    expect(simulator.business.findTemplate(key)).toMatchObject({ ...template, codeExpirationMinutes: 5 });
  });

  it('uses the English language in which the template exists', async () => {
    await simulator.business.changeTemplate(
      { wabaId: ACCOUNT, name: 'verification_code', language: 'en_US' },
      {},
    );
    const { sender } = await setUp(0);
    expect(sender).toMatchObject({ english: 'en_US' });
  });

  it('asks which number is meant when the business account has several', async () => {
    await simulator.business.changeSender('400000000000002', {
      wabaId: ACCOUNT,
      displayPhoneNumber: '15550783881',
    });
    const { steps, names } = await setUp(2);
    expect(names).toEqual(['token', 'number']);
    expect(steps['number']).toMatchObject({
      status: 'needs_you',
      detail: expect.stringMatching(/\+5511987654321.*\+15550783881|\+15550783881.*\+5511987654321/),
    });
    await setUp(2, '--number +15550783882');
    // Meta writes Brazilian numbers with and without the ninth digit.
    const { sender } = await setUp(0, '--number +551187654321');
    expect(sender).toMatchObject({ number: NUMBER });
  });

  it.each([
    [{ valid: false }, /does not accept the access token/],
    [{ scopes: ['whatsapp_business_messaging'] }, /lacks whatsapp_business_management/],
  ])('stops at the token step when Meta reports the token as %j', async (state, detail) => {
    simulator.business.changeToken(TOKEN, state);
    const { steps, names } = await setUp(2);
    expect(names).toEqual(['token']);
    expect(steps['token']).toMatchObject({
      status: 'needs_you',
      detail: expect.stringMatching(detail),
      link: expect.stringContaining('system-users'),
    });
  });

  it('reports what Meta requires when the business account may not send', async () => {
    await simulator.business.changeAccount(ACCOUNT, { condition: 'payment_issue' });
    const { steps } = await setUp(2);
    expect(steps['health']).toMatchObject({
      status: 'needs_you',
      detail: expect.stringContaining('payment method'),
    });
  });

  it('adds the sender to an account, and refuses another owner later', async () => {
    const { accountId } = await buildCaller(store.database, 'live');
    const { sender } = await setUp(0, `--account ${accountId}`);
    expect(sender).toMatchObject({ account_id: accountId });
    const again = await setUp(0);
    expect(again.steps['sender']).toMatchObject({
      status: 'needs_you',
      detail: expect.stringContaining('another owner'),
    });
  });

  it('fails with one line when Meta is unavailable', async () => {
    const { steps, names } = await (async () => {
      const ended = await onecode(
        argsOf([`sender setup --business-account ${ACCOUNT} --token - --pin ${PIN} --json`]),
        { ...commandLine.env, WHATSAPP_API_URL: 'http://127.0.0.1:9/v25.0' },
        TOKEN,
      );
      expect(ended.code).toBe(1);
      const all = (JSON.parse(ended.stdout) as { steps: Step[] }).steps;
      return { steps: all, names: all.map(({ step }) => step) };
    })();
    expect(names).toEqual(['token']);
    expect(steps[0]).toMatchObject({
      status: 'failed',
      detail: expect.stringContaining('ECONNREFUSED'),
    });
  });

  it.each([
    ['--pin 12345', '', 'six digits'],
    ['', TOKEN, '--pin on standard input'],
    ['', `${TOKEN}\n${PIN}\nmore`, 'more lines'],
    ['--number 5511', '', 'phone number'],
  ])('refuses the options "%s" with %j on standard input', async (options, input, line) => {
    expectFault(await setup(options, input), 2, line);
  });

  it('names a proxy without a protocol, which the calls to Meta cannot use', async () => {
    const args = argsOf([`sender setup --business-account ${ACCOUNT} --token -`]);
    const env = { ...commandLine.env, HTTPS_PROXY: 'proxy.example.com:3128' };
    expectFault(
      await onecode(args, env, TOKEN),
      1,
      'HTTPS_PROXY must be an address that begins with http://',
    );
  });

  it.each([
    ['Ctrl-C', '\x03'],
    ['Ctrl-D', '\x04'],
  ])('changes nothing after %s at the question for the token', async (_, typed) => {
    const args = argsOf([`sender setup --business-account ${ACCOUNT}`]);
    const ended = await onecode(args, commandLine.env, typed, true);
    expect(ended).toEqual({
      code: 1,
      stdout: '',
      stderr: 'Access token: \nonecode: no access token was entered, so nothing was changed\n',
    });
  });

  it.each(['', ' --token -'])('at a terminal, asks for the token and does not show it:%s', async (option) => {
    const args = argsOf([`sender setup --business-account ${ACCOUNT} --pin ${PIN}${option}`]);
    const env = { ...commandLine.env, WHATSAPP_API_URL: simulator.apiUrl };
    const { code, stdout, stderr } = await onecode(args, env, `${TOKEN}\r`, true);
    expect(code).toBe(0);
    expect(stderr).toMatch(/^Access token: \n/);
    expect(stdout + stderr).not.toContain(TOKEN);
  });
});

describe('sender check --fix', () => {
  it('registers, subscribes and repairs templates, and reports it next to each check', async () => {
    const { sender } = await setUp(0);
    const { id } = sender as unknown as { id: string };
    await simulator.business.changeAccount(ACCOUNT, { subscribed: false });
    const key = { wabaId: ACCOUNT, name: 'verification_code', language: 'pt_BR' };
    await simulator.business.changeTemplate(key, { status: 'DELETED' });
    await simulator.business.changeTemplate({ ...key, language: 'en' }, { codeExpirationMinutes: 5 });
    await simulator.business.changeSender(NUMBER_ID, { registered: false });
    simulator.changeSettings({ reviewMs: 500 });
    const ended = await onecode(argsOf([`sender check ${id} --fix --pin ${PIN} --json`]), {
      ...commandLine.env,
      WHATSAPP_API_URL: simulator.apiUrl,
    });
    // No worker reads the state afterwards.
    expect(ended.code).toBe(1);
    const rows = JSON.parse(ended.stdout) as { check: string; fix: string | null }[];
    expect(
      Object.fromEntries(rows.map(({ check, fix }) => [check, fix?.split(':')[0] ?? null])),
    ).toMatchObject({
      number_connected: 'done',
      webhook_subscribed: 'done',
      // The command waits for the review, as it does for the connection of the number, so that the check reads the result.
      template_pt_br: 'done',
      template_en: 'done',
      token_valid: null,
    });
    expect(simulator.business.sender(NUMBER_ID).registered).toBe(true);
    expect(simulator.business.account(ACCOUNT).subscribed).toBe(true);
    expect(simulator.business.findTemplate({ ...key, language: 'en' })).toMatchObject({
      status: 'APPROVED',
      codeExpirationMinutes: 10,
    });
  });

  it('reports why it skipped repairs', async () => {
    const { sender } = await setUp(0);
    const { id } = sender as unknown as { id: string };
    simulator.business.changeToken(TOKEN, { scopes: ['whatsapp_business_messaging'] });
    const { stdout } = await onecode(argsOf([`sender check ${id} --fix --json`]), {
      ...commandLine.env,
      WHATSAPP_API_URL: simulator.apiUrl,
    });
    const rows = JSON.parse(stdout) as { check: string; fix: string | null }[];
    const skipped = rows.flatMap(({ check, fix }) =>
      fix?.startsWith('skipped: token: The access token lacks whatsapp_business_management') ? [check] : [],
    );
    expect(skipped).toEqual(['number_connected', 'template_pt_br', 'template_en', 'webhook_subscribed']);
  });
});
