import { buildCaller, describeInBrowser, useBrowser } from '@onecode/testing';
import type { Locator, Page, Request } from 'playwright-core';
import { useConsole } from '../console.js';
import { inWindow, person, windowOf } from '../people.js';

describe('a double click', () => {
  const server = useConsole();
  const browser = useBrowser();

  /** Two clicks in one task: quicker than a page that is drawn again with its button disabled. */
  const clickTwice = (button: Locator): Promise<void> =>
    button.evaluate((element) => {
      for (let clicks = 0; clicks < 2; clicks++) (element as { click?(): void }).click?.();
    });

  /** The requests of changes to paths with this end. */
  function changesOf(page: Page, end: string): string[] {
    const seen: string[] = [];
    page.on('request', (request) => {
      if (request.method() !== 'GET' && request.url().endsWith(end)) seen.push(request.url());
    });
    return seen;
  }

  describeInBrowser('a double click without a gap', () => {
    it('sends one code', async () => {
      const { accountId, applicationId } = await buildCaller(server.db.database, 'test');
      const developer = await person(server, { accounts: { [accountId]: 'developer' } });
      await inWindow(browser, server, developer, async (page) => {
        const sends = changesOf(page, '/sends');
        await page.goto(`/accounts/${accountId}/applications/${applicationId}/tryout`);
        await clickTwice(page.getByRole('main').locator('form [type=submit]').first());
        await page.getByRole('main').getByText('POST /v1/send').first().waitFor();
        expect(sends).toHaveLength(1);
      });
    });

    it('makes one change, and shows one notification', async () => {
      const operator = await person(server, { staff: 'operator' });
      await inWindow(browser, server, operator, async (page) => {
        const holds = changesOf(page, '/staff/holds');
        await page.goto('/staff/holds');
        await page.getByRole('button', { name: 'Hold all live delivery' }).click();
        const dialog = page.getByRole('dialog');
        await dialog.getByLabel('Reason').fill('a drill');
        await clickTwice(dialog.getByRole('button', { name: 'Hold all live delivery' }));
        await page.getByRole('heading', { name: 'All live delivery is on hold' }).waitFor();
        expect(holds).toHaveLength(1);
      });
    });
  });
});

describe('the sign-in page', () => {
  const server = useConsole();
  const browser = useBrowser();

  const BYTES_MAX = 250_000;
  const REQUESTS_MAX = 12;

  describeInBrowser('the first page of a visitor', () => {
    it('loads only the sign-in page without a session, and returns to the requested page after it', async () => {
      const who = await person(server, { staff: 'operator' });
      const context = await browser.newContext({ locale: 'pt-BR', baseURL: server.url });
      const page = await context.newPage();
      const sizes: Promise<number>[] = [];
      const measure = (request: Request): unknown =>
        sizes.push(request.sizes().then((size) => size.responseBodySize + size.responseHeadersSize));
      page.on('requestfinished', measure);
      await page.goto('/staff/settings?from=a-mail');
      await page.getByRole('heading', { level: 1, name: 'Entrar' }).waitFor();
      await page.waitForLoadState('networkidle');
      page.off('requestfinished', measure); // the size of a later request would be refused when the window is closed

      const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
      expect(sizes.length).toBeLessThanOrEqual(REQUESTS_MAX);
      expect(bytes).toBeLessThanOrEqual(BYTES_MAX);

      await page.getByRole('textbox', { name: 'E-mail' }).fill(who.email);
      await page.getByRole('textbox', { name: 'Senha' }).fill('correct horse battery');
      await page.getByRole('button', { name: 'Entrar', exact: true }).click();
      await page.waitForURL('/staff/settings?from=a-mail');

      await page.goto('/profile');
      await page
        .getByRole('cell', { name: 'this computer' })
        .or(page.getByRole('cell', { name: 'este computador' }))
        .waitFor();
      await context.close();
    });

    it('is the requested page with a session', async () => {
      const { context, page } = await windowOf(browser, server, await person(server, { staff: 'operator' }));
      await page.goto('/staff/settings');
      await page.getByRole('heading', { level: 1, name: 'Settings' }).waitFor();
      await context.close();
    });
  });
});
