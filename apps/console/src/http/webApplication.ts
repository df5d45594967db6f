import { existsSync, readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { fileURLToPath } from 'node:url';
import express, { type Router } from 'express';
import expressStaticGzip from 'express-static-gzip';

const BUILT = fileURLToPath(new URL('../../dist/web', import.meta.url));
const NONCE = '%NONCE%';

/** Sets `Cache-Control` on static files: the `maxAge` of Express would keep the `no-store` of every response. */
export const cacheControl =
  (value: string) =>
  (response: ServerResponse): void => {
    response.setHeader('Cache-Control', value);
  };

/**
 * Serves the web application: its assets, which have a content hash in their names, as the build has compressed them, and its page for
 * every other path. Each response writes its own nonce into the page.
 *
 * @param built the folder with the output of `vite build`
 * @throws Error if the web application is not built
 */
export function webApplicationRouter(built = BUILT): Router {
  if (!existsSync(`${built}/index.html`))
    throw new Error('the web application is not built: run npm run build');
  const page = readFileSync(`${built}/index.html`, 'utf8');
  // Only pages after sign-in need the files of these links. Without them, the sign-in page loads no other code.
  const signInPage = page
    .replaceAll(/<link [^<>]*>/g, (link) => (link.includes('data-signed-in') ? '' : link))
    .replace('<meta name="session" content=""', '<meta name="session" content="none"');
  const router = express.Router();
  router.use(
    '/assets',
    expressStaticGzip(`${built}/assets`, {
      index: false,
      enableBrotli: true,
      orderPreference: ['br', 'gzip'],
      serveStatic: {
        redirect: false,
        fallthrough: false,
        setHeaders: cacheControl('public, max-age=31536000, immutable'),
      },
    }),
  );
  router.use(
    express.static(built, {
      index: false,
      redirect: false,
      setHeaders: cacheControl('public, max-age=3600'),
    }),
  );
  router.get('/{*splat}', ({ headers }, response) => {
    // A request without the cookie has no session.
    const text = headers.cookie === undefined ? signInPage : page;
    response.type('html').send(text.replaceAll(NONCE, response.locals['nonce'] as string));
  });
  return router;
}
