import {
  ConsoleEnvironment,
  describeInBrowser,
  findSecrets,
  STACK_START_MS_MAX,
  tableContents,
  type Credentials,
} from '@onecode/testing';
import type { Page } from 'playwright-core';
import { heardBy } from './heardBy.js';

const JOURNEY_MS_MAX = 90_000;
const RECIPIENT = '+5511987651234';

describeInBrowser('the console with the processes behind it', () => {
  let environment: ConsoleEnvironment;
  let account: string;
  let developer: Credentials;
  beforeAll(async () => {
    environment = await ConsoleEnvironment.open({ env: { LOG_LEVEL: 'trace' } });
    const { stack } = environment;
    await stack.addSender();
    account = String((await stack.onecode('account create --name Loja --free-quota 5'))['id']);
    developer = await environment.createUser({ accountId: account, role: 'developer' });
  }, STACK_START_MS_MAX);
  afterAll(() => environment.close());

  it(
    'links every page to an existing section of the documentation',
    async () => {
      const page = await environment.windowOf(await environment.createUser({ staff: 'on_call' }));
      const pages = [
        ...['start', 'overview', 'sends', 'requests', 'applications', 'recipients', 'ledger', 'team'].map(
          (name) => ['member', `/accounts/${account}/${name}`] as const,
        ),
        ['staff', '/profile'] as const,
        ...['health', 'senders'].map((name) => ['staff', `/staff/${name}`] as const),
      ];
      const member = await environment.windowOf(developer);
      const documents = new Set<string>();
      for (const [who, path] of pages) {
        const shown = who === 'member' ? member : page;
        await shown.goto(path);
        documents.add((await shown.getByRole('link', { name: 'Help' }).getAttribute('href')) ?? '');
      }
      expect(documents.size).toBe(9);
      for (const address of documents) {
        const [to = '', anchor] = address.split('#');
        const answer = await fetch(to);
        expect([address, answer.status]).toEqual([address, 200]);
        if (anchor !== undefined) expect(await answer.text()).toContain(` id="${anchor}"`);
      }
    },
    JOURNEY_MS_MAX,
  );

  const regionOf = async (page: Page, name: string): Promise<string> =>
    (await page.getByRole('group', { name, exact: true }).first().textContent()) ?? '';

  it(
    'shows a new user refused requests, lets them send, read and verify a code, and leaves no secret anywhere',
    async () => {
      const { stack } = environment;
      const page = await environment.windowOf(developer);
      const { id } = await stack.onecode(`application create --account ${account} --name Shop --mode test`);
      const heard = heardBy(page);
      await page.goto(`/accounts/${account}/applications/${id}`);
      await page.getByRole('link', { name: 'Try it' }).click();
      await page.getByRole('heading', { name: 'Try Shop', level: 1 }).waitFor();

      await page.getByLabel('Phone number').fill('07700 900123');
      await page.getByLabel('Code (optional)').fill('42');
      await page.getByRole('button', { name: 'Send test code' }).click();
      const alert = page.getByRole('alert');
      await alert.getByText('invalid_recipient', { exact: true }).waitFor();
      const link = alert.getByRole('link', { name: 'Read about invalid_recipient' });
      expect(await link.getAttribute('href')).toMatch(/\/docs\/errors#invalid_recipient$/);
      expect(await regionOf(page, 'Response')).toMatch(/^HTTP\/1\.1 422 /);
      for (const text of ['The API does not accept this number.', 'A code has 4 to 10 digits.'])
        await page.getByText(text, { exact: true }).waitFor();

      await page.getByLabel('Code (optional)').fill('');
      await page.getByLabel('Phone number').fill(RECIPIENT);
      await page.getByRole('button', { name: 'Send test code' }).click();
      const verifying = page.getByRole('region', { name: '2. Verify it' });
      await verifying.getByText('The code of this test send: 000000').waitFor();
      expect(await regionOf(page, 'Request')).toMatch(
        /^POST \/v1\/send HTTP\/1\.1\n(.+\n)+\n\{\n  "to": "\+55 ••••• 1234"\n\}$/,
      );
      expect(await regionOf(page, 'Request')).toMatch(/\nAuthorization: Bearer ak_test_….{4}\n/);
      expect(await regionOf(page, 'Response')).toMatch(/^HTTP\/1\.1 202 Accepted\n/);
      await verifying.getByRole('status').getByText('Read').waitFor();

      // Nothing was filled in.
      const code = verifying.getByLabel('Code from the message');
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
      // A recipient's active codes and limits are counted by the number; no table of the console's has it.
      const ofPeople = tables.filter(([column]) =>
        /^(audit_entries|counted_tries|api_keys|users)\./.test(column),
      );
      expect(findSecrets(ofPeople.map(([, text]) => text).join('\n'), secrets)).toEqual([]);
      const whole = [dom, ...heard, environment.console.output(), ...tables.map(([, text]) => text)].join(
        '\n',
      );
      expect(whole.match(/ak_(test|live)_\w{20,}/g)).toBeNull();

      // Each call has had a key that expires.
      const keys = await stack.db.sql('select expires_at from api_keys where application_id = $1', [id]);
      expect(keys.length).toBeGreaterThan(0);
      expect(keys.filter((key) => key['expires_at'] === null)).toEqual([]);
      const entries = await stack.db.sql(
        `select action from audit_entries where actor_kind = 'user' and account_id = $1 order by id`,
        [account],
      );
      expect(entries.map(({ action }) => action)).toEqual(['application.try_send', 'application.try_send']);
    },
    JOURNEY_MS_MAX,
  );
});
