import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import express, { type Request, type Response, type Router } from 'express';
import { LRUCache } from 'lru-cache';
import { openApiDocument, SERVICE_PLACEHOLDER } from './contract.js';
import { resource } from './requests.js';

/** The output of the site's `npm run build`. */
const SITE = fileURLToPath(new URL('../../docs/dist', import.meta.url));

/** `site.json`, which the build of the site writes. */
interface Site {
  /** A placeholder in the files for the path that they are served under. */
  base: string;
  files: string[];
  /** The hashes of the inline scripts, in the format of a content security policy. */
  scripts: string[];
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.md': 'text/markdown; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.svg': 'image/svg+xml; charset=utf-8',
  '.tgz': 'application/gzip',
  // The single-file clients, which a browser displays as text.
  '.py': 'text/plain; charset=utf-8',
  '.php': 'text/plain; charset=utf-8',
  '.go': 'text/plain; charset=utf-8',
  '.java': 'text/plain; charset=utf-8',
};

/** The page for addresses without a page. */
const MISSING_PAGE = '404.html';
/** A placeholder in the pages for the console's address. */
const CONSOLE_PLACEHOLDER = 'https://console.example.com';
const PAGE_SECONDS = 300;
/**
 * Assets are not cached forever: their names change with the built content, but not with the service's address, which they also contain.
 */
const ASSET_SECONDS = 86_400;

/**
 * Returns the router for `/openapi.json`, `/llms.txt` and the documentation site below `/docs/`. The site's links begin with the path of
 * `baseUrl`, so that it also works behind a path prefix.
 *
 * @param options `baseUrl` is the public base address of the service and `docsUrl` the base of the problem types, both without a trailing
 * slash. With an empty `consoleUrl`, pages do not link to the console.
 * @throws Error if the site is not built
 */
export function docsRouter({
  baseUrl,
  docsUrl,
  consoleUrl,
}: {
  baseUrl: string;
  docsUrl: string;
  consoleUrl: string;
}): Router {
  const router = express.Router({ strict: true, caseSensitive: true });
  const document = openApiDocument(baseUrl, docsUrl);
  const site = readSite();
  const pages = pagesOf(site.files);
  const headers = {
    'Content-Security-Policy': contentSecurityPolicy(site.scripts),
    'Referrer-Policy': 'no-referrer',
  };
  const fillIn = placeholders(site.base, { baseUrl, docsUrl, consoleUrl });
  const contents = new LRUCache<string, Content>({
    max: site.files.length,
    fetchMethod: (file) => readContent(file, fillIn),
  });
  const sendFile = async (request: Request, response: Response, file: string): Promise<void> => {
    const { plain, zipped } = await contents.forceFetch(file);
    const isZipped = zipped !== null && request.acceptsEncodings('gzip') !== false;
    if (zipped !== null) response.vary('Accept-Encoding');
    if (isZipped) response.set('Content-Encoding', 'gzip');
    response.set({ ...headers, 'Content-Type': TYPES[extname(file)] });
    response.send(isZipped ? zipped : plain);
  };

  resource(router, '/openapi.json', {
    get(_request, response) {
      response.set({ ...headers, 'Cache-Control': `public, max-age=${PAGE_SECONDS}` }).json(document);
    },
  });
  // The conventional path at which language models look for documentation (llmstxt.org).
  resource(router, '/llms.txt', { get: (_request, response) => response.redirect(308, 'docs/llms.txt') });
  resource(router, ['/docs', '/docs/{*page}'], {
    all: (request, _response, next) => (pages.has(request.path) ? next() : next('route')),
    async get(request, response) {
      const page = pages.get(request.path)!;
      const isAsset = request.path.startsWith('/docs/assets/');
      response.set('Cache-Control', `public, max-age=${isAsset ? ASSET_SECONDS : PAGE_SECONDS}`);
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

function readSite(): Site {
  try {
    return JSON.parse(readFileSync(join(SITE, 'site.json'), 'utf8')) as Site;
  } catch (error) {
    throw new Error('the documentation site is not built: run npm run build', { cause: error });
  }
}

/**
 * Returns the file at each path, and the address of the page at a path with another ending. Redirects are relative, which keeps a path
 * prefix.
 */
function pagesOf(files: readonly string[]): ReadonlyMap<string, { file: string } | { to: string }> {
  const pages = new Map<string, { file: string } | { to: string }>();
  for (const file of files) {
    if (TYPES[extname(file)] === undefined) continue;
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
  { baseUrl, docsUrl, consoleUrl }: Record<'baseUrl' | 'docsUrl' | 'consoleUrl', string>,
): (text: string) => string {
  const path = quotable(`${new URL(baseUrl).pathname.replace(/\/$/, '')}/docs/`);
  const [service, docs, console] = [baseUrl, docsUrl, consoleUrl || '#no-console'].map(quotable);
  return (text) =>
    text
      .replaceAll(base, () => path)
      .replaceAll(`${SERVICE_PLACEHOLDER}/docs/errors`, () => `${docs}/errors`)
      .replaceAll(CONSOLE_PLACEHOLDER, () => console!)
      .replaceAll(SERVICE_PLACEHOLDER, () => service!);
}

/** Escapes an address so that it is safe in HTML, JavaScript and Markdown, also inside quotes. */
const quotable = (address: string): string =>
  address.replaceAll(
    /[&'"<>`$\\(){}]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
