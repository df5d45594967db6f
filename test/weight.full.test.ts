import {
  buildCaller,
  buildSender,
  ConsoleEnvironment,
  describeInBrowser,
  fillHistory,
  STACK_START_MS_MAX,
  TEST_NUMBER_PEPPER,
} from '@onecode/testing';
import type { Page } from 'playwright-core';

describeInBrowser('a first visit', () => {
  let service: ConsoleEnvironment;
  beforeAll(async () => {
    service = await ConsoleEnvironment.open({ workers: 0 });
  }, STACK_START_MS_MAX);
  afterAll(() => service.close());

  /** Measures the first load of a page until it shows this heading and its charts, and has no pending requests. */
  async function weigh(
    page: Page,
    url: string,
    heading: string,
    { charts = false } = {},
  ): Promise<{ bytes: number; requests: number }> {
    const network = await page.context().newCDPSession(page);
    await network.send('Network.enable');
    const weight = { bytes: 0, requests: 0 };
    network.on('Network.requestWillBeSent', ({ request }) => {
      if (!request.url.startsWith('data:')) weight.requests += 1;
    });
    network.on('Network.loadingFinished', ({ encodedDataLength }) => {
      weight.bytes += encodedDataLength;
    });
    await page.goto(url);
    await page.getByRole('heading', { level: 1, name: heading }).waitFor();
    if (charts) await page.locator('svg rect').first().waitFor({ state: 'attached' });
    await page.waitForLoadState('networkidle');
    return weight;
  }

  it.each([
    ['en-US', 'Sign in'],
    ['pt-BR', 'Entrar'],
  ])('to the sign-in page (%s) takes at most 250 kB in 12 requests', async (locale, heading) => {
    const { bytes, requests } = await weigh(await service.window({ locale }), '/sign-in', heading);
    expect(bytes).toBeLessThanOrEqual(250_000);
    expect(requests).toBeLessThanOrEqual(12);
  });

  it('to the overview takes at most 450 kB in 25 requests', async () => {
    const { database, url } = service.stack.db;
    const caller = await buildCaller(database, 'live');
    const { accountId } = caller;
    const { id: senderId } = await buildSender(database);
    await fillHistory(url, {
      applications: [caller],
      senderId,
      sends: 100,
      days: 3,
      numberPepper: TEST_NUMBER_PEPPER,
    });
    const signedIn = await service.windowOf(await service.createUser({ accountId, role: 'viewer' }));
    const page = await service.window({ storageState: await signedIn.context().storageState() });
    const { bytes, requests } = await weigh(page, `/accounts/${accountId}/overview`, 'Overview', {
      charts: true,
    });
    expect(bytes).toBeLessThanOrEqual(450_000);
    expect(requests).toBeLessThanOrEqual(25);
  });

  it('to the documentation takes at most 230 kB in 20 requests', async () => {
    const page = await service.window();
    const { bytes, requests } = await weigh(page, `${service.stack.apis[0]}/docs/`, 'Onecode');
    expect(bytes).toBeLessThanOrEqual(230_000);
    expect(requests).toBeLessThanOrEqual(20);
  });
});
