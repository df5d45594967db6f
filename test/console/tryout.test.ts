import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import {
  ConsoleEnvironment,
  describeInBrowser,
  findSecrets,
  STACK_START_MS_MAX,
  tableContents,
  type Credentials,
} from '@onecode/testing';
import type { Page } from 'playwright-core';

const run = promisify(execFile);
const JOURNEY_MS_MAX = 90_000;
const RECIPIENT = '+5511987651234';

const isThere = (tool: string): Promise<boolean> =>
  run(tool, ['--version']).then(
    () => true,
    () => false,
  );

describeInBrowser('trying an application in the console', () => {
  let environment: ConsoleEnvironment;
  let account: string;
  let developer: Credentials;
  beforeAll(async () => {
    environment = await ConsoleEnvironment.open({ env: { LOG_LEVEL: 'trace' } });
    const { stack } = environment;
    await stack.addSender();
    account = String((await stack.onecode('account create --name Loja --free-quota 5'))['id']);
    developer = await environment.createUser(`--account ${account} --role developer`);
  }, STACK_START_MS_MAX);
  afterAll(() => environment.close());

  const regionOf = async (page: Page, name: string): Promise<string> =>
    (await page.getByRole('region', { name, exact: true }).first().textContent()) ?? '';

  /** Opens the page of a new application. @returns everything that the browser is told from now on */
  async function openTryout(page: Page, mode: 'test' | 'live'): Promise<{ id: string; heard: string[] }> {
    const { stack } = environment;
    const made = await stack.onecode(
      `application create --account ${account} --name Shop-${mode} --mode ${mode}`,
    );
    const heard: string[] = [];
    page.on('response', (response) => {
      if (response.url().includes('/api/'))
        response.text().then(
          (text) => heard.push(text, JSON.stringify(response.headers())),
          () => undefined,
        );
    });
    await page.goto(`/accounts/${account}/applications/${made['id']}`);
    await page.getByRole('link', { name: 'Try it' }).click();
    await page.getByRole('heading', { name: `Try Shop-${mode}`, level: 1 }).waitFor();
    return { id: String(made['id']), heard };
  }

  it(
    'a newcomer sends, sees the code, verifies it, and nothing secret is left anywhere',
    async () => {
      const { stack } = environment;
      const page = await environment.windowOf(developer);
      const { id, heard } = await openTryout(page, 'test');

      await page.getByLabel('Phone number').fill(RECIPIENT);
      await page.getByRole('button', { name: 'Send test code' }).click();
      const verifying = page.getByRole('region', { name: '2. Verify it' });
      await verifying.getByText('The code of this test send: 000000').waitFor();
      expect(await regionOf(page, 'Request')).toMatch(
        /^POST \/v1\/send HTTP\/1\.1\n(.+\n)+\n\{"to":"\+55 ••••• 1234"\}$/,
      );
      expect(await regionOf(page, 'Request')).toMatch(/\nAuthorization: Bearer ak_test_….{4}\n/);
      expect(await regionOf(page, 'Answer')).toMatch(/^HTTP\/1\.1 202 Accepted\n/);
      await verifying.getByRole('status').getByText('Read').waitFor();

      // Nothing was filled in.
      const code = verifying.getByLabel('Code that was typed');
      expect(await code.inputValue()).toBe('');
      await code.fill('999999');
      await verifying.getByRole('button', { name: 'Verify' }).click();
      await verifying.getByText('valid: false').waitFor();
      await verifying.getByText('The code was wrong. 4 guesses are left.').waitFor();
      await code.fill('000000');
      await verifying.getByRole('button', { name: 'Verify' }).click();
      await verifying.getByText('valid: true', { exact: true }).waitFor();
      await verifying.getByText('Verified', { exact: true }).waitFor();

      const secrets = [{ name: 'the number', value: RECIPIENT.slice(1) }];
      const dom = await page.content();
      expect(findSecrets([dom, ...heard].join('\n'), secrets)).toEqual([]);
      expect(findSecrets(environment.console.output() + stack.output(), secrets)).toEqual([]);
      const tables = [...(await tableContents(stack.db))].filter(([column]) => !column.startsWith('sends.'));
      // A recipient's open codes and limits are counted by the number; no table of the console's has it.
      const ofPeople = tables.filter(([column]) =>
        /^(audit_entries|counted_tries|api_keys|users)\./.test(column),
      );
      expect(findSecrets(ofPeople.map(([, text]) => text).join('\n'), secrets)).toEqual([]);
      const whole = [dom, ...heard, environment.console.output(), ...tables.map(([, text]) => text)].join(
        '\n',
      );
      expect(whole.match(/ak_(test|live)_\w{20,}/g)).toBeNull();

      const keys = await stack.db.sql('select expires_at from api_keys where application_id = $1', [id]);
      expect(keys).toEqual([{ expires_at: expect.any(Date) }]);
      const entries = await stack.db.sql(
        `select action from audit_entries where actor_kind = 'user' and account_id = $1 order by id`,
        [account],
      );
      expect(entries).toEqual([{ action: 'application.try_send' }, { action: 'key.create' }]);
    },
    JOURNEY_MS_MAX,
  );

  it(
    'the samples in curl and Python are accepted by the API as they stand',
    async () => {
      const { stack } = environment;
      const page = await environment.windowOf(developer);
      const { id } = await openTryout(page, 'test');
      const { key } = await stack.onecode(`key create --application ${id}`);
      const env = { ...process.env, ONECODE_API_KEY: String(key) };
      const before = await stack.db.sql('select id from sends where application_id = $1', [id]);
      let accepted = before.length;

      for (const [language, tool, args] of [
        ['curl', 'curl', (code: string) => ['/bin/sh', ['-c', `${code} -w '\\n%{http_code}'`]] as const],
        ['Python', 'python3', (code: string) => ['python3', ['-c', code]] as const],
      ] as const) {
        await page.getByRole('tab', { name: language, exact: true }).click();
        const [command, parameters] = args(await regionOf(page, `sample in ${language}`));
        if (!(await isThere(tool))) continue;
        const { stdout } = await run(command, parameters, { env });
        expect(stdout).toContain('queued');
        if (language === 'curl') expect(stdout).toMatch(/\n202$/);
        accepted++;
        expect(await stack.db.sql('select id from sends where application_id = $1', [id])).toHaveLength(
          accepted,
        );
      }
    },
    JOURNEY_MS_MAX,
  );

  it(
    'a live application asks first, sends a message, and never shows its code',
    async () => {
      const { stack } = environment;
      const page = await environment.windowOf(developer);
      const { id, heard } = await openTryout(page, 'live');
      await page.getByLabel('Phone number').fill(RECIPIENT);
      await page.getByRole('button', { name: 'Send code' }).click();
      const asking = page.getByRole('dialog', { name: 'Send a real message?' });
      await asking.getByText('one unit of your balance is used').waitFor();
      await asking.getByRole('button', { name: 'Cancel' }).click();
      await asking.waitFor({ state: 'hidden' });
      expect(await stack.db.sql('select id from sends where application_id = $1', [id])).toEqual([]);

      await page.getByRole('button', { name: 'Send code' }).click();
      await asking.getByRole('button', { name: 'Send the message' }).click();
      const verifying = page.getByRole('region', { name: '2. Verify it' });
      await verifying.getByText('The code is in the WhatsApp message and nowhere else.').waitFor();
      await verifying.getByRole('status').getByText('Delivered').waitFor();

      const { code } = await stack.simulator.message(RECIPIENT);
      await verifying.getByLabel('Code that was typed').fill(code);
      await verifying.getByRole('button', { name: 'Verify' }).click();
      await verifying.getByText('valid: true', { exact: true }).waitFor();
      const secrets = [
        { name: 'the code', value: code },
        { name: 'the number', value: RECIPIENT.slice(1) },
      ];
      expect(findSecrets([await page.content(), ...heard].join('\n'), secrets)).toEqual([]);
    },
    JOURNEY_MS_MAX,
  );

  it(
    'a refusal of the API is shown with its code, a remedy and a link to its page, and each field that it is about says so',
    async () => {
      const page = await environment.windowOf(developer);
      await openTryout(page, 'test');
      await page.getByLabel('Phone number').fill('07700 900123');
      await page.getByLabel('Code (optional)').fill('42');
      await page.getByRole('button', { name: 'Send test code' }).click();
      const alert = page.getByRole('alert');
      await alert.getByText('Give the number in E.164 form').waitFor();
      const link = alert.getByRole('link', { name: 'Read about invalid_recipient' });
      expect(await link.getAttribute('href')).toMatch(/\/docs\/errors#invalid_recipient$/);
      expect(await regionOf(page, 'Answer')).toMatch(/^HTTP\/1\.1 422 /);
      for (const text of ['The API does not accept this number.', 'A code has 4 to 10 digits.'])
        await page.getByText(text, { exact: true }).waitFor();
    },
    JOURNEY_MS_MAX,
  );
});
