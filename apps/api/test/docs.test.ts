import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Problem, PROBLEMS } from '@onecode/domain';
import { describeInBrowser, useBrowser } from '@onecode/testing';
import express, { type NextFunction, type Request, type Response } from 'express';
import type { Browser, Page } from 'playwright-core';
import { openApiDocument } from '../src/contract.js';
import { docsRouter } from '../src/docs.js';

const PAGES = ['/docs', '/docs/errors'];

let server: Server;
let base: string;

beforeAll(async () => {
  const app = express();
  app.use(docsRouter({ baseUrl: 'https://codes.test', docsUrl: 'https://codes.test/a&<b>/docs' }));
  app.use((error: unknown, _request: Request, response: Response, _next: NextFunction) => {
    response.status(error instanceof Problem ? PROBLEMS[error.code].status : 500).end();
  });
  server = createServer(app).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(() => new Promise((resolve) => server.close(resolve)));

describe('the documentation over HTTP', () => {
  it('serves the contract with the public address', async () => {
    const response = await fetch(`${base}/openapi.json`);
    expect(response.headers.get('content-type')).toMatch(/^application\/json/);
    expect(response.headers.get('cache-control')).toBe('public, max-age=300');
    expect(await response.json()).toEqual(
      openApiDocument('https://codes.test', 'https://codes.test/a&<b>/docs'),
    );
  });

  it.each([...PAGES, '/openapi.json', '/docs/assets/swagger-ui-bundle.js', '/docs/assets/docs.css'])(
    '%s allows nothing from outside and nothing inline',
    async (path) => {
      const { status, headers } = await fetch(base + path);
      expect(status).toBe(200);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('cache-control')).toMatch(/^public, max-age=\d+$/);
      const policy = headers.get('content-security-policy') ?? '';
      expect(policy).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self';/);
      expect(policy).not.toMatch(/unsafe|https?:|\*/);
    },
  );

  it.each(['GET', 'HEAD'])('answers %s', async (method) => {
    expect((await fetch(`${base}/docs/errors`, { method })).status).toBe(200);
  });

  it('refuses other methods and names the allowed ones', async () => {
    const response = await fetch(`${base}/openapi.json`, { method: 'POST' });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });

  it('leads from /docs/ to /docs by a relative address, so that a path prefix survives', async () => {
    const response = await fetch(`${base}/docs/`, { redirect: 'manual' });
    expect([response.status, response.headers.get('location')]).toEqual([308, '../docs']);
  });

  it.each([
    '/docs/assets/package.json',
    '/docs/assets/swagger-ui-bundle.js.map',
    '/docs/assets/..%2f..%2f..%2fpackage.json',
    '/docs/assets/',
    '/docs/index.html',
  ])('serves no file that the pages do not need: %s', async (path) => {
    expect((await fetch(base + path)).status).toBe(404);
  });

  it('explains every problem code at its anchor, and escapes what it is given', async () => {
    const page = await (await fetch(`${base}/docs/errors`)).text();
    expect(
      [...page.matchAll(/ id="([^"]*)"/g)]
        .map(([, id]) => id)
        .toSorted((a, b) => String(a).localeCompare(String(b))),
    ).toEqual(Object.keys(PROBLEMS).toSorted());
    expect(page).not.toMatch(/<script|<b>| style=| on[a-z]+=/);
    expect(page).toContain('https://codes.test/a&#38;&#60;b&#62;/docs/errors#rate_limited');
  });
});

describeInBrowser('the documentation in Chromium', () => {
  const browser = useBrowser();

  /** Opens a page, and collects its requests to other origins and its errors. */
  async function open(
    path: string,
    options: Parameters<Browser['newPage']>[0] = {},
  ): Promise<{ page: Page; complaints: string[] }> {
    const page = await browser.newPage(options);
    const complaints: string[] = [];
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) complaints.push(`console: ${message.text()}`);
    });
    page.on('pageerror', (error) => complaints.push(`error: ${error.message}`));
    page.on('requestfailed', (request) => complaints.push(`failed: ${request.url()}`));
    page.on('request', (request) => {
      if (!request.url().startsWith('data:') && new URL(request.url()).origin !== base)
        complaints.push(`elsewhere: ${request.url()}`);
    });
    await page.exposeFunction('complain', (text: string) => complaints.push(text));
    await page.addInitScript(
      `addEventListener('securitypolicyviolation', (e) => complain('policy: ' + e.violatedDirective + ' ' + e.sourceFile + ':' + e.lineNumber))`,
    );
    await page.goto(base + path);
    return { page, complaints };
  }

  /** Opens the reference and unfolds everything in it. */
  async function openUnfolded(options?: Parameters<Browser['newPage']>[0]): ReturnType<typeof open> {
    const opened = await open('/docs', options);
    const { page } = opened;
    await page.waitForSelector('.opblock >> nth=3');
    for (const block of await page.locator('.opblock-summary-control').all()) await block.click();
    for (const model of await page.locator('.models .json-schema-2020-12-expand-deep-button').all())
      await model.click();
    await page.waitForSelector('.opblock.is-open .responses-table >> nth=3');
    await page.getByText('idempotency_key_reused').first().waitFor();
    return opened;
  }

  it('shows the four operations without errors or requests to other origins, and never asks for a key', async () => {
    const { page, complaints } = await openUnfolded();
    const shown = await page.locator('.opblock-summary-path').allInnerTexts();
    const plain = shown.map((path) => path.replace(/\u200b/g, ''));
    expect(plain).toEqual([
      '/v1/send',
      '/v1/send/{id}/status',
      '/v1/send/{id}/verify',
      '/v1/signup-settings',
    ]);
    expect(await page.getByRole('heading', { name: /^(Warning|Errors?)$/ }).count()).toBe(0);
    expect(
      await page.locator('.try-out, .authorize, .authorization__btn, input[type=password]').count(),
    ).toBe(0);
    expect(complaints).toEqual([]);
    await page.close();
  });

  it('leads from the reference to the errors and back', async () => {
    const { page, complaints } = await open('/docs');
    await page.getByRole('link', { name: 'Errors' }).click();
    await page.waitForURL(`${base}/docs/errors`);
    await page.getByRole('link', { name: 'rate_limited' }).click();
    expect(await page.locator('.problem:target h3').innerText()).toContain('rate_limited');
    await page.getByRole('link', { name: 'Reference' }).click();
    await page.waitForURL(`${base}/docs`);
    await page.waitForSelector('.opblock >> nth=3');
    expect(complaints).toEqual([]);
    await page.close();
  });

  it.each([
    ['the reference', openUnfolded],
    ['the page of errors', (options: object) => open('/docs/errors', options)],
  ])('%s fits the screen of a phone', async (_name, opening) => {
    const { page } = await opening({ viewport: { width: 360, height: 740 }, isMobile: true });
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360);
    await page.close();
  });

  it.each(PAGES)('%s is light on dark where the reader prefers it', async (path) => {
    const { page, complaints } = await open(path, { colorScheme: 'dark' });
    await page.waitForSelector(path === '/docs' ? '.opblock >> nth=3' : '.problem >> nth=20');
    for (const [selector, property, dark] of [
      ['body', 'backgroundColor', true],
      [path === '/docs' ? '.opblock-summary-path' : '.problem p', 'color', false],
      [path === '/docs' ? '.info__description p' : '.problem dd', 'color', false],
    ] as const) {
      const colour = await page
        .locator(selector)
        .first()
        .evaluate((node, name) => {
          const view = (
            node as unknown as {
              ownerDocument: { defaultView: { getComputedStyle(n: unknown): Record<string, string> } };
            }
          ).ownerDocument.defaultView;
          return view.getComputedStyle(node)[name] ?? '';
        }, property);
      const [red = 0, green = 0, blue = 0] = colour.match(/\d+/g)?.map(Number) ?? [];
      expect((red + green + blue) / 3 < 128).toBe(dark);
    }
    expect(complaints).toEqual([]);
    await page.close();
  });
});
