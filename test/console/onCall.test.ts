import { ConsoleEnvironment, describeInBrowser, STACK_START_MS_MAX } from '@onecode/testing';
import type { Page } from 'playwright-core';

const LOOK_MS_MAX = 60_000;

/** The number of filter fields of each page. */
const FILTERS: Readonly<Record<string, number>> = { accounts: 2, audit: 1 };

const PAGES = ['health', 'metrics', 'accounts', 'accounts/ACCOUNT', 'senders', 'holds', 'settings', 'audit'];

describeInBrowser('staff on call', () => {
  let environment: ConsoleEnvironment;
  let page: Page;
  let account: string;
  const changes: string[] = [];
  beforeAll(async () => {
    environment = await ConsoleEnvironment.open();
    const { stack } = environment;
    account = String((await stack.onecode('account create --name Acme --credits 5'))['id']);
    await stack.makeKey(account, 'live');
    await stack.addSender();
    await stack.onecode(`hold set account ${account} --reason pumped`);
    page = await environment.windowOf(await environment.createUser('--staff on-call'));
    page.on('request', (request) => {
      if (request.method() !== 'GET') changes.push(`${request.method()} ${new URL(request.url()).pathname}`);
    });
  }, STACK_START_MS_MAX);
  afterAll(() => environment.close());

  it.each(PAGES)(
    'see all of %s and can change nothing: no button sends a change',
    async (name) => {
      const address = `/staff/${name.replace('ACCOUNT', account)}`;
      await page.goto(address);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.waitForLoadState('networkidle');
      const pressable = page
        .getByRole('main')
        .locator('button:enabled, input[type=checkbox]:enabled, [role=switch]:enabled');
      const count = await pressable.count();
      for (let at = 0; at < count; at++) {
        const one = pressable.nth(at);
        if (!(await one.isVisible())) continue;
        await one.click();
        // A dialog that it opened must offer no way to submit.
        for (const inside of await page.getByRole('dialog').locator('button[type=submit]:enabled').all())
          await inside.click();
        await page.goto(address);
        await page.getByRole('heading', { level: 1 }).waitFor();
        await page.waitForLoadState('networkidle');
      }
      expect(changes).toEqual([]);
      // The only fields left are filters.
      const fields = page.getByRole('main').locator('input:visible:enabled:not([readonly])');
      expect(await fields.count()).toBe(FILTERS[name] ?? 0);
    },
    LOOK_MS_MAX,
  );

  it(
    'see the queue board without its buttons',
    async () => {
      await page.goto('/board/queue/deliver');
      await page.getByText('deliver').first().waitFor();
      const names = (await page.getByRole('button').allInnerTexts()).join('|');
      expect(names).not.toMatch(/retry|clean|pause|promote|empty|obliterate|add job/i);
      expect(changes).toEqual([]);
    },
    LOOK_MS_MAX,
  );
});
