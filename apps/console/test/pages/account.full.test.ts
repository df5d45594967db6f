import { changeAccount, findAccount } from '@onecode/store/accounts';
import { setEventWebhook } from '@onecode/store/mails';
import { applyProviderReport } from '@onecode/store/senders';
import {
  buildAccount,
  buildCaller,
  buildSend,
  buildSender,
  describeInBrowser,
  TEST_ACTOR,
  TEST_SECRET_KEY,
  useBrowser,
} from '@onecode/testing';
import type { Page } from 'playwright-core';
import { useConsole } from '../console.js';
import { attempt, type } from '../delivery.js';
import { inWindow, person, type TestPerson } from '../people.js';
import { daysAgo } from './daysAgo.js';

const server = useConsole();
const browser = useBrowser();
let account: string;
let application: string;
let admin: TestPerson;
let viewer: TestPerson;
beforeAll(async () => {
  account = await buildAccount(server.db.database, { name: 'Loja Azul' });
  const caller = await buildCaller(server.db.database, 'live', { id: account });
  application = caller.applicationId;
  await buildSend(server.db.database, caller);
  admin = await person(server, { accounts: { [account]: 'admin' } });
  viewer = await person(server, { accounts: { [account]: 'viewer' } });
});

const asPerson = (who: TestPerson, use: (page: Page) => Promise<void>) => inWindow(browser, server, who, use);

describeInBrowser('the pages of an account', () => {
  it('show a scheduled deletion everywhere, and let an admin cancel it', async () => {
    await admin.post(`/accounts/${account}/deletion`);
    const shown = (page: Page) => page.getByRole('alert').filter({ hasText: 'will be deleted on' });
    for (const [who, path, names] of [
      [viewer, `/accounts/${account}`, ['Overview', 'Sends', 'Applications', 'Webhook', 'Team']],
      [await person(server, { staff: 'on_call' }), `/staff/accounts/${account}`, []],
    ] as const)
      await asPerson(who, async (page) => {
        await page.goto(names.length === 0 ? path : `${path}/overview`);
        for (const name of names) {
          await page.getByRole('navigation').getByRole('link', { name, exact: true }).click();
          await page.getByRole('heading', { level: 1, name }).waitFor();
          await shown(page).waitFor();
        }
        await shown(page).getByText('an admin of the account can cancel').waitFor();
        expect(await shown(page).getByRole('button').count()).toBe(0);
      });
    await asPerson(admin, async (page) => {
      await page.goto(`/accounts/${account}/ledger`);
      await shown(page).getByRole('button', { name: 'Cancel deletion' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Keep account' }).click();
      await shown(page).waitFor({ state: 'detached' });
    });
    expect((await admin.get(`/accounts/${account}/deletion`)).body).toEqual({ at: null });
  });

  it('change only the edited field of an account’s name and language, and nothing without an edit', async () => {
    const { database } = server.db;
    const renamed = await buildAccount(database, { name: 'Loja Verde' });
    const owner = await person(server, { accounts: { [renamed]: 'admin' } });
    await asPerson(owner, async (page) => {
      const bodies: unknown[] = [];
      page.on('request', (request) => {
        if (request.method() === 'PUT') bodies.push(request.postDataJSON());
      });
      await page.goto(`/accounts/${renamed}/team`);
      const dialog = page.getByRole('dialog');
      const open = () => page.getByRole('button', { name: 'Change name and language' }).click();
      const save = () => dialog.getByRole('button', { name: 'Save' }).click();
      await open();
      await save();
      await dialog.waitFor({ state: 'hidden' });
      expect(bodies).toEqual([]);

      await open();
      await changeAccount(database, TEST_ACTOR, renamed, { language: 'en' });
      await dialog.getByLabel('Name').fill('Loja Roxa');
      await save();
      await dialog.waitFor({ state: 'hidden' });
      expect(bodies).toEqual([{ name: 'Loja Roxa' }]);
      expect(await findAccount(database, renamed)).toMatchObject({ name: 'Loja Roxa', language: 'en' });
    });
  });

  it('show limits as text to viewers', () =>
    asPerson(viewer, async (page) => {
      await page.goto(`/accounts/${account}/applications/${application}`);
      await page.getByRole('region', { name: 'Limits' }).getByText('Sends per minute').waitFor();
      await page.getByRole('region', { name: 'Recycled numbers' }).getByText('Do nothing').waitFor();
      expect(await page.getByRole('main').locator('input').count()).toBe(0);
    }));

  it('show a delivery time below one second as less than one second', () =>
    asPerson(viewer, async (page) => {
      await page.route(/\/overview\?/, async (route) => {
        const response = await route.fetch();
        const body = (await response.json()) as { totals: object };
        const totals = { ...body.totals, sends: 5, deliverySecondsMedian: 0.4, deliverySecondsP95: 1.4 };
        await route.fulfill({ response, json: { ...body, totals } });
      });
      await page.goto(`/accounts/${account}/overview`);
      await page.getByText('< 1 s').waitFor();
      await page.getByText('1.4 s').waitFor();
    }));

  it('show since when a webhook has its address and a template its status', async () => {
    const { database } = server.db;
    await setEventWebhook(database, TEST_ACTOR, TEST_SECRET_KEY, account, 'https://a.example.com/');
    await server.db.sql(`update event_webhooks set set_at = '2026-01-02T03:04:05Z'`);
    await setEventWebhook(database, TEST_ACTOR, TEST_SECRET_KEY, account, 'https://b.example.com/');
    const sender = await buildSender(database, {
      businessAccountId: '77',
      owner: { accountId: account, applicationIds: [] },
    });
    const paused = { template: { name: sender.template, language: 'en', values: { status: 'PAUSED' } } };
    for (const at of ['2026-02-03T04:05:00Z', '2026-03-04T05:06:00Z'])
      await applyProviderReport(database, '77', paused, new Date(at));
    await asPerson(admin, async (page) => {
      await page.goto(`/accounts/${account}/webhook`);
      await page.getByText('https://b.example.com/').waitFor();
      expect(await page.locator('time[datetime^="2026-01-02"]').count()).toBe(0);
      await page.goto(`/accounts/${account}/senders/${sender.id}`);
      const row = page.getByRole('row', { name: /en PAUSED/ });
      await row.locator('time[datetime^="2026-02-03"]').waitFor();
      expect(await row.locator('time[datetime^="2026-03-04"]').count()).toBe(0);
    });
  });

  it('show the number to erase in the dialog', () =>
    asPerson(admin, async (page) => {
      await page.goto(`/accounts/${account}/personal-data`);
      await page.getByPlaceholder('Full phone number').fill('+5511987654321');
      await page.getByRole('button', { name: 'Erase' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByText('Erase this number permanently?').waitFor();
      await dialog.getByText('+5511987654321', { exact: true }).waitFor();
    }));

  it('warn about a ceiling below the units that are used already', async () => {
    const busy = await buildAccount(server.db.database, { credits: 10 });
    const caller = await buildCaller(server.db.database, 'live', { id: busy });
    for (let sends = 0; sends < 3; sends++) await buildSend(server.db.database, caller);
    const owner = await person(server, { accounts: { [busy]: 'admin' } });
    await asPerson(owner, async (page) => {
      await page.goto(`/accounts/${busy}/protection`);
      await page.getByRole('region', { name: 'Ceilings' }).getByRole('button').click();
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('switch', { name: 'Daily ceiling' }).click();
      const warning = dialog.getByRole('status').filter({ hasText: /\S/ });
      await dialog.getByText('3 used today.').waitFor();
      expect(await warning.count()).toBe(0);
      await dialog.getByRole('textbox').fill('2');
      await warning.waitFor();
    });
  });

  it('name each hour of two days once in the overview', async () => {
    await asPerson(viewer, async (page) => {
      const period = `period=custom&from=${daysAgo(1)}&to=${daysAgo(0)}`;
      await page.goto(`/accounts/${account}/overview?${period}`);
      const table = page.getByRole('table', { name: 'Sends by outcome' });
      await table.waitFor({ state: 'attached' });
      expect(new Set(await table.getByRole('rowheader').allTextContents()).size).toBe(48);
    });
  });

  it('link the share of messages that never arrived to their sends', async () => {
    const { database } = server.db;
    const caller = await buildCaller(database, 'live', { credits: 3 });
    const sender = await buildSender(database);
    const [lost, verified, waiting] = [
      await buildSend(database, caller),
      await buildSend(database, caller, { code: '734192' }),
      await buildSend(database, caller),
    ];
    for (const id of [lost, verified, waiting])
      await attempt(database, id, sender, { kind: 'accepted', messageId: `wamid.${id}` });
    await type(database, verified, '734192');
    await server.db.sql(
      `update sends set created_at = created_at - interval '1 hour', expires_at = now() - interval '1 minute' where id = $1`,
      [lost],
    );
    const reader = await person(server, { accounts: { [caller.accountId]: 'viewer' } });
    await asPerson(reader, async (page) => {
      await page.goto(`/accounts/${caller.accountId}/overview`);
      await page.getByRole('link', { name: /^Never delivered 100\.0% ?1/ }).click();
      await page.locator(`a[href$="${lost}"]`).waitFor();
      // The heading row counts as well.
      expect(await page.getByRole('table').getByRole('row').count()).toBe(2);
    });
  });

  it('offer senders, webhooks and personal data as areas of the audit log', () =>
    asPerson(admin, async (page) => {
      await page.goto(`/accounts/${account}/audit`);
      await page.getByRole('combobox', { name: 'Area' }).click();
      for (const name of ['Senders', 'Webhooks', 'Personal data'])
        await page.getByRole('option', { name, exact: true }).waitFor();
    }));

  it('keep the language that the user menu has changed when the profile is saved', async () => {
    const reader = await person(server, { accounts: { [account]: 'viewer' } });
    await asPerson(reader, async (page) => {
      await page.goto('/profile');
      await page.getByRole('button', { name: 'User menu' }).click();
      await page.getByRole('menuitemradio', { name: 'Português' }).click();
      await page.getByRole('heading', { level: 1, name: 'Perfil e segurança' }).waitFor();
      await page.getByRole('textbox', { name: 'Nome' }).fill('Ana Lima');
      await page.getByRole('button', { name: 'Salvar', exact: true }).click();
      await page.getByText('Perfil salvo.').waitFor();
      expect((await reader.get('/session')).body.user).toMatchObject({ name: 'Ana Lima', language: 'pt-BR' });
      await page.getByRole('combobox', { name: 'Idioma' }).click();
      await page.getByRole('option', { name: 'English' }).click();
      await page.getByRole('button', { name: 'Salvar', exact: true }).click();
      await page.getByText('Profile saved.').waitFor();
    });
    expect((await reader.get('/session')).body.user).toMatchObject({ name: 'Ana Lima', language: 'en' });
  });
});
