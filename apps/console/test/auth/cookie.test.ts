import { describeInBrowser, useBrowser } from '@onecode/testing';
import type { Page } from 'playwright-core';
import { useConsole } from '../console.js';

const server = useConsole();
const browser = useBrowser();

/** Signs somebody up from the page, and asks for the session that this began. @returns both statuses */
function signUp(page: Page): Promise<number[]> {
  return page.evaluate(async () => {
    const up = await fetch('/api/auth/sign-up/email', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        name: 'Ana',
        email: 'ana@example.com',
        password: 'correct horse battery',
        language: 'en',
      }),
    });
    return [up.status, (await fetch('/api/session')).status];
  });
}

describeInBrowser('the session cookie', () => {
  it('is kept by a real browser, for this host alone and out of reach of scripts', async () => {
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(`${server.url}/sign-up`);

    expect(await signUp(page)).toEqual([204, 200]);

    expect(await context.cookies()).toEqual([
      expect.objectContaining({
        name: '__Host-onecode.session_token',
        domain: 'localhost',
        path: '/',
        httpOnly: true,
        secure: true,
        sameSite: 'Strict',
      }),
    ]);
  });
});
