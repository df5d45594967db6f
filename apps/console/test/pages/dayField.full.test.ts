import { buildCaller, buildSend, describeInBrowser, until, useBrowser } from '@onecode/testing';
import { useConsole } from '../console.js';
import { inWindow, person } from '../people.js';

const server = useConsole();
const browser = useBrowser();

describeInBrowser('a day in the filters of a page', () => {
  it.each(['sends?time=custom', 'overview?period=custom', 'audit'])(
    'can be typed, and is requested only when its year is complete: %s',
    async (path) => {
      const caller = await buildCaller(server.db.database, 'live', { credits: 1 });
      await buildSend(server.db.database, caller);
      const admin = await person(server, { accounts: { [caller.accountId]: 'admin' } });
      await inWindow(browser, server, admin, async (page) => {
        const refused: string[] = [];
        page.on('response', (response) => {
          if (response.status() === 422) refused.push(response.url());
        });
        await page.goto(`/accounts/${caller.accountId}/${path}`);
        const from = page.locator('input[type=date]').first();
        await from.focus();
        await page.keyboard.type('11202026', { delay: 50 });
        await until('the day in the URL', async () => page.url().includes('from=2026-11-20'));
        expect(await from.inputValue()).toBe('2026-11-20');
        expect(refused).toEqual([]);
      });
    },
  );
});
