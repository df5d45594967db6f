import {
  buildCaller,
  buildSender,
  describeInBrowser,
  fillHistory,
  until,
  useBrowser,
} from '@onecode/testing';
import type { LedgerView } from '../../src/features/ledger/view.js';
import { useConsole } from '../console.js';
import { person, windowOf } from '../people.js';

const server = useConsole();
const browser = useBrowser();

describeInBrowser('the page of the ledger', () => {
  it('lists entries to the very first, and filters them by kind', async () => {
    const { accountId, applicationId } = await buildCaller(server.db.database, 'live', { freeQuota: 3 });
    const sender = await buildSender(server.db.database);
    await fillHistory(server.db.url, {
      accountId,
      applications: [{ id: applicationId, mode: 'live' }],
      senderId: sender.id,
      sends: 60,
      days: 3,
    });
    const viewer = await person(server, { accounts: { [accountId]: 'viewer' } });
    const ledger = `/accounts/${accountId}/ledger`;
    const all = (await viewer.get<LedgerView>(`${ledger}?limit=100`)).body;
    expect(all.next).toBeNull();
    const { page, context } = await windowOf(browser, server, viewer);
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

    await page.getByRole('radiogroup').getByText('Granted').click();
    const granted = all.entries.filter(({ kind }) => kind === 'granted').length;
    await until('the granted alone', async () => (await rows.count()) === granted + 1);
    expect(await page.getByRole('link', { name: /^[0-9a-f-]{36}$/ }).count()).toBe(0);
    await context.close();
  });
});
