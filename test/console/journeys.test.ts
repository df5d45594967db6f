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

  /** Records every response of the console to this browser. */
  function heardBy(page: Page): string[] {
    const heard: string[] = [];
    page.on('response', (response) => {
      if (response.url().includes('/api/'))
        response.text().then(
          (text) => heard.push(text, JSON.stringify(response.headers())),
          () => undefined,
        );
    });
    return heard;
  }

  it(
    'leads in four clicks from sign-up to a verified live code, and shows a test key, a sample call and the history of the send',
    async () => {
      const { stack } = environment;
      const phone = '+5511987650001';
      const page = await environment.window();
      await page.addInitScript("window.clicks = 0; addEventListener('click', () => window.clicks++, true)");
      await page.goto('/sign-up');
      await page.getByLabel('Your name').fill('Bia Lima');
      await page.getByLabel('Email').fill('bia@example.com');
      await page.getByLabel(/^Password/).fill('correct horse battery');
      await page.getByRole('button', { name: 'Create account' }).click();
      const key = await page.getByRole('group', { name: 'API key', exact: true }).innerText();
      const curl = await page.getByRole('group', { name: 'call with curl' }).innerText();

      const heard = heardBy(page);
      await page.getByLabel('Phone number').fill(phone);
      await page.getByRole('button', { name: 'Send to WhatsApp' }).click();
      const asking = page.getByRole('dialog', { name: `Send a real message to ${phone}?` });
      await asking.getByText('one unit of your balance is used').waitFor();
      await page.keyboard.press('Escape');
      await asking.waitFor({ state: 'hidden' });
      expect(await stack.db.sql("select from sends where mode = 'live'")).toEqual([]);
      await page.getByRole('button', { name: 'Send to WhatsApp' }).click();
      await asking.getByRole('button', { name: 'Send the message' }).click();
      await page.getByText('The code is only in the WhatsApp message.').waitFor();
      const { code } = await stack.simulator.message(phone);
      await page.getByLabel('Code from the message').fill(code);
      await page.getByRole('button', { name: 'Verify' }).click();
      await page.getByText('valid: true', { exact: true }).waitFor();
      // One was for the message that was not sent.
      expect(await page.evaluate('window.clicks')).toBe(4 + 1);
      const secrets = [
        { name: 'the code', value: code },
        { name: 'the number', value: phone.slice(1) },
      ];
      expect(findSecrets([await page.content(), ...heard].join('\n'), secrets)).toEqual([]);

      expect(key).toMatch(/^ak_test_\w+$/);
      expect(curl).toContain(`Authorization: Bearer ${key}`);
      const { stdout } = await promisify(execFile)('sh', ['-c', curl]);
      expect(JSON.parse(stdout)).toMatchObject({ status: 'queued', mode: 'test' });
      await page.reload();
      await page.getByText('A key is shown only once').waitFor();
      expect(await page.content()).not.toContain(key);

      await page.getByRole('link', { name: 'Sends', exact: true }).click();
      await page.getByRole('link', { name: '+55 ••••• 0001' }).click();
      for (const step of [
        'One free send was reserved.',
        'WhatsApp accepted the message',
        /^From \+15550783881 · /,
        'Delivered to the phone',
        'Done: the code was verified',
      ])
        await page.getByText(step).first().waitFor();
      await page.getByRole('link', { name: 'Overview', exact: true }).click();
      await page.getByText('9 free sends').first().waitFor();
    },
    JOURNEY_MS_MAX,
  );

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

  it(
    'shows every page of the navigation to an admin and an operator without an error',
    async () => {
      const users = [
        { user: await environment.createUser({ accountId: account, role: 'admin' }), pages: 12 },
        { user: await environment.createUser({ staff: 'operator' }), pages: 8 },
      ];
      for (const { user, pages } of users) {
        const page = await environment.windowOf(user);
        const errors: string[] = [];
        page.on('pageerror', (error) => errors.push(error.message));
        page.on('console', (message) => {
          if (['error', 'warning'].includes(message.type())) errors.push(message.text());
        });
        // The navigation has no link to this page, so each link leads to another page.
        await page.goto('/profile');
        const title = page.getByRole('main').getByRole('heading', { level: 1 });
        const links = page.getByRole('navigation', { name: 'Main navigation' }).getByRole('link');
        await title.waitFor();
        expect(await links.count()).toBe(pages);
        for (const link of await links.all()) {
          const earlier = await title.elementHandle();
          await link.click();
          await earlier?.waitForElementState('hidden');
          await title.waitFor();
          await page
            .locator('[aria-busy=true], .mantine-Skeleton-root')
            .first()
            .waitFor({ state: 'detached' });
        }
        expect(errors).toEqual([]);
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
