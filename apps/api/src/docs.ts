import { STATUS_CODES } from 'node:http';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Problem, PROBLEMS, type ProblemCode } from '@onecode/domain';
import express, { type RequestHandler, type Router } from 'express';
import { openApiDocument } from './contract.js';

const OWN_FILES = fileURLToPath(new URL('../public/docs', import.meta.url));
const require = createRequire(import.meta.url);
const RENDERER = dirname(require.resolve('swagger-ui-dist/package.json'));
const ASSETS = [
  { name: 'swagger-ui-bundle.js', root: RENDERER },
  { name: 'swagger-ui.css', root: RENDERER },
  { name: 'reference.js', root: OWN_FILES },
  { name: 'docs.css', root: OWN_FILES },
  { name: 'icon.svg', root: OWN_FILES },
];

/** Nothing external and nothing inline. The renderer's style sheet holds its images as `data:` URLs. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Problems of the provider's webhook, which the four operations never answer with. */
const WEBHOOK_CODES: ReadonlySet<ProblemCode> = new Set([
  'forbidden',
  'invalid_signature',
  'payload_too_large',
  'too_busy',
]);

/**
 * Serves `/openapi.json`, `/docs` and `/docs/errors`. `baseUrl` is the public base address of the service, `docsUrl` the base of the
 * problem types; both have no slash at the end. The pages link to each other by relative addresses, so that they also work behind a
 * path prefix.
 */
export function docsRouter({ baseUrl, docsUrl }: { baseUrl: string; docsUrl: string }): Router {
  const router = express.Router({ strict: true, caseSensitive: true });
  const document = openApiDocument(baseUrl, docsUrl);
  const errorsPage = renderErrorsPage(docsUrl);

  const serve = (path: string, maxAgeSeconds: number, handler: RequestHandler): void => {
    const headers: RequestHandler = (_request, response, next) => {
      response.set({
        'Cache-Control': `public, max-age=${maxAgeSeconds}`,
        'Content-Security-Policy': CONTENT_SECURITY_POLICY,
        'X-Content-Type-Options': 'nosniff',
        'Referrer-Policy': 'no-referrer',
      });
      next();
    };
    router
      .route(path)
      .get(headers, handler)
      .all((_request, response) => {
        response.set('Allow', 'GET, HEAD');
        throw new Problem('method_not_allowed');
      });
  };

  serve('/openapi.json', 300, (_request, response) => void response.json(document));
  serve('/docs', 300, (_request, response) =>
    response.sendFile('index.html', { root: OWN_FILES, cacheControl: false }),
  );
  serve('/docs/', 300, (_request, response) => response.redirect(308, '../docs'));
  serve('/docs/errors', 300, (_request, response) => void response.type('html').send(errorsPage));
  for (const { name, root } of ASSETS)
    serve(`/docs/assets/${name}`, 3600, (_request, response) =>
      response.sendFile(name, { root, cacheControl: false }),
    );
  return router;
}

function renderErrorsPage(docsUrl: string): string {
  const codes = Object.keys(PROBLEMS) as ProblemCode[];
  const links = codes.map((code) => `<li><a href="#${code}">${code}</a></li>`);
  const problems = (some: ProblemCode[]): string =>
    some.map((code) => renderProblem(code, docsUrl)).join('\n');
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>Onecode API: errors</title>
    <link rel="icon" href="assets/icon.svg" type="image/svg+xml">
    <link rel="stylesheet" href="assets/docs.css">
  </head>
  <body>
    <header class="bar">
      <a class="brand" href="../docs">Onecode</a>
      <nav><a href="../docs">Reference</a> <a href="../openapi.json">OpenAPI</a></nav>
    </header>
    <main class="errors">
      <h1>Errors</h1>
      <p>Every error is <code>application/problem+json</code>. Branch on <code>code</code>, which never changes; the other
      texts may. A wrong code is no error: its answer is 200 with <code>valid: false</code>.</p>
      <ul>${links.join('')}</ul>
      <h2>Answers of the API</h2>
      ${problems(codes.filter((code) => !WEBHOOK_CODES.has(code)))}
      <h2>Answers to the provider’s webhooks</h2>
      ${problems(codes.filter((code) => WEBHOOK_CODES.has(code)))}
    </main>
  </body>
</html>
`;
}

function renderProblem(code: ProblemCode, docsUrl: string): string {
  const { status, meaning, cause, remedy } = PROBLEMS[code];
  const title = STATUS_CODES[status] ?? '';
  const example = { type: `${docsUrl}/errors#${code}`, title, status, code, detail: meaning };
  return `<section class="problem" id="${code}">
        <h3>${code} <span>${status} ${escapeHtml(title)}</span></h3>
        <p>${escapeHtml(meaning)}</p>
        <dl>
          <dt>Cause</dt><dd>${escapeHtml(cause)}</dd>
          <dt>Remedy</dt><dd>${escapeHtml(remedy)}</dd>
        </dl>
        <pre>${escapeHtml(JSON.stringify(example, null, 2))}</pre>
      </section>`;
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
