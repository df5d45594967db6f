import {
  buildAccount,
  buildCaller,
  buildSender,
  describeInBrowser,
  fillHistory,
  TEST_NUMBER_PEPPER,
  useBrowser,
} from '@onecode/testing';
import { useConsole } from '../console.js';
import { inWindow, person } from '../people.js';

const server = useConsole();
const browser = useBrowser();

/** Counts the times that the page formats. */
const COUNT_FORMATS = `
  globalThis.formats = 0;
  const format = Object.getOwnPropertyDescriptor(Intl.DateTimeFormat.prototype, 'format');
  Object.defineProperty(Intl.DateTimeFormat.prototype, 'format', { ...format, get() {
    const bound = format.get.call(this);
    return (date) => { globalThis.formats += 1; return bound(date); };
  } });
`;
const ROWS_A_PAGE = 50;
/** One for wide windows, one for phones. */
const TIMES_A_ROW = 2;

describeInBrowser('a long list', () => {
  it.each(['sends', 'ledger'])('of %s renders only the rows that "Show more" adds', async (list) => {
    const account = await buildAccount(server.db.database, { freeQuota: 1_000 });
    const live = await buildCaller(server.db.database, 'live', { id: account });
    const sender = await buildSender(server.db.database);
    await fillHistory(server.db.url, {
      applications: [live],
      senderId: sender.id,
      sends: 400,
      days: 30,
      numberPepper: TEST_NUMBER_PEPPER,
    });
    const viewer = await person(server, { accounts: { [account]: 'viewer' } });
    await inWindow(browser, server, viewer, async (page) => {
      await page.addInitScript(COUNT_FORMATS);
      await page.goto(`/accounts/${account}/${list}`);
      const rows = page.getByRole('table').getByRole('row');
      const showMore = async (pages: number): Promise<unknown> => {
        await page.evaluate('formats = 0');
        await page.getByRole('button', { name: 'Show more' }).click();
        // The heading row counts as well.
        await rows.nth(pages * ROWS_A_PAGE).waitFor();
        return page.evaluate('formats');
      };
      await rows.nth(ROWS_A_PAGE).waitFor();
      // The first two pages are read again every few seconds.
      for (const pages of [2, 3, 4]) await showMore(pages);
      expect(await showMore(5)).toBe(TIMES_A_ROW * ROWS_A_PAGE);
    });
  });
});
