import { buildAccount, buildCaller, buildSend, describeInBrowser, useBrowser } from '@onecode/testing';
import { useConsole } from '../console.js';
import { inWindow, person } from '../people.js';

const server = useConsole();
const browser = useBrowser();

describeInBrowser('the list of sends', () => {
  it('is filtered by country and by language with the controls of the page', async () => {
    const { database } = server.db;
    const account = await buildAccount(database, { freeQuota: 10 });
    const live = await buildCaller(database, 'live', { id: account });
    const [brazilian, portuguese] = [await buildSend(database, live), await buildSend(database, live)];
    await server.db.sql(`update sends set country = 'BR', locale = 'pt-BR' where id = $1`, [brazilian]);
    await server.db.sql(`update sends set country = 'PT', locale = 'en' where id = $1`, [portuguese]);
    const viewer = await person(server, { accounts: { [account]: 'viewer' } });
    await inWindow(browser, server, viewer, async (page) => {
      await page.goto(`/accounts/${account}/sends`);
      const links = page.getByRole('table').getByRole('link');
      const choose = async (filter: string, option: string): Promise<void> => {
        await page.getByRole('combobox', { name: filter }).click();
        await page.getByRole('option', { name: option, exact: true }).click();
      };
      const shows = async (id: string): Promise<void> => {
        await page.locator(`a[href$="/sends/${id}"]`).waitFor();
        await links.nth(1).waitFor({ state: 'detached' });
      };
      await links.nth(1).waitFor();
      await choose('Country', 'Portugal (PT)');
      await shows(portuguese);
      await page.getByRole('button', { name: 'Clear filters' }).click();
      await links.nth(1).waitFor();
      await choose('Message language', 'Português');
      await shows(brazilian);
    });
  });
});
