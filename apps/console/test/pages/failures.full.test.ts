import { buildAccount, describeInBrowser, useBrowser } from '@onecode/testing';
import type { Page, Route } from 'playwright-core';
import { useConsole } from '../console.js';
import { inWindow, person } from '../people.js';

const server = useConsole();
const browser = useBrowser();
let account: string;
beforeAll(async () => {
  account = await buildAccount(server.db.database);
});

const refuse = (status: number, code: string) => (route: Route) =>
  route.fulfill({ status, contentType: 'application/problem+json', body: JSON.stringify({ code }) });

const FAILURES = [
  ['403', refuse(403, 'forbidden'), 'Your role does not allow this', false],
  ['500', refuse(500, 'internal_error'), 'There was an error on our side', true],
  [
    'a 502 of a proxy',
    (route: Route) => route.fulfill({ status: 502, body: '<h1>Bad gateway</h1>' }),
    'There was an error on our side',
    true,
  ],
  ['no answer', (route: Route) => route.abort(), 'The server did not respond', true],
] as const;

const asViewer = async (use: (page: Page) => Promise<void>): Promise<void> =>
  inWindow(browser, server, await person(server, { accounts: { [account]: 'admin' } }), use);

describeInBrowser('a page that cannot be read', () => {
  it.each(FAILURES)(
    'because of %s shows the reason, and offers a retry if that can help',
    (_, answer, text, mayRetry) =>
      asViewer(async (page) => {
        await page.route('**/api/accounts/*/ledger*', answer);
        await page.goto(`/accounts/${account}/ledger`);
        const alert = page.getByRole('alert').filter({ hasText: text });
        await alert.waitFor();
        expect(await page.locator('[aria-busy=true]').count()).toBe(0);
        const retry = alert.getByRole('button', { name: 'Try again' });
        expect(await retry.count()).toBe(mayRetry ? 1 : 0);
        if (!mayRetry) return;

        await page.unroute('**/api/accounts/*/ledger*');
        await retry.click();
        await page.getByText('No entries yet').or(page.getByRole('table')).first().waitFor();
        expect(await alert.count()).toBe(0);
      }),
  );

  it('shows all other parts, and a notice, when only an optional part cannot be read', () =>
    asViewer(async (page) => {
      await page.route('**/balance-alert', (route) => route.abort());
      await page.goto(`/accounts/${account}/ledger`);
      const notice = page.getByRole('alert').filter({ hasText: 'Part of this page could not be loaded' });
      await notice.getByText('The server did not respond').waitFor();
      await page.getByText('Credits').first().waitFor();

      await page.unroute('**/balance-alert');
      await notice.getByRole('button', { name: 'Try again' }).click();
      await notice.waitFor({ state: 'detached' });
    }));

  it('because of an ended session redirects to the sign-in page', () =>
    asViewer(async (page) => {
      await page.goto(`/accounts/${account}/ledger`);
      await page.getByRole('heading', { level: 1, name: 'Ledger' }).waitFor();
      await page.context().clearCookies();
      await page.getByRole('link', { name: 'Team' }).click();
      await page.waitForURL('/sign-in');
    }));
});

describeInBrowser('a sign-out that fails', () => {
  it('shows the reason, and does not change the page', () =>
    asViewer(async (page) => {
      await page.goto(`/accounts/${account}/ledger`);
      await page.route('**/auth/sign-out', (route) => route.abort());
      await page.getByRole('button', { name: 'User menu' }).click();
      await page.getByRole('menuitem', { name: 'Sign out' }).click();
      await page.getByText('The server did not respond').waitFor();
      await page.getByRole('heading', { level: 1, name: 'Ledger' }).waitFor();
    }));
});
