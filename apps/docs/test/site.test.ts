import { existsSync, readFileSync } from 'node:fs';
import { PROBLEMS } from '@onecode/domain';
import { parse } from 'yaml';
import { plainMarkdown } from '../src/markdownTwins.js';
import { GROUPS } from '../src/navigation.js';
import { BASE } from '../src/site.js';
import { readCatalogue } from '../src/translations.js';

const DIST = new URL('../dist/', import.meta.url);
const { files } = JSON.parse(readFileSync(new URL('site.json', DIST), 'utf8')) as {
  files: string[];
};
const read = (file: string): string => readFileSync(new URL(file, DIST), 'utf8');
const pages = files.filter((file) => file.endsWith('.html'));
const ofLanguage = (folder: string): string[] =>
  pages
    .filter((file) => file.startsWith('pt-br/') === (folder !== ''))
    .map((file) => file.slice(folder.length));

it('the site has the same pages in both languages', () => {
  expect(ofLanguage('pt-br/')).toEqual(ofLanguage(''));
});

it('the menu has every page of the site, and no other', () => {
  const listed = GROUPS.flatMap(({ pages }) => pages.map(([path]) => path.replace(/\/$/, '/index')));
  expect(['index', ...listed].map((path) => `${path}.html`).toSorted()).toEqual(ofLanguage('').toSorted());
});

it('the reference shows every schema of the contract on a page of responses or requests', () => {
  const { schemas } = (
    parse(readFileSync(new URL('../../api/openapi.yaml', import.meta.url), 'utf8')) as {
      components: { schemas: Record<string, unknown> };
    }
  ).components;
  const shown = [...read('reference/objects.md').matchAll(/^## (\w+)$/gm)].map(([, name]) => name);
  expect([...shown, 'CreateSend', 'VerifyCode', 'ProblemCode'].toSorted()).toEqual(
    Object.keys(schemas).toSorted(),
  );
});

describe('the code of guides', () => {
  const pagesWithCode = ofLanguage('').filter((file) => !/^(?:reference|errors)/.test(file));
  const blocks = (page: string): string[] =>
    read(page.replace('.html', '.md')).match(/^```[\s\S]*?^```$/gm) ?? [];
  const comments = (page: string): string[] =>
    blocks(page).flatMap((block) => block.match(/\/\*\* .*? \*\/|""".+?"""|(?<=^| )(?:\/\/|#) .*$/gm) ?? []);

  it.each(pagesWithCode)('of %s is also in the Portuguese page, with comments in Portuguese', (page) => {
    expect(blocks(`pt-br/${page}`)).toHaveLength(blocks(page).length);
    expect(comments(`pt-br/${page}`)).toHaveLength(comments(page).length);
    expect(comments(page).filter((one) => comments(`pt-br/${page}`).includes(one))).toEqual([]);
  });

  it('contains every translated text', () => {
    const code = pagesWithCode.flatMap(blocks).join('\n');
    expect([...readCatalogue('pt-BR-code').keys()].filter((text) => !code.includes(text))).toEqual([]);
  });
});

/** Returns the anchors of a Markdown file's headings, as GitHub makes them. */
const headingsOf = (file: URL): string[] =>
  [...readFileSync(file, 'utf8').matchAll(/^#+ (.*)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-'),
  );

describe('links', () => {
  const anchors = new Map(
    pages.map((file) => [file, new Set([...read(file).matchAll(/ id="([^"]*)"/g)].map(([, id]) => id))]),
  );

  it.each(pages)('of %s lead to pages and anchors that exist', (file) => {
    const broken = [...read(file).matchAll(/<a [^>]*href="([^"]*)"/g)].flatMap(([, href = '']) => {
      if (href.startsWith('https://')) return [];
      const { pathname, hash } = new URL(
        href,
        `https://site.test${BASE}${file.replace(/(?:index)?\.html$/, '')}`,
      );
      if (!pathname.startsWith(BASE)) return [href];
      const target = `${pathname.slice(BASE.length).replace(/(^|\/)$/, '$1index')}.html`;
      const known = anchors.get(target);
      const isKnown = known?.has(decodeURIComponent(hash.slice(1))) ?? false;
      return known === undefined || (hash !== '' && !isKnown) ? [href] : [];
    });
    expect(broken).toEqual([]);
  });

  it('of pages as Markdown lead to pages as Markdown, and to headings by their text', () => {
    for (const page of pages.map((file) => file.replace('.html', '.md'))) {
      const links = [...read(page).matchAll(/\]\(((?:\.[^)#]*)?)(?:#([^)]*))?\)/g)];
      const broken = links.filter(([, path = '', anchor]) => {
        const target = path === '' ? new URL(page, DIST) : new URL(path, new URL(page, DIST));
        return !existsSync(target) || (anchor !== undefined && !headingsOf(target).includes(anchor));
      });
      expect([page, broken.map(([link]) => link)]).toEqual([page, []]);
    }
  });

  it('of llms.txt lead to all Markdown pages except the front pages', () => {
    const linked = [...read('llms.txt').matchAll(/\/docs\/([^)]*\.md)\)/g)].map(([, path]) => path);
    const expected = files.filter((file) => file.endsWith('.md') && !/^(?:pt-br\/)?index\.md$/.test(file));
    expect(linked.toSorted()).toEqual(expected.toSorted());
  });
});

it.each(pages)('%s has a Markdown version without syntax of the site generator', (file) => {
  const twin = read(file.replace('.html', '.md'));
  expect(twin).not.toMatch(/^---$|^:::|\{#/m);
  expect(twin).toMatch(/^# /);
});

it.each(['errors.html', 'pt-br/errors.html'])('%s has every problem code at its anchor', (file) => {
  const ids = [...read(file).matchAll(/<h3 id="([^"]*)"/g)].map(([, id]) => id);
  expect(ids.toSorted()).toEqual(Object.keys(PROBLEMS).toSorted());
});

it('the site has neither style attributes nor addresses of other origins that a browser would load', () => {
  for (const file of pages) {
    const html = read(file);
    expect([file, / style="/.exec(html)]).toEqual([file, null]);
    expect([file, /(?:src|<link[^>]*href)="(?:https?:)?\/\//.exec(html)]).toEqual([file, null]);
  }
});

it('plainMarkdown keeps code unchanged', () => {
  const source =
    '---\na: 1\n---\n# T {#t}\n\n::: code-group\n\n```ts [Node]\n::: no {#x} [y](./z)\n```\n\n:::\n\n[y](./z#a) [w](./) [v](#t) [u](./z#b)\n';
  expect(plainMarkdown(source, (path) => `## A ${path}, {#a}`)).toBe(
    '# T\n\nNode:\n\n```ts\n::: no {#x} [y](./z)\n```\n\n[y](./z.md#a-zmd) [w](./index.md) [v](#t) [u](./z.md#b)\n',
  );
});
