import { describeInBrowser, useBrowser } from '@onecode/testing';
import type { Request } from 'playwright-core';
import { useConsole } from '../console.js';
import { person, windowOf } from '../people.js';

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
