import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { basename } from 'node:path';
import { PROBLEMS } from '@onecode/domain';
import { openApiDocument } from '../src/docs.js';
import { serveDocs, type DocsServer } from './docsServer.js';

const SITE = new URL('../../docs/dist/', import.meta.url);
const { files } = JSON.parse(readFileSync(new URL('site.json', SITE), 'utf8')) as { files: string[] };
const asset = `/docs/${files.find((file) => /^assets\/app\..*\.js$/.test(file))}`;

let docs: DocsServer;
beforeAll(async () => {
  docs = await serveDocs('https://codes.test');
});
afterAll(() => docs.close());

const get = (path: string, init?: RequestInit) => fetch(docs.base + path, { redirect: 'manual', ...init });

it('GET /openapi.json returns the contract with the public address', async () => {
  const response = await get('/openapi.json');
  expect(response.headers.get('content-type')).toMatch(/^application\/json/);
  expect(response.headers.get('cache-control')).toBe('public, max-age=300');
  expect(await response.json()).toEqual(openApiDocument('https://codes.test'));
});

it.each([
  ['/docs/', 'text/html; charset=utf-8'],
  ['/docs/errors', 'text/html; charset=utf-8'],
  ['/docs/pt-br/', 'text/html; charset=utf-8'],
  ['/docs/reference/create-send', 'text/html; charset=utf-8'],
  ['/docs/pt-br/errors.md', 'text/markdown; charset=utf-8'],
  ['/docs/llms.txt', 'text/plain; charset=utf-8'],
  ['/docs/icon.svg', 'image/svg+xml'],
  ['/docs/onecode-client.tgz', 'application/octet-stream'],
  ['/docs/clients/onecode.py', 'text/plain; charset=utf-8'],
  [asset, 'text/javascript; charset=utf-8'],
])(
  '%s is served as %s, with a policy that allows no other origin and only scripts of the build',
  async (path, type) => {
    const { status, headers } = await get(path);
    expect([status, headers.get('content-type')]).toEqual([200, type]);
    expect(headers.get('cache-control')).toBe('public, max-age=300');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy).toMatch(
      /^default-src 'none'; script-src 'self'(?: 'sha256-[\w+/=]+')*; style-src 'self';/,
    );
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
  },
);

it.each(['/docs/', '/docs/errors', '/docs/errors.md', asset])(
  '%s answers a matching If-None-Match with 304',
  async (path) => {
    const tag = (await get(path)).headers.get('etag') ?? '';
    // `fetch` would add a `Cache-Control` header, which requests the whole response. This client accepts gzip.
    const status = await new Promise((resolve, reject) => {
      request(
        docs.base + path,
        { headers: { 'If-None-Match': tag, 'Accept-Encoding': 'gzip' } },
        (answer) => {
          answer.resume().once('end', () => resolve(answer.statusCode));
        },
      )
        .once('error', reject)
        .end();
    });
    expect(status).toBe(304);
  },
);

it.each(['/docs/', '/docs/errors.md', asset])(
  '%s is compressed for a client that accepts it, with a separate tag and the same text',
  async (path) => {
    const read = async (accepted: string) => {
      const answer = await get(path, { headers: { 'accept-encoding': accepted } });
      const [encoding, vary, type, length, tag] = [
        'content-encoding',
        'vary',
        'content-type',
        'content-length',
        'etag',
      ].map((name) => answer.headers.get(name));
      return { encoding, vary, type, bytes: Number(length), tag, text: await answer.text() };
    };
    const plain = await read('identity');
    expect(plain).toMatchObject({ encoding: null, vary: 'Accept-Encoding' });
    const { bytes, tag, ...answer } = await read('gzip, deflate, br, zstd');
    expect(answer).toEqual({ encoding: 'gzip', vary: plain.vary, type: plain.type, text: plain.text });
    expect(bytes).toBeLessThan(plain.bytes * 0.6);
    expect(tag).not.toBe(plain.tag);
  },
);

it.each(['/docs/', '/docs/errors', '/openapi.json', asset])(
  '%s answers HEAD with the headers of GET and no body',
  async (path) => {
    const [got, head] = [await get(path), await get(path, { method: 'HEAD' })];
    expect([head.status, await head.text()]).toEqual([200, '']);
    for (const name of ['content-type', 'content-length', 'etag'])
      expect([name, head.headers.get(name)]).toEqual([name, got.headers.get(name)]);
  },
);

it.each(['/openapi.json', '/docs', '/docs/', '/docs/errors', asset])(
  '%s answers POST with 405, and names the allowed methods',
  async (path) => {
    const response = await get(path, { method: 'POST' });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  },
);

it.each([
  '/docs/site.json',
  '/docs/hashmap.json',
  '/docs/404',
  '/docs/404.html',
  '/docs/nothing.html',
  '/docs/assets/',
  '/docs/assets/..%2f..%2fpackage.json',
  '/docs/%65rrors',
  '/docs//errors',
])('%s returns 404, because only pages and assets are served', async (path) => {
  expect((await get(path)).status).toBe(404);
});

it.each([
  ['/', 302, '/docs/'],
  ['/llms.txt', 308, '/docs/llms.txt'],
  ['/docs', 308, '/docs/'],
  ['/docs/pt-br', 308, '/docs/pt-br/'],
  ['/docs/reference', 308, '/docs/reference/'],
  ['/docs/errors/', 308, '/docs/errors'],
  ['/docs/pt-br/quick-start/', 308, '/docs/pt-br/quick-start'],
  ['/docs/quick-start.html', 308, '/docs/quick-start'],
  ['/docs/pt-br/index.html', 308, '/docs/pt-br/'],
])('%s redirects with %i to %s', async (path, status, to) => {
  const response = await get(path);
  expect([response.status, response.headers.get('location')]).toEqual([status, to]);
  expect((await get(to)).status).toBe(200);
});

const browse = (path: string, init?: RequestInit) =>
  get(path, {
    headers: { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' },
    ...init,
  });

it.each(['/docs/nothing', '/docs/nothing/', '/docs/pt-br/nothing', '/docs/%00'])(
  '%s, which has no page, returns an HTML page to a browser, and a problem to a program',
  async (path) => {
    const response = await browse(path);
    expect([response.status, response.headers.get('content-type')]).toEqual([
      404,
      'text/html; charset=utf-8',
    ]);
    expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(await response.text()).toContain('src="/docs/assets/app.');
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.headers.get('vary')).toContain('Accept');
    expect((await browse(path, { method: 'HEAD' })).status).toBe(404);
    for (const accept of ['*/*', 'application/json', 'application/problem+json, text/html'])
      expect(await (await get(path, { headers: { accept } })).text()).toBe('');
  },
);

it('GET /docs/onecode-client.tgz returns the SDK byte for byte', async () => {
  const answer = await get('/docs/onecode-client.tgz');
  const stored = readFileSync(new URL('onecode-client.tgz', SITE));
  expect(Buffer.from(await answer.arrayBuffer()).equals(stored)).toBe(true);
});

it.each(['python/onecode.py', 'php/Onecode.php', 'go/onecode.go', 'java/Onecode.java'])(
  'the documentation serves clients/%s with this service’s address in its usage example',
  async (path) => {
    const source = readFileSync(new URL(`../../../clients/${path}`, import.meta.url), 'utf8');
    const answer = await get(`/docs/clients/${basename(path)}`);
    expect(await answer.text()).toBe(source.replace('https://api.example.com', 'https://codes.test'));
    expect(source).toContain('https://api.example.com');
  },
);

describe('addresses in the site', () => {
  const texts = files
    .filter((file) => file !== 'site.json')
    .map((file) => `/docs/${file.replace(/(?:index)?\.html$/, '')}`);

  it('are the addresses of this service, in every file', async () => {
    const other = await serveDocs('https://a.test', { docsUrl: 'https://b.test/help' });
    for (const path of texts) {
      const response = await fetch(other.base + path);
      const text = await response.text();
      expect([path, response.status]).toEqual([path, 200]);
      expect([path, /(?:api|console)\.example\.com/.exec(text)]).toEqual([path, null]);
    }
    await other.close();
  });

  it('of problem types are the same as in responses', async () => {
    const other = await serveDocs('https://a.test', { docsUrl: 'https://b.test/help' });
    const page = await (await fetch(`${other.base}/docs/errors.md`)).text();
    const types = [...page.matchAll(/"type": "(.*)#(\w+)"/g)];
    expect(types.length).toBeGreaterThan(15);
    for (const [, address, code = ''] of types)
      expect([address, code in PROBLEMS]).toEqual(['https://b.test/help/errors', true]);
    await other.close();
  });

  it('lead to the console if the API knows its address', async () => {
    const other = await serveDocs('https://codes.test', { consoleUrl: 'https://console.test' });
    const [linked, unlinked] = await Promise.all(
      [other, docs].map(async ({ base }) => (await fetch(`${base}/docs/pt-br/quick-start`)).text()),
    );
    for (const path of ['', '/sign-up']) {
      expect(linked).toContain(`href="https://console.test${path}"`);
      expect(unlinked).toContain(`href="#no-console${path}"`);
    }
    await other.close();
  });
});

it('the reference links the contract in both languages', async () => {
  for (const path of ['/docs/reference/', '/docs/pt-br/reference/'])
    expect(await (await get(path)).text()).toContain('<a href="https://codes.test/openapi.json"');
});

it('the page of errors explains every problem code at its anchor, in both languages', async () => {
  for (const path of ['/docs/errors', '/docs/pt-br/errors']) {
    const page = await (await get(path)).text();
    for (const code of Object.keys(PROBLEMS)) expect(page).toContain(`<h3 id="${code}"`);
  }
});
