import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { describeInBrowser, until, useBrowser } from '@onecode/testing';
import type { AxeResults } from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { serveDocs, type DocsServer } from './docsServer.js';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const { files } = JSON.parse(readFileSync(new URL('../../docs/dist/site.json', import.meta.url), 'utf8')) as {
  files: string[];
};
const ALL_PAGES = files
  .filter((file) => file.endsWith('.html'))
  .map((file) => `/docs/${file.replace(/(?:index)?\.html$/, '')}`);
/** A page of each kind: the front page, a guide, tables with three columns and with two, a page with many tabs, the errors. */
const KINDS = ['', 'sign-in', 'showing-errors', 'migrate/twilio-verify', 'reference/create-send', 'errors'];
/** An expression for the elements that can be scrolled sideways, except code. */
const SCROLLED =
  `[...document.querySelectorAll('.vp-doc table, .vp-doc .tabs')]` +
  `.filter((e) => e.scrollWidth > e.clientWidth).map((e) => e.outerHTML.slice(0, 200))`;
const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };

let base: string;
let docs: DocsServer;
beforeAll(async () => {
  docs = await serveDocs('https://codes.test', { consoleUrl: 'https://console.test' });
  ({ base } = docs);
});
afterAll(() => docs.close());

describeInBrowser('the documentation in Chromium', () => {
  const browser = useBrowser();

  /** Opens a page, and collects its errors and its requests to other origins. */
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
    page.on('request', (request) => {
      if (!request.url().startsWith('data:') && !request.url().startsWith(base))
        complaints.push(`elsewhere: ${request.url()}`);
    });
    page.on('response', (response) => {
      if (response.status() >= 400) complaints.push(`${response.status()}: ${response.url()}`);
    });
    await page.goto(base + path);
    await ready(page);
    return { page, complaints };
  }

  /** Waits until an expression is true. The page's policy forbids the way in which Playwright's own wait evaluates expressions. */
  const untilTrue = (page: Page, expression: string): Promise<boolean> =>
    until(expression, () => page.evaluate<boolean>(expression));

  /** Waits until the page's scripts are running. */
  const ready = (page: Page): Promise<boolean> =>
    untilTrue(page, `document.querySelector('#app')?.__vue_app__ !== undefined`);

  it.each([
    ['en', '', { colorScheme: 'light' }],
    ['pt-BR', 'pt-br/', { colorScheme: 'dark' }],
    ['pt-BR', 'pt-br/', { ...PHONE, colorScheme: 'light' }],
    ['en', '', { ...PHONE, colorScheme: 'dark' }],
  ] as const)(
    'in %s (%s%j) passes the checks of axe, and fits the width of the screen',
    async (lang, folder, options) => {
      for (const kind of KINDS) {
        const path = `/docs/${folder}${kind}`;
        const { page, complaints } = await open(path, { viewport: { width: 1280, height: 860 }, ...options });
        expect([path, await page.evaluate('document.documentElement.lang')]).toEqual([path, lang]);
        const width = await page.evaluate<number>('document.documentElement.scrollWidth');
        expect([path, width]).toEqual([path, 'viewport' in options ? 390 : 1280]);
        await page.evaluate(AXE);
        const { violations } = await page.evaluate<AxeResults>('axe.run()');
        const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
        expect([path, found]).toEqual([path, []]);
        expect(complaints).toEqual([]);
        await page.close();
      }
    },
  );

  it.each([
    ['a laptop', { viewport: { width: 1280, height: 860 } }],
    ['a phone', PHONE],
  ])(
    'opens every page on %s without an error, a policy violation, a request to another origin, or a hidden table or tab',
    async (_, options) => {
      const { page, complaints } = await open('/docs/', options);
      for (const path of ALL_PAGES) {
        await page.goto(base + path);
        await ready(page);
        expect([path, complaints, await page.evaluate(SCROLLED)]).toEqual([path, [], []]);
      }
      await page.close();
    },
  );

  it('shows whole lines of 80 columns on a laptop, next to the menu and the outline', async () => {
    const { page } = await open('/docs/sign-in', { viewport: { width: 1280, height: 860 } });
    const room = `((pre) => {
      const line = document.createElement('span');
      line.textContent = '0'.repeat(80);
      const code = pre.querySelector('code');
      code.append(line);
      const { paddingLeft, paddingRight } = getComputedStyle(code);
      return pre.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight) - line.getBoundingClientRect().width;
    })(document.querySelector('.vp-doc pre'))`;
    expect(await page.evaluate<number>(room)).toBeGreaterThanOrEqual(0);
    await page.close();
  });

  it('shows tables as cards with column names on a phone', async () => {
    const { page } = await open('/docs/pt-br/polling', PHONE);
    const [cell] = await page.evaluate<string[]>(
      `[...document.querySelectorAll('.vp-doc td:nth-child(2)')].map((e) => getComputedStyle(e, '::before').content)`,
    );
    expect(cell).toBe(`"${await page.locator('.vp-doc th').nth(1).textContent()}"`);
    await page.close();
  });

  it('links each page to the same page in the other language and back, with names in that language', async () => {
    const { page, complaints } = await open('/docs/reference/verify-code');
    const names = (): Promise<string> =>
      page.evaluate(
        `[...document.querySelectorAll('[title], [aria-label], .visually-hidden')]
          .map((e) => e.title || e.ariaLabel || e.textContent).join('; ')`,
      );
    const switchTo = async (language: string, heading: string): Promise<void> => {
      await page.locator('.VPNavBarTranslations button').hover();
      await page.locator('.VPNavBarTranslations').getByText(language).click();
      await page.getByRole('heading', { name: heading, level: 1 }).waitFor();
    };
    await switchTo('Português (Brasil)', 'Verificar um código');
    expect(page.url()).toBe(`${base}/docs/pt-br/reference/verify-code`);
    const english = /Copy Code|Permalink|avigation;|Pager/;
    await until('Portuguese names', async () => !english.test(await names()));
    expect(await names()).toContain('Copiar código');
    await switchTo('English', 'Verify a code');
    await until('English names', async () => (await names()).includes('Main Navigation'));
    expect(complaints).toEqual([]);
    await page.close();
  });

  it('shows the copy button on touch screens', async () => {
    const { page } = await open('/docs/quick-start', PHONE);
    const opacity = `getComputedStyle(document.querySelector('.vp-doc button.copy')).opacity`;
    expect(await page.evaluate(opacity)).toBe('1');
    await page.close();
  });

  it.each(['light', 'dark'] as const)('colours code in the %s colour scheme', async (colorScheme) => {
    const { page } = await open('/docs/sign-in', { colorScheme });
    const coloursOf = (selector: string): Promise<string[]> =>
      page.evaluate(
        `[...new Set([...document.querySelectorAll('${selector}')].map((e) => getComputedStyle(e).color))]`,
      );
    const colours = await Promise.all(
      ['keyword', 'string-expression', 'comment'].map((kind) => coloursOf(`.code-${kind}`)),
    );
    expect(new Set(colours.flat()).size).toBe(3);
    await page.close();
  });

  it.each([
    ['', 'Search', 'idempotency_key_reused', '/docs/errors#idempotency_key_reused'],
    ['', 'Search', 'refund', '/docs/going-live#refunds'],
    ['pt-br/', 'Buscar', 'disjuntor antifraude', '/docs/pt-br/security#pumping'],
  ])('finds pages in its own search (%s)', async (folder, button, words, target) => {
    const { page, complaints } = await open(`/docs/${folder}quick-start`);
    await page.getByRole('button', { name: button, exact: true }).click();
    await page.locator('.VPLocalSearchBox input').fill(words);
    await page.locator(`.VPLocalSearchBox .results a[href="${target}"]`).first().click();
    await page.waitForURL(base + target);
    expect(complaints).toEqual([]);
    await page.close();
  });

  it.each([
    ['', 'Page not found', 'Go to the documentation'],
    ['pt-br/', 'Página não encontrada', 'Ir para a documentação'],
  ])('shows a page with a link to the documentation at /docs/%snothing', async (folder, heading, link) => {
    const { page } = await open(`/docs/${folder}nothing`);
    await page.getByRole('heading', { name: heading }).waitFor();
    expect(await page.getByRole('link', { name: link }).getAttribute('href')).toBe(`/docs/${folder}`);
    await page.close();
  });

  it('scrolls to the description of a problem type', async () => {
    const { page, complaints } = await open('/docs/errors#rate_limited');
    await untilTrue(page, `document.querySelector(':target')?.getBoundingClientRect().top < innerHeight / 2`);
    expect(await page.locator('h3:target').innerText()).toContain('rate_limited');
    expect(complaints).toEqual([]);
    await page.close();
  });

  it('shows the chosen language in all samples, also on the next page', async () => {
    const { page, complaints } = await open('/docs/reference/create-send');
    await page.locator('.vp-code-group').first().getByText('Python', { exact: true }).click();
    await page
      .locator('.vp-block.active, div[class*=language-].active')
      .first()
      .getByText('urllib.request')
      .first()
      .waitFor();
    await page.locator('.VPSidebar').getByText('Verify a code').click();
    await page.getByRole('heading', { name: 'Verify a code', level: 1 }).waitFor();
    await page.locator('div.language-python.active').first().waitFor();
    expect(complaints).toEqual([]);
    await page.close();
  });
});
