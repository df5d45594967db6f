import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { fileURLToPath } from 'node:url';
import express, { type Router } from 'express';

/** What `vite build` makes of `web/`. */
const BUILT = fileURLToPath(new URL('../../dist/web', import.meta.url));
const NONCE = '%NONCE%';

/** For files: the `maxAge` of Express leaves the `no-store` of every answer as it is. */
export const cachedFor =
  (how: string) =>
  (response: ServerResponse): void => {
    response.setHeader('Cache-Control', how);
  };

/**
 * Serves the web application: its assets, whose names change with their content, and for every other path its page, with the
 * answer's nonce in it.
 */
export function pageRouter(): Router {
  const page = readFileSync(`${BUILT}/index.html`, 'utf8');
  const router = express.Router();
  router.use(
    '/assets',
    express.static(`${BUILT}/assets`, {
      index: false,
      redirect: false,
      fallthrough: false,
      setHeaders: cachedFor('public, max-age=31536000, immutable'),
    }),
  );
  router.use(
    express.static(BUILT, { index: false, redirect: false, setHeaders: cachedFor('public, max-age=3600') }),
  );
  router.get('/{*splat}', (_request, response) => {
    response.type('html').send(page.replaceAll(NONCE, response.locals['nonce'] as string));
  });
  return router;
}
