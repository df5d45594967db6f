import { grantCredits, changeApplication, setSuspension } from '@onecode/store/accounts';
import { pauseSender } from '@onecode/store/senders';
import {
  buildAccount,
  buildCaller,
  buildSender,
  describeInBrowser,
  TEST_ACTOR,
  useBrowser,
} from '@onecode/testing';
import { useConsole } from '../console.js';
import { person, untilIdle, windowOf } from '../people.js';

const server = useConsole();
const browser = useBrowser();
/** The longest name and reason that the routes accept, as one word. */
const LONG = 'W'.repeat(200);

describeInBrowser('names and reasons of one long word', () => {
  it('fit on the pages that show them, on a phone', async () => {
    const { database } = server.db;
    const account = await buildAccount(database, { name: LONG });
    const { applicationId } = await buildCaller(database, 'test', { id: account });
    await changeApplication(database, TEST_ACTOR, applicationId, { name: LONG });
    await grantCredits(database, TEST_ACTOR, account, 5, LONG, { reference: LONG });
    const sender = await buildSender(database, { owner: { accountId: account, applicationIds: [] } });
    await pauseSender(database, TEST_ACTOR, sender.id, LONG);
    await setSuspension(database, TEST_ACTOR, account, LONG);
    const admin = await person(server, { accounts: { [account]: 'admin' } });
    const operator = await person(server, { staff: 'operator' });
    await server.db.sql('update users set name = $1', [LONG]);
    const ours = [`applications/${applicationId}/tryout`, 'statement', 'team', `senders/${sender.id}`];
    const staffs = [
      ...['', '/overview', '/ledger'].map((page) => `accounts/${account}${page}`),
      `users/${admin.id}`,
      `senders/${sender.id}`,
      'health',
    ];
    const wide: string[] = [];
    for (const [who, paths] of [
      [admin, ours.map((path) => `/accounts/${account}/${path}`)],
      [operator, staffs.map((path) => `/staff/${path}`)],
    ] as const) {
      const { context, page } = await windowOf(browser, server, who, {
        viewport: { width: 390, height: 844 },
      });
      for (const path of paths) {
        await page.goto(path);
        await page.getByText(LONG).first().waitFor();
        await untilIdle(page);
        const overflow = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
        if (overflow > 0) wide.push(path);
      }
      await context.close();
    }
    expect(wide).toEqual([]);
  });
});
