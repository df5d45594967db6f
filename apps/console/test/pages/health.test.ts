import { newId, recordHeartbeat } from '@onecode/store';
import { describeInBrowser, useBrowser } from '@onecode/testing';
import { useConsole } from '../console.js';
import { person, windowOf } from '../people.js';

/** The page refreshes every three seconds. */
const REFRESHED_MS = 15_000;

const server = useConsole();
const browser = useBrowser();

describeInBrowser('the health page', () => {
  it('shows a problem on our side when no worker sweeps, and one in PostgreSQL when nothing can be read, without a reload', async () => {
    const { context, page } = await windowOf(browser, server, await person(server, { staff: 'on_call' }));
    const verdict = page.getByRole('main').getByRole('status');
    const shows = (text: string) => verdict.filter({ hasText: text }).waitFor({ timeout: REFRESHED_MS });
    await page.goto('/staff/health');
    await shows('Problem on our side');
    await shows('No worker has run');
    await page.getByRole('region', { name: 'Last sweep' }).getByText('Failing').waitFor();

    await recordHeartbeat(server.db.database, 'sweep', newId());
    await shows('All clear');

    await server.db.sql('alter table user_sessions rename to away');
    await shows('Problem in PostgreSQL');
    await page.getByText('The statistics below are out of date').waitFor();
    await page.getByRole('region', { name: 'Last sweep' }).waitFor();

    await server.db.sql('alter table away rename to user_sessions');
    await verdict
      .filter({ hasText: 'Problem in PostgreSQL' })
      .waitFor({ state: 'detached', timeout: REFRESHED_MS });
    await context.close();
  });
});
