import { buildCaller, describeInBrowser, useBrowser } from '@onecode/testing';
import type { Locator, Page } from 'playwright-core';
import { useConsole } from '../console.js';
import { inWindow, person } from '../people.js';

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
