import { readFileSync } from 'node:fs';
import {
  buildCaller,
  closedPort,
  ConsoleEnvironment,
  describeIf,
  describeInBrowser,
  STACK_START_MS_MAX,
  until,
  type TestCaller,
} from '@onecode/testing';
import type { Page } from 'playwright-core';
import { Processes } from '../../scripts/processes/processes.mjs';
import { findPrometheus, startPrometheus } from '../../scripts/services/prometheus.mjs';
import { panelsOf, type DashboardJson } from '../prometheus/dashboard.js';

const LOOK_MS_MAX = 120_000;
const dashboard = JSON.parse(readFileSync('deploy/grafana/onecode.json', 'utf8')) as DashboardJson;
const rows = dashboard.panels.filter(({ type }) => type === 'row').map(({ title }) => title);
/** What did not happen here: nothing is wrong, nothing failed, Meta limited nothing, and Redis lost no job. */
const EMPTY = new Set([
  'Findings',
  'Failed sends per second, by reason',
  'Failed, by country, per second',
  'Senders that cannot send',
  'Faults and throttles, per minute',
]);

const programs = findPrometheus();
describeIf(programs !== null)('the Metrics page over a real Prometheus', () => {
  describeInBrowser('draws the dashboard’s file', () => {
    const processes = Processes.throwaway();
    let environment: ConsoleEnvironment;
    let prometheus: { pid: number; exited: Promise<string> };
    let caller: TestCaller;
    let page: Page;
    beforeAll(async () => {
      const port = await closedPort();
      environment = await ConsoleEnvironment.open({ env: { PROMETHEUS_URL: `http://127.0.0.1:${port}` } });
      const { stack } = environment;
      await stack.addSender();
      caller = await buildCaller(stack.db.database, 'live', { credits: 1_000 });
      const [api, worker] = stack.metrics.map((address) => new URL(address).host) as [string, string];
      prometheus = await startPrometheus(programs!.prometheus, {
        processes,
        rules: `${process.cwd()}/deploy/prometheus/alerts.yml`,
        jobs: { 'onecode-api': [api], 'onecode-worker': [worker] },
        port,
      });
      page = await environment.windowOf(await environment.createUser('--staff on-call'));
      await page.setViewportSize({ width: 1_440, height: 900 });
    }, STACK_START_MS_MAX);
    afterAll(async () => {
      await environment.close();
      await processes.stop();
    }, STACK_START_MS_MAX);

    const panel = (title: string) => page.getByRole('region', { name: title, exact: true });
    /** Sends a code and verifies it. */
    async function sendAndVerify(nth: number): Promise<void> {
      const { stack } = environment;
      const to = `+55119871${String(nth).padStart(5, '0')}`;
      const { id } = await stack.create(caller.key, { to });
      await stack.untilStatus(caller.key, id, 'delivered');
      const { code } = await stack.simulator.message(to);
      await stack.verify(caller.key, id, code);
    }

    it(
      'with every panel, none in error, and values where there was traffic',
      async () => {
        let sent = 0;
        await until(
          'values in every panel with traffic',
          async () => {
            // Rates need values that grow while Prometheus looks.
            await Promise.all([sendAndVerify(++sent), sendAndVerify(++sent)]);
            await page.goto('/staff/metrics?range=15m');
            await page.getByRole('heading', { level: 2, name: rows[0]! }).waitFor();
            await page.locator('main [aria-busy=true]').first().waitFor({ state: 'detached' });
            const drawn = await page.locator('[data-panel]').count();
            return drawn > 0 && (await emptyPanels()).every((title) => EMPTY.has(title));
          },
          LOOK_MS_MAX,
        );
        expect(await page.getByRole('heading', { level: 2 }).allInnerTexts()).toEqual(rows);
        const titles = panelsOf(dashboard).map(({ title }) => title);
        expect((await page.getByRole('heading', { level: 3 }).allInnerTexts()).toSorted()).toEqual(
          titles.toSorted(),
        );
        expect(await page.locator('[data-notice=fault]').allInnerTexts()).toEqual([]);
        for (const { title, type } of panelsOf(dashboard))
          if (type === 'timeseries' && !EMPTY.has(title)) {
            expect([
              title,
              await panel(title).locator('path.recharts-area-curve, path.recharts-curve').count(),
            ]).not.toEqual([title, 0]);
            expect([title, await panel(title).getByRole('listitem').first().innerText()]).toEqual([
              title,
              expect.stringMatching(/\d/),
            ]);
          }
        expect(await panel('Findings').innerText()).toContain('None');
        expect(await panel('Releases').innerText()).toMatch(/^Releases\s+2\s+\d+\.\d+\.\d+/);
        expect(await panel('Live sends per second').innerText()).toMatch(/requested [\d.]+\/s/);
        expect(await panel('Memory').innerText()).toMatch(/\d MiB/);
      },
      LOOK_MS_MAX,
    );

    /** The panels that say that they have no data. */
    async function emptyPanels(): Promise<string[]> {
      const notices = page.locator('[data-panel]').filter({ has: page.locator('[data-notice=none]') });
      return notices.getByRole('heading', { level: 3 }).allInnerTexts();
    }

    it(
      'and asks its own server alone, for a panel and a range',
      async () => {
        const asked: string[] = [];
        page.on('request', (request) => asked.push(request.url().replace(environment.url, '')));
        await page.getByRole('radiogroup', { name: 'Time range' }).getByText('6 h', { exact: true }).click();
        const count = panelsOf(dashboard).length;
        const ofPanels = (): string[] => asked.filter((url) => url.startsWith('/api/staff/metrics/panel'));
        await until('the other range', () => ofPanels().length >= count);
        expect(new URL(page.url()).search).toBe('?range=6h');
        expect(ofPanels().filter((url) => !/\?id=\d+&range=(?:6h|15m)$/.test(url))).toEqual([]);
        expect(asked.filter((url) => !url.startsWith('/'))).toEqual([]);
      },
      LOOK_MS_MAX,
    );

    it(
      'says in every panel that Prometheus is away when it is, while the rest of the console works',
      async () => {
        process.kill(prometheus.pid, 'SIGTERM');
        await prometheus.exited;
        await until(
          'panels without Prometheus',
          async () => {
            await page.goto('/staff/metrics?range=24h');
            await page.locator('[data-panel="31"]').getByText('Prometheus cannot be reached').waitFor();
            await page.locator('main [aria-busy=true]').first().waitFor({ state: 'detached' });
            return (
              (await page.locator('[data-panel] [data-notice=fault]').count()) === panelsOf(dashboard).length
            );
          },
          LOOK_MS_MAX,
        );
        await page.getByRole('alert').getByText('Check that it runs').waitFor();
        await page.getByRole('link', { name: 'Health' }).click();
        await page.getByRole('main').getByRole('status').waitFor();
        expect(environment.console.output()).toContain('gets no data from Prometheus');
        expect(environment.console.output()).toContain('"fault":"away"');
      },
      LOOK_MS_MAX,
    );
  });
});
