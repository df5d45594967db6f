import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import {
  buildAccount,
  ConsoleEnvironment,
  describeInBrowser,
  findSecrets,
  STACK_START_MS_MAX,
} from '@onecode/testing';
import { heardBy } from './heardBy.js';

const JOURNEY_MS_MAX = 90_000;

describeInBrowser('the console with the processes behind it', () => {
  let environment: ConsoleEnvironment;
  let account: string;
  beforeAll(async () => {
    environment = await ConsoleEnvironment.open({ env: { LOG_LEVEL: 'trace' } });
    const { stack } = environment;
    await stack.addSender();
    account = await buildAccount(stack.db.database, { name: 'Loja' });
  }, STACK_START_MS_MAX);
  afterAll(() => environment.close());

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
      const logs = environment.console.output() + stack.output();
      expect(findSecrets(logs, [...secrets, { name: 'the key', value: key }])).toEqual([]);
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
});
