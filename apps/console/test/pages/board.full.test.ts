import { buildCaller, buildSend, describeInBrowser, until, useBrowser } from '@onecode/testing';
import type { Page } from 'playwright-core';
import { useConsole } from '../console.js';
import { openTestQueues, type TestQueues } from '../queues.js';
import { person, windowOf } from '../people.js';

const server = useConsole();
const browser = useBrowser();
let jobs: TestQueues;
beforeAll(async () => {
  jobs = await openTestQueues(server.prefix);
});
afterAll(async () => {
  await jobs.close();
});

/** Opens the list of failed deliveries; `complaints` collects the errors of the browser. */
async function failedDeliveries(
  staff: 'on_call' | 'operator',
): Promise<{ page: Page; complaints: string[]; close: () => Promise<void> }> {
  const { context, page } = await windowOf(browser, server, await person(server, { staff }));
  const complaints: string[] = [];
  page.on('console', (message) => void (message.type() === 'error' && complaints.push(message.text())));
  page.on('pageerror', (error) => void complaints.push(error.message));
  await page.goto('/board/queue/deliver?status=failed');
  await page.getByText('Error ECONNREFUSED').first().waitFor();
  return { page, complaints, close: () => context.close() };
}

describeInBrowser('the pages of the queue board', () => {
  it('let an operator remove failed jobs, and offer no retry', async () => {
    const id = await jobs.failedJob();
    const { page, complaints, close } = await failedDeliveries('operator');
    expect(await page.getByRole('button', { name: /retry/i }).count()).toBe(0);
    await page.getByRole('button', { name: 'Clean all' }).click();
    await page.getByRole('button', { name: 'Confirm' }).click();
    await until('no job', async () => (await jobs.queues.of('deliver').getJob(id)) === undefined);
    expect(complaints).toEqual([]);
    await close();
  });

  it('show on-call staff why jobs failed, without controls', async () => {
    await jobs.failedJob();
    const { page, complaints, close } = await failedDeliveries('on_call');
    expect(await page.getByRole('main').getByRole('button').allTextContents()).toEqual(['No workers']);
    await page.goto('/board');
    await page.getByRole('main').getByRole('link', { name: 'deliver' }).waitFor();
    expect(complaints).toEqual([]);
    await close();
  });

  it('link a job to its send', async () => {
    const caller = await buildCaller(server.db.database, 'live', { credits: 1 });
    const sendId = await buildSend(server.db.database, caller);
    await jobs.failedJob(sendId);
    const { page, complaints, close } = await failedDeliveries('on_call');
    const link = page.locator(`a[href="/staff/sends/${sendId}"]`);
    expect(await link.textContent()).toBe('Open the send');
    const [send] = await Promise.all([page.waitForEvent('popup'), link.click()]);
    await send.getByText(sendId).first().waitFor();
    expect(new URL(send.url()).pathname).toBe(`/staff/sends/${sendId}`);
    expect(complaints).toEqual([]);
    await close();
  });

  it('are linked from the health page, have the same style, and link back', async () => {
    await jobs.failedJob();
    const { page, complaints, close } = await failedDeliveries('on_call');
    await page.goto('/staff/health');
    const isDark = (): Promise<boolean> =>
      page.evaluate(
        `(([r, g, b]) => +r + +g + +b < 384)(getComputedStyle(document.body).backgroundColor.match(/\\d+/g))`,
      );
    for (const [scheme, expected] of [
      ['Dark', true],
      ['Light', false],
    ] as const) {
      await page.getByRole('button', { name: 'User menu' }).click();
      await page.getByRole('menuitemradio', { name: scheme }).click();
      await page.getByRole('link', { name: 'Queue board', exact: true }).click();
      await page.getByRole('main').getByRole('link', { name: 'deliver' }).waitFor();
      expect(await isDark()).toBe(expected);
      await page.getByRole('link', { name: 'Back to the console' }).click();
      await page.waitForURL('**/staff/health');
    }
    expect(complaints).toEqual([]);
    await close();
  });
});
