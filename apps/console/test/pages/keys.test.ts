import { buildAccount, describeInBrowser, useBrowser } from '@onecode/testing';
import type { Page } from 'playwright-core';
import { useConsole } from '../console.js';
import { person, windowOf } from '../people.js';

const server = useConsole();
const browser = useBrowser();

const textOf = async (page: Page, region: string): Promise<string> =>
  (await page.getByRole('region', { name: region, exact: true }).textContent()) ?? '';

/** Everything that the scripts of the page store. */
const storedIn = (page: Page): Promise<string> =>
  page.evaluate<string>(
    'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, location.href, history.state])',
  );

describeInBrowser('from an application to its first send', () => {
  it('a key is shown once with samples, and can be revoked', async () => {
    const account = await buildAccount(server.db.database);
    const developer = await person(server, { accounts: { [account]: 'developer' } });
    const { page, context } = await windowOf(browser, server, developer);
    const addresses: string[] = [];
    page.on('request', (request) => addresses.push(request.url()));

    await page.goto(`/accounts/${account}/applications`);
    await page.getByRole('button', { name: 'Create application' }).click();
    const creation = page.getByRole('dialog', { name: 'Create application' });
    await creation.getByRole('button', { name: 'Create application' }).click();
    await creation.getByText('Fill in this field.').waitFor();
    await creation.getByLabel('Name').fill('Online shop');
    await creation.getByRole('button', { name: 'Create application' }).click();
    await page.getByRole('heading', { name: 'Online shop', level: 1 }).waitFor();

    await page.getByRole('button', { name: 'Create key' }).click();
    const labelling = page.getByRole('dialog', { name: 'Create key' });
    await labelling.getByLabel('Label (optional)').fill('Server');
    await labelling.getByRole('button', { name: 'Create key' }).click();
    const ready = page.getByRole('dialog', { name: 'Your new key' });
    await ready.getByText('It will not be shown again').waitFor();
    const key = await textOf(page, 'API key');
    expect(key).toMatch(/^ak_test_/);

    // Neither a click outside nor Escape closes the dialog.
    await page.mouse.click(5, 5);
    await page.keyboard.press('Escape');
    expect(await ready.isVisible()).toBe(true);

    expect(await textOf(page, 'the key as an environment variable')).toContain(key);
    // The samples read it from the environment; `code-samples` holds that they run.
    expect(await textOf(page, 'sample in curl')).toContain('$ONECODE_API_KEY');

    await ready.getByRole('button', { name: 'I have stored the key' }).click();
    await ready.waitFor({ state: 'hidden' });
    const secret = key.slice('ak_test_'.length + 4, -4);
    const left = [await page.content(), await storedIn(page), addresses.join('\n')].join('\n');
    expect(left).toContain('Server');
    expect(left).not.toContain(secret);

    await page.getByRole('button', { name: 'Revoke Server' }).click();
    const asking = page.getByRole('dialog', { name: 'Revoke this key?' });
    await asking.getByText(/^Requests with the key Server \(ak_test_…/).waitFor();
    await asking.getByRole('button', { name: 'Revoke' }).click();
    await page
      .getByRole('row', { name: /Server/ })
      .getByText('Revoked', { exact: true })
      .last()
      .waitFor();
    expect(await page.getByRole('button', { name: 'Revoke Server' }).count()).toBe(0);
    await context.close();
  });

  it('limits start at 60 and 5 when they are switched on, and each is turned off alone', async () => {
    const account = await buildAccount(server.db.database);
    const developer = await person(server, { accounts: { [account]: 'developer' } });
    const list = `/accounts/${account}/applications`;
    const { id } = (await developer.post<{ id: string }>(list, { name: 'Shop', mode: 'live' })).body;
    const { page, context } = await windowOf(browser, server, developer);
    await page.goto(`${list}/${id}`);
    const save = async (): Promise<unknown> => {
      const saved = page.waitForResponse((response) => response.url().endsWith('/limits'));
      await page.getByRole('button', { name: 'Save limits' }).click();
      expect((await saved).status()).toBe(204);
      return (await developer.get<{ limits: unknown }>(`${list}/${id}`)).body.limits;
    };

    await page.getByRole('switch', { name: 'Limit all sends' }).check();
    await page.getByRole('switch', { name: 'Limit sends per recipient' }).check();
    expect(await save()).toEqual({ perMinute: 60, perRecipientHour: 5 });

    const field = page.getByLabel('Sends per minute');
    await field.fill('');
    await page.getByRole('button', { name: 'Save limits' }).click();
    await page.getByText('Enter a whole number from 1 to 1,000,000.').waitFor();
    await field.fill('90');
    await page.getByRole('switch', { name: 'Limit sends per recipient' }).uncheck();
    expect(await save()).toEqual({ perMinute: 90, perRecipientHour: null });
    await context.close();
  });

  it('a viewer has no controls', async () => {
    const account = await buildAccount(server.db.database);
    const roles = { accounts: { [account]: 'developer' } } as const;
    const developer = await person(server, roles);
    const list = `/accounts/${account}/applications`;
    const { id } = (await developer.post<{ id: string }>(list, { name: 'Shop', mode: 'live' })).body;
    await developer.post(`${list}/${id}/keys`, { label: 'Server' });
    const viewer = await person(server, { accounts: { [account]: 'viewer' } });
    const { page, context } = await windowOf(browser, server, viewer);

    await page.goto(list);
    await page.getByRole('link', { name: 'Shop' }).click();
    await page.getByRole('row', { name: /Server/ }).waitFor();

    const buttons = await page.getByRole('main').getByRole('button').allTextContents();
    expect(buttons.filter((text) => text !== '')).toEqual([]);
    for (const limit of await page.getByRole('switch').all()) expect(await limit.isDisabled()).toBe(true);
    await context.close();
  });
});
