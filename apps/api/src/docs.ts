import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { Router, type Request, type RequestHandler, type Response } from 'express';
import { LRUCache } from 'lru-cache';
import { Problem } from '@onecode/domain';
import type { ApiConfig } from './config.js';
import { DOCUMENT } from './generated/contract.js';
import { resource } from './requests.js';

/** The output of the site's `npm run build`. */
const SITE = fileURLToPath(new URL('../../docs/dist', import.meta.url));

/** `site.json`, which the build of the site writes. */
interface Site {
  contentSecurityPolicy: string;
  files: string[];
}

/** The page that a browser gets for an unknown address. */
const MISSING_PAGE = '404.html';
/** Stands for the service's public base address in openapi.yaml and in the documentation. */
const SERVICE_PLACEHOLDER = 'https://api.example.com';
/** A placeholder in the pages for the console's address. */
const CONSOLE_PLACEHOLDER = 'https://console.example.com';

/**
 * Returns the router for `/openapi.json`, `/llms.txt` and the documentation site below `/docs/`. Without a console address, styles hide
 * the site's links to the console.
 *
 * @param config addresses without trailing slashes
 * @throws Error if the site is not built
 */
export function docsRouter({
  BASE_URL,
  DOCS_URL,
  CONSOLE_URL,
}: Pick<ApiConfig, 'BASE_URL' | 'DOCS_URL' | 'CONSOLE_URL'>): Router {
  const router = Router({ strict: true, caseSensitive: true });
  const document = openApiDocument(BASE_URL, DOCS_URL);
  const site = JSON.parse(readFileSync(join(SITE, 'site.json'), 'utf8')) as Site;
  const headers = {
    'Cache-Control': 'public, max-age=300',
    'Content-Security-Policy': site.contentSecurityPolicy,
    'Referrer-Policy': 'no-referrer',
  };
  const fillIn = (text: string): string =>
    text
      .replaceAll(`${SERVICE_PLACEHOLDER}/docs/errors`, () => `${DOCS_URL}/errors`)
      .replaceAll(CONSOLE_PLACEHOLDER, () => CONSOLE_URL || '#no-console')
      .replaceAll(SERVICE_PLACEHOLDER, () => BASE_URL);
  const contents = new LRUCache<string, Content>({
    max: site.files.length + 1,
    fetchMethod: (file) => readContent(file, fillIn),
  });
  const sendFile = async (request: Request, response: Response, file: string): Promise<void> => {
    const { plain, zipped } = await contents.forceFetch(file);
    // Firefox does not decompress a download that ends in `.tgz`, so the stored file would be compressed twice.
    const isZipped = extname(file) !== '.tgz' && request.acceptsEncodings('gzip') !== false;
    // Browsers display the single-file clients only as plain text.
    const type = file.startsWith('clients/') ? 'text/plain' : extname(file);
    response.set(headers).type(type).vary('Accept-Encoding');
    // Not cached, because the next release may add the page.
    if (file === MISSING_PAGE) response.set('Cache-Control', 'no-store');
    if (isZipped) response.set('Content-Encoding', 'gzip');
    response.send(isZipped ? zipped : plain);
  };
  /** The file at each path. Pages have no ending. */
  const files = new Map(site.files.map((file) => [`/docs/${file}`.replace(/(?:index)?\.html$/, ''), file]));

  resource(router, '/openapi.json', {
    get: (_request, response) => response.set(headers).json(document),
  });
  // The conventional path at which language models look for documentation (llmstxt.org).
  resource(router, '/llms.txt', {
    get: (_request, response) => response.redirect(308, '/docs/llms.txt'),
  });
  router.get('/', (_request, response) => response.redirect(302, '/docs/'));
  const get: RequestHandler = async (request, response) => {
    const { path } = request;
    const file = files.get(path);
    if (file !== undefined) return sendFile(request, response, file);
    const forms = [`${path}/`, path.replace(/\/$/, ''), path.replace(/(?:index)?\.html$/, '')];
    const page = forms.find((form) => files.has(form));
    if (page !== undefined) return response.redirect(308, page);
    // A browser gets a page, because it prefers HTML; a program that accepts anything gets the problem.
    response.vary('Accept');
    if (request.accepts(['application/problem+json', 'text/html']) !== 'text/html')
      throw new Problem('not_found');
    await sendFile(request, response.status(404), MISSING_PAGE);
  };
  for (const path of ['/docs', '/docs/{*page}']) resource(router, path, { get });
  return router;
}

/** Returns the OpenAPI document with this service's addresses. `baseUrl` and `docsUrl` have no trailing slash. */
export function openApiDocument(baseUrl: string, docsUrl = `${baseUrl}/docs`): object {
  const document = DOCUMENT.replaceAll(`${SERVICE_PLACEHOLDER}/docs/`, () => `${docsUrl}/`);
  return { ...(JSON.parse(document) as object), servers: [{ url: baseUrl }] };
}

interface Content {
  plain: Buffer;
  zipped: Buffer;
}

/** Reads a file of the site, and fills the addresses into a text. */
async function readContent(file: string, fillIn: (text: string) => string): Promise<Content> {
  const stored = await readFile(join(SITE, file));
  const plain = extname(file) === '.tgz' ? stored : Buffer.from(fillIn(stored.toString()));
  return { plain, zipped: await promisify(gzip)(plain) };
}
