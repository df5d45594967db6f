import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import type { UIConfig } from '@bull-board/api/typings/app';
import type { Person } from '../auth/identity.js';
import { BOARD_TEXTS } from './texts.js';

const require = createRequire(import.meta.url);
/** `@bull-board/ui` is a dependency of the Express adapter, from which Node resolves it. */
const UI = `${dirname(createRequire(require.resolve('@bull-board/express')).resolve('@bull-board/ui/package.json'))}/dist`;

/** The folder of bull-board's scripts, styles, images and locales. */
export const STATIC_FOLDER = `${UI}/static`;

/** Paths of pages, as in bull-board's entry route. Its own page has inline styles and loads fonts from another site, so it is replaced. */
export const PAGE_PATHS = [
  '/',
  '/metrics-history',
  '/job-schedulers',
  '/queue/:queueName',
  '/queue/:queueName/:jobId',
];

/** bull-board's own page names its files, in their order. The names contain hashes that change with each release. */
const OWN_PAGE = readFileSync(`${UI}/index.ejs`, 'utf8');
const STYLES = elementsOf(/<link href="static\/[\w./-]+\.css" rel="stylesheet">/g);
const SCRIPTS = elementsOf(/<script defer src="static\/[\w./-]+\.js"><\/script>/g);

/** Returns the elements of bull-board's own page that match. @throws Error if there are none */
function elementsOf(pattern: RegExp): string {
  const elements = OWN_PAGE.match(pattern);
  if (elements === null) throw new Error(`the page of @bull-board/ui has no element like ${pattern}`);
  return elements.join('');
}

/** Returns the HTML of the board in the person's language, below a header like that of the console's pages. */
export function boardPage({ language }: Person): string {
  const texts = BOARD_TEXTS[language];
  const config: UIConfig = {
    boardTitle: texts.name,
    // Empty, because Onecode's header is above the board.
    boardLogo: { path: '' },
    favIcon: { default: '/icon.svg', alternative: '/icon.svg' },
    locale: { lng: language === 'en' ? 'en-US' : language },
    hideDocsLink: true,
    showMetrics: false,
  };
  return `<!doctype html>
<html lang="${language}">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="robots" content="noindex">
    <base href="/board/">
    <title>${texts.name} · Onecode</title>
    <link rel="icon" href="/icon.svg" type="image/svg+xml">
    ${STYLES}
    <link href="/board.css" rel="stylesheet">
    <script src="/board.js"></script>
  </head>
  <body class="preload">
    <script id="__UI_CONFIG__" type="application/json">${JSON.stringify(config).replaceAll('<', '\\u003c')}</script>
    <nav class="frame" aria-label="Onecode">
      <a class="brand" href="/"><img src="/icon.svg" width="24" height="24" alt="">Onecode</a>
      <a href="/staff/health"><span aria-hidden="true">←</span> ${texts.back}</a>
    </nav>
    <div id="root"></div>
    ${SCRIPTS}
  </body>
</html>
`;
}
