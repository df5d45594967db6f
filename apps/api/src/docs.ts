import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import express, { type Request, type Response, type Router } from 'express';
import { LRUCache } from 'lru-cache';
import type { ApiConfig } from './config.js';
import { openApiDocument, SERVICE_PLACEHOLDER } from './contract.js';
import { resource } from './requests.js';

/** The output of the site's `npm run build`. */
const SITE = fileURLToPath(new URL('../../docs/dist', import.meta.url));

/** The addresses of this service, without trailing slashes. */
type Addresses = Pick<ApiConfig, 'BASE_URL' | 'DOCS_URL' | 'CONSOLE_URL'>;

/** `site.json`, which the build of the site writes. */
interface Site {
  /** A placeholder in the files for the path that they are served under. */
  base: string;
  files: string[];
  /** The hashes of the inline scripts, in the format of a content security policy. */
  scripts: string[];
}

/** The page for addresses without a page. */
const MISSING_PAGE = '404.html';
/** A placeholder in the pages for the console's address. */
const CONSOLE_PLACEHOLDER = 'https://console.example.com';
const CACHED = { 'Cache-Control': 'public, max-age=300' };

/**
 * Returns the router for `/openapi.json`, `/llms.txt` and the documentation site below `/docs/`. The site's links begin with the path of
 * the base address, so that it also works behind a path prefix. Without a console address, pages do not link to the console.
 *
 * @throws Error if the site is not built
 */
export function docsRouter(config: Addresses): Router {
  const router = express.Router({ strict: true, caseSensitive: true });
  const document = openApiDocument(config.BASE_URL, config.DOCS_URL);
  const site = JSON.parse(readFileSync(join(SITE, 'site.json'), 'utf8')) as Site;
  const pages = pagesOf(site.files);
  const headers = {
    'Content-Security-Policy': contentSecurityPolicy(site.scripts),
    'Referrer-Policy': 'no-referrer',
  };
  const fillIn = placeholders(site.base, config);
  const contents = new LRUCache<string, Content>({
    max: site.files.length,
    fetchMethod: (file) => readContent(file, fillIn),
  });
  const sendFile = async (request: Request, response: Response, file: string): Promise<void> => {
    const { plain, zipped } = await contents.forceFetch(file);
    const isZipped = zipped !== null && request.acceptsEncodings('gzip') !== false;
    if (zipped !== null) response.vary('Accept-Encoding');
    if (isZipped) response.set('Content-Encoding', 'gzip');
    response.set(headers).type(typeOf(file));
    response.send(isZipped ? zipped : plain);
  };

  resource(router, '/openapi.json', {
    get(_request, response) {
      response.set({ ...headers, ...CACHED }).json(document);
    },
  });
  // The conventional path at which language models look for documentation (llmstxt.org).
  resource(router, '/llms.txt', { get: (_request, response) => response.redirect(308, 'docs/llms.txt') });
  resource(router, ['/docs', '/docs/{*page}'], {
    all: (request, _response, next) => (pages.has(request.path) ? next() : next('route')),
    async get(request, response) {
      const page = pages.get(request.path)!;
      response.set(CACHED);
      if ('to' in page) response.redirect(308, page.to);
      else await sendFile(request, response, page.file);
    },
  });
  router.get('/', (_request, response) => response.redirect(302, 'docs/'));
  // A browser gets a page, because it prefers HTML; a program that accepts anything falls through to the problem response.
  router.get('/docs/{*page}', async (request, response, next) => {
    response.vary('Accept');
    if (request.accepts(['application/problem+json', 'text/html']) !== 'text/html') return next();
    await sendFile(request, response.status(404), MISSING_PAGE);
  });
  return router;
}

/** Returns the type of a file. Express does not know archives, and browsers display the single-file clients only as plain text. */
function typeOf(file: string): string {
  if (file.endsWith('.tgz')) return 'application/gzip';
  return file.startsWith('clients/') ? 'text/plain' : extname(file);
}

/** The content of a file of the site. */
interface Content {
  plain: Buffer;
  /** Null for a file that is compressed already. */
  zipped: Buffer | null;
}

/** Reads a file of the site, and fills the addresses into a text. */
async function readContent(file: string, fillIn: (text: string) => string): Promise<Content> {
  const stored = await readFile(join(SITE, file));
  if (file.endsWith('.tgz')) return { plain: stored, zipped: null };
  const plain = Buffer.from(fillIn(stored.toString()));
  return { plain, zipped: await promisify(gzip)(plain) };
}

/**
 * Returns the file at each path, and the address of the page at a path with another ending. Redirects are relative, which keeps a path
 * prefix.
 */
function pagesOf(files: readonly string[]): ReadonlyMap<string, { file: string } | { to: string }> {
  const pages = new Map<string, { file: string } | { to: string }>();
  for (const file of files) {
    const path = `/docs/${file}`.replace(/(?:index)?\.html$/, '');
    pages.set(path, { file });
    const name = basename(path);
    if (path.endsWith('/'))
      pages.set(path.slice(0, -1), { to: `${name}/` }).set(`${path}index.html`, { to: './' });
    else if (file.endsWith('.html'))
      pages.set(`${path}/`, { to: `../${name}` }).set(`${path}.html`, { to: `./${name}` });
  }
  return pages;
}

/** Returns a content security policy that allows only this origin and the inline scripts of the build. */
function contentSecurityPolicy(scripts: readonly string[]): string {
  return [
    "default-src 'none'",
    ["script-src 'self'", ...scripts.map((hash) => `'${hash}'`)].join(' '),
    "style-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

/** Returns a function that fills this service's addresses into a text. Styles hide links to the console if its address is unknown. */
function placeholders(
  base: string,
  { BASE_URL, DOCS_URL, CONSOLE_URL }: Addresses,
): (text: string) => string {
  const path = `${new URL(BASE_URL).pathname.replace(/\/$/, '')}/docs/`;
  return (text) =>
    text
      .replaceAll(base, () => path)
      .replaceAll(`${SERVICE_PLACEHOLDER}/docs/errors`, () => `${DOCS_URL}/errors`)
      .replaceAll(CONSOLE_PLACEHOLDER, () => CONSOLE_URL || '#no-console')
      .replaceAll(SERVICE_PLACEHOLDER, () => BASE_URL);
}
