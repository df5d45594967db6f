import {
  buildCaller,
  buildSend,
  buildSender,
  describeInBrowser,
  useBrowser,
  type TestCaller,
} from '@onecode/testing';
import type { Page } from 'playwright-core';
import type { Sender } from '@onecode/store';
import { useConsole } from '../console.js';
import { attempt, report, type } from '../delivery.js';
import { inWindow, person, type TestPerson } from '../people.js';

const PHONE = '+5511912345678';
const MESSAGE = 'wamid.pages';

const server = useConsole();
const browser = useBrowser();
let caller: TestCaller;
let sender: Sender;
let viewer: TestPerson;
beforeAll(async () => {
  const { database } = server.db;
  caller = await buildCaller(database, 'live', { credits: 100 });
  sender = await buildSender(database);
  viewer = await person(server, { accounts: { [caller.accountId]: 'viewer' } });
});

/** Runs `look` on a page of the account as its viewer, with the URLs of all requests so far. */
const open = (path: string, look: (page: Page, asked: readonly string[]) => Promise<void>): Promise<void> =>
  inWindow(browser, server, viewer, async (page) => {
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
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
      await page.getByLabel('Find a send').fill('+55 11 91234-5678');
      await page.getByRole('button', { name: 'Find' }).click();
      await page.getByText('Sends to the number you entered').waitFor();
      await page.getByRole('link', { name: '+55 ••••• 7777' }).waitFor({ state: 'detached' });
      await page.getByRole('link', { name: '+55 ••••• 5678' }).click();

      await page.getByRole('heading', { name: 'Send to +55 ••••• 5678' }).waitFor();
      const timeline = page.getByRole('region', { name: 'Timeline' });
      await timeline.getByText('Attempt 1: WhatsApp accepted the message').waitFor();
      await timeline.getByText(`Sent from ${sender.number}.`).waitFor();
      await page.getByText('Wait for the phone').waitFor();

      // From here on, the page updates without any input.
      await report(database, accepted, { messageId: MESSAGE, status: 'read', failure: null });
      await page.getByText('Wait for the person').waitFor();
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

  it('open a send by its id, and say what the search accepts', async () => {
    const id = await buildSend(server.db.database, caller, { recipient: '+5511944443333' });
    await open('sends', async (page) => {
      await page.getByLabel('Find a send').fill('4444');
      await page.getByRole('button', { name: 'Find' }).click();
      await page.getByText('Enter a send ID, or a full phone number').waitFor();
      await page.getByLabel('Find a send').fill(id.toUpperCase());
      await page.getByRole('button', { name: 'Find' }).click();
      await page.getByRole('heading', { name: 'Send to +55 ••••• 3333' }).waitFor();
    });
  });
});

describeInBrowser('the overview', () => {
  it('counts what was sent, by application, and leads to the first verified code', async () => {
    const newcomer = await buildCaller(server.db.database, 'test', { freeQuota: 7 });
    const reader = await person(server, { accounts: { [newcomer.accountId]: 'viewer' } });
    await inWindow(browser, server, reader, async (page) => {
      await page.goto(`/accounts/${newcomer.accountId}/overview`);
      const steps = page.getByRole('region', { name: 'Get started' });
      await steps.getByText('2 of 4 done').waitFor();
      await page.getByText('7 free sends').waitFor();

      await buildSend(server.db.database, newcomer, { recipient: PHONE, code: '000000' });
      await steps.getByText('3 of 4 done').waitFor();
      await page.reload();
      await page
        .getByRole('region', { name: 'By application' })
        .getByRole('row', { name: /Test test 1/ })
        .waitFor();
      await page.getByRole('table', { name: 'Sends by outcome' }).waitFor({ state: 'attached' });
    });
  });
});
