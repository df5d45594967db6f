import { createPresence } from '@onecode/store/operations';
import type { Sender } from '@onecode/store/senders';
import {
  buildAccount,
  buildCaller,
  buildSend,
  buildSender,
  describeInBrowser,
  fillHistory,
  refuseRequests,
  TEST_NUMBER_PEPPER,
  until,
  useBrowser,
  type TestCaller,
} from '@onecode/testing';
import { createHash, randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import type { LedgerView } from '../../src/features/ledger/view.js';
import { useConsole } from '../console.js';
import { attempt, report, type } from '../delivery.js';
import { inWindow, person, type TestPerson } from '../people.js';

const server = useConsole();
const browser = useBrowser();

/** The page refreshes every three seconds. */
const REFRESHED_MS = 15_000;

describeInBrowser('the health page', () => {
  it('shows without a reload that no worker is running, and that PostgreSQL has a problem', async () => {
    await inWindow(browser, server, await person(server, { staff: 'on_call' }), async (page) => {
      const verdict = page.getByRole('main').getByRole('status');
      const shows = (text: string) => verdict.filter({ hasText: text }).waitFor({ timeout: REFRESHED_MS });
      await page.goto('/staff/health');
      await shows('Problem on our side');
      await shows('No worker is running');
      await page.getByRole('region', { name: 'Last sweep' }).getByText('Failing').waitFor();

      const now = performance.now();
      const lastRuns = { deliver: now, sweep: now };
      await (
        await createPresence(server.db.database, { kind: 'worker', release: '0.9.0', lastRuns })
      ).report();
      await shows('All clear');

      await server.db.sql('alter table user_sessions rename to away');
      await shows('Problem in PostgreSQL');
      await page.getByText('The statistics below are out of date').waitFor();
      await page.getByText(/checks are fine/).click();
      await page.getByRole('region', { name: 'Last sweep' }).waitFor();

      await server.db.sql('alter table away rename to user_sessions');
      await verdict
        .filter({ hasText: 'Problem in PostgreSQL' })
        .waitFor({ state: 'detached', timeout: REFRESHED_MS });
    });
  });
});

describeInBrowser('the page of the ledger', () => {
  it('lists all entries down to the first, filters them by kind, and links the monthly statement', async () => {
    const caller = await buildCaller(server.db.database, 'live', { freeQuota: 3 });
    const { accountId } = caller;
    const sender = await buildSender(server.db.database);
    await fillHistory(server.db.url, {
      applications: [caller],
      senderId: sender.id,
      sends: 60,
      days: 3,
      numberPepper: TEST_NUMBER_PEPPER,
    });
    const viewer = await person(server, { accounts: { [accountId]: 'viewer' } });
    const ledger = `/accounts/${accountId}/ledger`;
    const all = (await viewer.get<LedgerView>(`${ledger}?limit=100`)).body;
    expect(all.next).toBeNull();
    await inWindow(browser, server, viewer, async (page) => {
      // The heading row counts as well.
      const rows = page.getByRole('table').getByRole('row');

      await page.goto(ledger);
      await rows.nth(50).waitFor();
      expect(await rows.count()).toBe(51);
      await page.getByRole('button', { name: 'Show more' }).click();
      await rows.nth(all.entries.length).waitFor();
      expect(await rows.count()).toBe(all.entries.length + 1);
      expect(await page.getByRole('button', { name: 'Show more' }).count()).toBe(0);
      expect(await rows.last().textContent()).toMatch(/Granted.*\+/);
      // Entries show seconds, on a phone too.
      await page.setViewportSize({ width: 390, height: 844 });
      expect(await rows.last().innerText()).toMatch(/\d:\d\d:\d\d/);

      await page.getByRole('combobox', { name: 'Entry type' }).click();
      await page.getByRole('option', { name: 'Granted' }).click();
      const granted = all.entries.filter(({ kind }) => kind === 'granted').length;
      await until('the granted alone', async () => (await rows.count()) === granted + 1);
      expect(await page.getByRole('link', { name: /^[0-9a-f-]{36}$/ }).count()).toBe(0);

      await page.getByRole('link', { name: 'Monthly statement' }).click();
      await page.getByRole('heading', { name: /^Statement: / }).waitFor();
      await page.getByRole('cell', { name: 'Closing balance' }).waitFor();
      await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
      expect(await page.getByRole('button').count()).toBe(0);
      expect(await page.evaluate('getComputedStyle(document.querySelector("main")).backgroundColor')).toBe(
        'rgb(255, 255, 255)',
      );
    });
  });
});

describeInBrowser('the page of refused requests', () => {
  it('shows why requests were refused, and finds a request by its id and by its idempotency key', async () => {
    const { database } = server.db;
    const caller = await buildCaller(database, 'live');
    const idempotencyKeyHash = createHash('sha256').update('ação').digest();
    const ids = [randomUUID(), randomUUID()] as const;
    await refuseRequests(database, caller, 'idempotency_key_reused', [
      { requestId: ids[0], status: 409, detail: 'Reused.', ageMs: 60_000, idempotencyKeyHash },
    ]);
    await refuseRequests(database, caller, 'invalid_recipient', [
      { requestId: ids[1], fields: ['to'], count: 30 },
    ]);
    const who = await person(server, { accounts: { [caller.accountId]: 'viewer' } });
    await inWindow(browser, server, who, async (page, asked) => {
      await page.goto(`/accounts/${caller.accountId}/overview`);
      await page.getByRole('link', { name: 'Requests' }).click();

      await page.getByText('Requests with your keys that the API refused').waitFor();
      const table = page.getByRole('table', { name: 'Refused requests, newest first' });
      const reasons = page.getByRole('group', { name: 'Reasons' });
      // The group of the newest refusal is open.
      await table.getByText('29 similar requests followed').waitFor();
      await reasons.getByRole('button', { name: /30 requests/, expanded: true }).waitFor();
      await reasons.getByRole('button', { name: /Reused/, expanded: false }).click();
      await table.getByText(ids[1]).waitFor({ state: 'hidden' });
      await table.getByText(ids[0]).waitFor();
      expect(page.url()).toContain('code=idempotency_key_reused');
      const docs = await reasons.getByRole('link', { name: 'remedy of idempotency' }).getAttribute('href');
      expect(docs).toMatch(/\/docs\/errors#idempotency_key_reused$/);
      await reasons.getByRole('button', { name: /30 requests/ }).click();
      await table.getByText(ids[1]).waitFor();

      const search = page.getByLabel('Find a request');
      for (const [text, found, other] of [
        [ids[1], ids[1], ids[0]],
        ['ação', ids[0], ids[1]],
      ] as const) {
        await search.fill(` ${text} `);
        await search.press('Enter');
        await table.getByText(other).waitFor({ state: 'hidden' });
        await table.getByText(found).waitFor();
        expect(await table.getByRole('row').count()).toBe(2);
      }
      // A key can contain anything, even a phone number.
      expect([page.url(), ...asked].filter((url) => decodeURIComponent(url).includes('ação'))).toEqual([]);
      await search.fill('no such key');
      await search.press('Enter');
      await page.getByText('No refused requests found').waitFor();
      await page.getByRole('button', { name: 'Show all requests' }).click();
      await reasons.waitFor();
    });
  });
});

describe('an account with sends', () => {
  const PHONE = '+5511912345678';
  const MESSAGE = 'wamid.pages';

  let caller: TestCaller;
  let sender: Sender;
  let viewer: TestPerson;
  beforeAll(async () => {
    const { database } = server.db;
    caller = await buildCaller(database, 'live', { credits: 100 });
    sender = await buildSender(database);
    viewer = await person(server, { accounts: { [caller.accountId]: 'viewer' } });
  });

  /** Runs `look` on a page of the account as its viewer. */
  const open = (path: string, look: (page: Page, asked: readonly string[]) => Promise<void>): Promise<void> =>
    inWindow(browser, server, viewer, async (page, asked) => {
      await page.goto(`/accounts/${caller.accountId}/${path}`);
      await look(page, asked);
    });

  describeInBrowser('the pages of sends', () => {
    it('find a send by phone number and follow it live', async () => {
      const { database } = server.db;
      const id = await buildSend(database, caller, { recipient: PHONE, code: '734192' });
      await buildSend(database, caller, { recipient: '+5511988887777' });
      const accepted = await attempt(database, id, sender, { kind: 'accepted', messageId: MESSAGE });

      await open('sends', async (page, asked) => {
        await page.getByRole('link', { name: '+55 ••••• 7777' }).waitFor();
        await page.getByLabel('Find a send').fill('\u202a+55\u00a011 91234\u20115678\u202c');
        await page.getByRole('button', { name: 'Find' }).click();
        await page.getByText('Sends to the number you entered').waitFor();
        await page.getByRole('link', { name: '+55 ••••• 7777' }).waitFor({ state: 'detached' });
        await page.getByRole('link', { name: '+55 ••••• 5678' }).click();

        await page.getByRole('heading', { name: 'Send to +55 ••••• 5678' }).waitFor();
        const timeline = page.getByRole('region', { name: 'Timeline' });
        await timeline.getByText('WhatsApp accepted the message', { exact: true }).waitFor();
        await timeline.getByText(`From ${sender.number}`).waitFor();
        await page.getByText('Wait for the phone').waitFor();

        // After this line, the page updates without any input.
        await report(database, accepted, { messageId: MESSAGE, status: 'read', failure: null });
        await page.getByText('Waiting for the code').waitFor();
        await type(database, id, '000000');
        await timeline.getByText('Wrong code: 4 guesses left').waitFor();
        await type(database, id, '734192');
        await page.getByText('Done: the code was verified').waitFor();

        for (const url of asked) expect(decodeURIComponent(url)).not.toContain('91234');
        expect(await page.content()).not.toContain('91234');
        expect(await page.content()).not.toContain('734192');
      });
    });

    it('keep filters in the URL, and clear them', async () => {
      await open('sends?status=failed', async (page) => {
        await page.getByRole('heading', { name: 'No matching sends' }).waitFor();
        await page.getByRole('button', { name: 'Clear filters' }).click();
        await page.getByRole('link', { name: /^\+55/ }).first().waitFor();
        expect(new URL(page.url()).search).toBe('');
      });
    });

    it('open a send by its id, and show what the search accepts', async () => {
      const id = await buildSend(server.db.database, caller, { recipient: '+5511944443333' });
      await open('sends', async (page) => {
        await page.getByLabel('Find a send').fill('44443');
        await page.getByRole('button', { name: 'Find' }).click();
        await page.getByText('Enter a send ID, a full phone number').waitFor();
        await page.getByLabel('Find a send').fill(id.toUpperCase());
        await page.getByRole('button', { name: 'Find' }).click();
        await page.getByRole('heading', { name: 'Send to +55 ••••• 3333' }).waitFor();
      });
    });
  });

  describeInBrowser('the overview', () => {
    it('shows the first steps until a code is verified, and then the outcomes with a link to the sends', async () => {
      const newcomer = await buildCaller(server.db.database, 'test', { freeQuota: 7 });
      const reader = await person(server, { accounts: { [newcomer.accountId]: 'viewer' } });
      await inWindow(browser, server, reader, async (page) => {
        await page.goto(`/accounts/${newcomer.accountId}/overview`);
        const steps = page.getByRole('region', { name: 'Get started' });
        await steps.getByRole('link', { name: 'Create a live application' }).waitFor();
        await page.getByText('7 free sends').waitFor();

        const send = await buildSend(server.db.database, newcomer, { recipient: PHONE, code: '000000' });
        expect(await type(server.db.database, send, '000000')).toBe(true);
        await steps.waitFor({ state: 'detached' });
        await page.reload();
        await page.getByRole('table', { name: 'Sends by outcome' }).waitFor({ state: 'attached' });
        // Three parts of each day's bar, and nothing left of those drawn before the chart had its width.
        const bars = page.locator('main svg[height] rect:not([width="0"])');
        await bars.first().waitFor({ state: 'attached' });
        expect(await page.locator('main svg rect').count()).toBe(3 * 7);
        // With one application, a table would repeat the totals.
        expect(await page.getByRole('region', { name: 'By application' }).count()).toBe(0);
        await page.getByRole('link', { name: /^Sends 1/ }).click();
        await page.getByRole('link', { name: '+55 ••••• 5678' }).waitFor();
      });
    });

    it('is requested before the applications are read, and shows no mode until the mode is known', async () => {
      await buildSend(server.db.database, caller);
      await inWindow(browser, server, viewer, async (page, asked) => {
        let release = (): void => {};
        const released = new Promise<void>((resolve) => (release = resolve));
        await page.route('**/applications', async (route) => {
          await released;
          await route.continue();
        });
        const answered = page.waitForResponse((response) => response.url().includes('/overview?'));
        await page.goto(`/accounts/${caller.accountId}/overview`);
        expect(await (await answered).json()).toMatchObject({ mode: 'live' });
        await page.getByText(/^\d+ credits$/).waitFor();
        expect(await page.getByRole('radiogroup').count()).toBe(0);
        expect(await page.getByText('Test', { exact: true }).count()).toBe(0);
        release();
        await page.getByRole('radiogroup').first().waitFor();
        await page.getByRole('region', { name: 'Sends by outcome' }).waitFor();
        expect(asked.filter((url) => /\/overview\?.*mode=/.test(url))).toEqual([]);
      });
    });
  });
});

describeInBrowser('the page of an application', () => {
  const textOf = async (page: Page, region: string): Promise<string> =>
    (await page.getByRole('group', { name: region, exact: true }).textContent()) ?? '';

  /** Everything that the scripts of the page store. */
  const storedIn = (page: Page): Promise<string> =>
    page.evaluate<string>(
      'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, location.href, history.state])',
    );

  it('shows a new key once, with samples, and revokes it', async () => {
    const account = await buildAccount(server.db.database);
    const developer = await person(server, { accounts: { [account]: 'developer' } });
    await inWindow(browser, server, developer, async (page, asked) => {
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
      // The samples read it from the environment; `code-samples` checks that they run.
      expect(await textOf(page, 'sample in curl')).toContain('$ONECODE_API_KEY');

      await ready.getByRole('button', { name: 'I have stored the key' }).click();
      await ready.waitFor({ state: 'hidden' });
      const secret = key.slice('ak_test_'.length + 4, -4);
      const left = [await page.content(), await storedIn(page), asked.join('\n')].join('\n');
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
    });
  });

  it('starts the limits at 60 and 5 when they are switched on, and turns off each separately', async () => {
    const account = await buildAccount(server.db.database);
    const developer = await person(server, { accounts: { [account]: 'developer' } });
    const list = `/accounts/${account}/applications`;
    const { id } = (await developer.post<{ id: string }>(list, { name: 'Shop', mode: 'live' })).body;
    await inWindow(browser, server, developer, async (page) => {
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
    });
  });

  it('has no controls for a viewer', async () => {
    const account = await buildAccount(server.db.database);
    const roles = { accounts: { [account]: 'developer' } } as const;
    const developer = await person(server, roles);
    const list = `/accounts/${account}/applications`;
    const { id } = (await developer.post<{ id: string }>(list, { name: 'Shop', mode: 'live' })).body;
    await developer.post(`${list}/${id}/keys`, { label: 'Server' });
    const viewer = await person(server, { accounts: { [account]: 'viewer' } });
    await inWindow(browser, server, viewer, async (page) => {
      await page.goto(list);
      await page.getByRole('link', { name: 'Shop' }).click();
      await page.getByRole('row', { name: /Server/ }).waitFor();

      const buttons = await page.getByRole('main').getByRole('button').allTextContents();
      expect(buttons.filter((text) => text !== '')).toEqual([]);
      for (const limit of await page.getByRole('switch').all()) expect(await limit.isDisabled()).toBe(true);
    });
  });
});
