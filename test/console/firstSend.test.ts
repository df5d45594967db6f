import { ConsoleEnvironment, describeInBrowser, STACK_START_MS_MAX, until } from '@onecode/testing';
import type { Page } from 'playwright-core';

const JOURNEY_MS_MAX = 90_000;

describeInBrowser('from nothing to a verified code, with the console and the API', () => {
  let environment: ConsoleEnvironment;
  beforeAll(async () => {
    environment = await ConsoleEnvironment.open();
    await environment.stack.addSender();
  }, STACK_START_MS_MAX);
  afterAll(() => environment.close());

  /** Creates an application of this mode and a key on the pages. @returns the key */
  async function makeKey(page: Page, name: string, mode: 'Test' | 'Live'): Promise<string> {
    await page.getByRole('link', { name: 'Applications', exact: true }).click();
    await page.getByRole('button', { name: 'Create application' }).click();
    const creation = page.getByRole('dialog', { name: 'Create application' });
    await creation.getByLabel('Name').fill(name);
    await creation.getByRole('radio', { name: mode }).check();
    await creation.getByRole('button', { name: 'Create application' }).click();
    await page.getByRole('heading', { name, level: 1 }).waitFor();
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click();
    const ready = page.getByRole('dialog', { name: 'Your new key' });
    const key = (await ready.getByRole('region', { name: 'API key', exact: true }).textContent()) ?? '';
    await ready.getByRole('button', { name: 'I have stored the key' }).click();
    await ready.waitFor({ state: 'hidden' });
    return key;
  }

  it(
    'sign up, create an application and a key, send, see the send and its timeline, verify, see it counted',
    async () => {
      const { stack } = environment;
      const page = await environment.window();
      await page.goto('/');
      await page.getByRole('link', { name: 'Create an account' }).click();
      await page.getByLabel('Your name').fill('Ana Souza');
      await page.getByLabel('Company or project').fill('Loja Azul');
      await page.getByLabel('Email').fill('ana@example.com');
      await page.getByLabel(/^Password/).fill('correct horse battery');
      await page.getByRole('button', { name: 'Create account' }).click();
      await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
      await page.getByText('10 free sends').first().waitFor();

      const key = await makeKey(page, 'Online shop', 'Live');
      expect(key).toMatch(/^ak_live_/);
      const { id } = await stack.create(key, { to: '+5511987654321', locale: 'en' });
      await stack.untilStatus(key, id, 'delivered');

      await page.getByRole('link', { name: 'Sends', exact: true }).click();
      const row = page.getByRole('row', { name: /4321/ });
      await row.getByText('Delivered').waitFor();
      expect(await page.content()).not.toContain('987654321');
      await row.getByRole('link').click();
      await page.getByRole('heading', { name: /^Send to \+55 .*4321$/, level: 1 }).waitFor();
      for (const step of [
        'One free send was reserved.',
        'Sent from +15550783881.',
        /WhatsApp accepted the message/,
        'Delivered to the phone',
      ])
        await page.getByText(step).first().waitFor();

      const { code } = await stack.simulator.message('+5511987654321');
      expect(await stack.verify(key, id, '0000')).toMatchObject({ valid: false, attempts_left: 4 });
      expect(await stack.verify(key, id, code)).toMatchObject({ valid: true, verification: 'verified' });
      // The page refreshes itself.
      await page.getByText('4 guesses left').waitFor();
      await page.getByText('Done: the code was verified').waitFor();
      expect(await page.content()).not.toContain(code);

      await page.getByRole('link', { name: 'Overview', exact: true }).click();
      await page.getByText('9 free sends').first().waitFor();
      // The balance and the statistics come from two requests.
      await until('the send in the statistics', async () => {
        const statistics = await page.getByRole('main').innerText();
        return /Sends\s+1\b/.test(statistics) && /Verified\s+100%/.test(statistics);
      });

      await page.getByRole('navigation').getByRole('link', { name: 'Ledger', exact: true }).click();
      await page.getByRole('row', { name: /Reserved/ }).waitFor();
      await page.getByRole('row', { name: /Granted/ }).waitFor();
    },
    JOURNEY_MS_MAX,
  );

  it(
    'a key is replaced by another without a failed request',
    async () => {
      const { stack } = environment;
      const account = await stack.onecode('account create --name Rotation --credits 1000');
      const page = await environment.windowOf(
        await environment.createUser(`--account ${account['id']} --role developer`),
      );
      const old = await makeKey(page, 'Rotating', 'Test');

      // A caller that requests all the time, each time with the key in its configuration.
      const configuration = { key: old };
      const statuses: Record<string, number[]> = { old: [], new: [] };
      let calling = true;
      const caller = (async () => {
        while (calling) {
          const { key } = configuration;
          const { status } = await stack.request('POST', '/v1/send', { key, body: { to: '+5511987650001' } });
          statuses[key === old ? 'old' : 'new']!.push(status);
        }
      })();

      await page.getByRole('button', { name: 'Create key' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click();
      const ready = page.getByRole('dialog', { name: 'Your new key' });
      configuration.key =
        (await ready.getByRole('region', { name: 'API key', exact: true }).textContent()) ?? '';
      await ready.getByRole('button', { name: 'I have stored the key' }).click();
      await ready.waitFor({ state: 'hidden' });

      const row = page.getByRole('row', { name: new RegExp(`${old.slice(-4)}\\b`) });
      await row.getByRole('button', { name: /^Revoke/ }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
      await row.getByText('Revoked').last().waitFor();
      expect((await stack.request('GET', '/v1/send/x/status', { key: configuration.key })).status).toBe(404);
      calling = false;
      await caller;
      expect(new Set([...statuses['old']!, ...statuses['new']!])).toEqual(new Set([202]));
      expect(statuses['old']!.length).toBeGreaterThan(0);
      expect(statuses['new']!.length).toBeGreaterThan(0);
    },
    JOURNEY_MS_MAX,
  );
});
