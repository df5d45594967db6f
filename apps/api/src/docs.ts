import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { Problem } from '@onecode/domain';
import express, { type Request, type RequestHandler, type Response, type Router } from 'express';
import { openApiDocument, SERVICE_PLACEHOLDER } from './contract.js';

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
  const policy = contentSecurityPolicy(site.scripts);
  const readContent = contentsOf(placeholders(site.base, { baseUrl, docsUrl, consoleUrl }));

  router.all('/openapi.json', (request, response) => {
    refuseOtherMethods(request, response);
    response.set({ 'Cache-Control': `public, max-age=${PAGE_SECONDS}`, 'Content-Security-Policy': policy });
    response.json(document);
  });
  // The conventional path at which language models look for documentation (llmstxt.org).
  router.all('/llms.txt', (request, response) => {
    refuseOtherMethods(request, response);
    response.redirect(308, 'docs/llms.txt');
  });
  router.all(['/docs', '/docs/{*page}'], async (request, response, next) => {
    const page = pages.get(request.path);
    if (page === undefined) return next();
    refuseOtherMethods(request, response);
    const isAsset = request.path.startsWith('/docs/assets/');
    response.set({
      'Cache-Control': `public, max-age=${isAsset ? ASSET_SECONDS : PAGE_SECONDS}`,
      'Content-Security-Policy': policy,
      'Referrer-Policy': 'no-referrer',
    });
    if ('to' in page) return response.redirect(308, page.to);
    const isZipped = request.acceptsEncodings('gzip') !== false;
    const { content, etag, isText } = await readContent(page.file, isZipped);
    if (isText) response.vary('Accept-Encoding');
    if (isText && isZipped) response.set('Content-Encoding', 'gzip');
    response.set({ 'Content-Type': TYPES[extname(page.file)], ETag: etag });
    response.send(content);
  });
  router.use(missingPage(pages, new URL(baseUrl).pathname.replace(/\/$/, ''), policy));
  return router;
}

/** Paths that only programs request. They get problem+json, regardless of the `Accept` header. */
const PROGRAM_PATHS = /^\/(?:v1|webhooks)(?:\/|$)/;

/**
 * Redirects `/` to the guides, and a page's address with a slash or `.html` at its end to the page. For other paths without a page, answers
 * browsers with a page. A browser prefers HTML; a program that accepts anything falls through to the problem response.
 */
function missingPage(pages: ReturnType<typeof pagesOf>, prefix: string, policy: string): RequestHandler {
  const docs = `${quotable(prefix)}/docs/`;
  return (request, response, next) => {
    const { path, method } = request;
    if ((method !== 'GET' && method !== 'HEAD') || PROGRAM_PATHS.test(path)) return next();
    if (path === '/') return response.redirect(302, 'docs/');
    if (path === '/docs/openapi.json') return response.redirect(308, '../openapi.json');
    const page = path.replace(/(?:\/|(?:index)?\.html)$/, '');
    if (page !== path && pages.has(page))
      return response.redirect(308, `${path.endsWith('/') ? '..' : '.'}/${page.split('/').at(-1)}`);
    response.vary('Accept');
    if (request.accepts(['application/problem+json', 'text/html']) !== 'text/html') return next();
    response.status(404).set({ 'Content-Type': TYPES['.html'], 'Content-Security-Policy': policy });
    response.send(missingPageHtml(docs, path.startsWith('/docs/pt-br/')));
  };
}

/** Returns the page in both languages, because the address may not reveal the reader's language. */
function missingPageHtml(docs: string, isPortugueseFirst: boolean): string {
  const link = (path: string, text: string) => `<a href="${docs}${path}">${text}</a>`;
  const texts = [
    `<div lang="en"><h1>Page not found</h1>
<p>There is no page at this address. Go to the ${link('', 'documentation')}: ${link('quick-start', 'Quick start')},
${link('errors', 'Errors')}.</p></div>`,
    `<div lang="pt-BR"><h1>Página não encontrada</h1>
<p>Não existe uma página neste endereço. Veja a ${link('pt-br/', 'documentação')}: ${link('pt-br/quick-start', 'Primeiros passos')},
${link('pt-br/errors', 'Erros')}.</p></div>`,
  ];
  return `<!doctype html>
<html lang="${isPortugueseFirst ? 'pt-BR' : 'en'}"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${isPortugueseFirst ? 'Página não encontrada' : 'Page not found'}</title>
${(isPortugueseFirst ? texts.toReversed() : texts).join('\n')}
</html>
`;
}

/** The content of a file of the site and its headers. All files except the SDK are text. */
interface Content {
  content: Buffer;
  etag: string;
  isText: boolean;
}

/** Returns a function that reads a file of the site with the addresses filled in, and caches it. Compresses text if `isZipped` is true. */
function contentsOf(fillIn: (text: string) => string): (file: string, isZipped: boolean) => Promise<Content> {
  const read = async (file: string, isZipped: boolean): Promise<Content> => {
    const stored = await readFile(join(SITE, file));
    const isText = !file.endsWith('.tgz');
    const plain = isText ? Buffer.from(fillIn(stored.toString())) : stored;
    const content = isText && isZipped ? await promisify(gzip)(plain) : plain;
    const hash = createHash('sha256').update(content).digest('base64url');
    return { content, etag: `"${hash.slice(0, 22)}"`, isText };
  };
  const contents = new Map<string, Promise<Content>>();
  return (file, isZipped) => {
    const key = `${file} ${isZipped}`;
    const known = contents.get(key);
    if (known !== undefined) return known;
    const content = read(file, isZipped);
    contents.set(key, content);
    // The next request tries again.
    content.catch(() => contents.delete(key));
    return content;
  };
}

function readSite(): Site {
  try {
    return JSON.parse(readFileSync(join(SITE, 'site.json'), 'utf8')) as Site;
  } catch (error) {
    throw new Error('the documentation site is not built: run npm run build', { cause: error });
  }
}

/** Returns the file at each path, or a redirect to the path with a trailing slash. Redirects are relative, which keeps a path prefix. */
function pagesOf(files: readonly string[]): ReadonlyMap<string, { file: string } | { to: string }> {
  const pages = new Map<string, { file: string } | { to: string }>();
  for (const file of files) {
    if (TYPES[extname(file)] === undefined || file === 'site.json') continue;
    const path = `/docs/${file}`.replace(/(?:index)?\.html$/, '');
    pages.set(path, { file });
    if (path.endsWith('/')) pages.set(path.slice(0, -1), { to: path.split('/').slice(-2).join('/') });
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

function refuseOtherMethods(request: Request, response: Response): void {
  if (request.method === 'GET' || request.method === 'HEAD') return;
  response.set('Allow', 'GET, HEAD');
  throw new Problem('method_not_allowed');
}
