import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import type { UIConfig } from '@bull-board/api/typings/app';
import type { Person } from '../auth/identity.js';

const require = createRequire(import.meta.url);
/** The board's own pages live beside its adapter for Express, which brings them along. */
const UI = `${dirname(createRequire(require.resolve('@bull-board/express')).resolve('@bull-board/ui/package.json'))}/dist`;

/** The board's scripts and styles. */
export const STATIC = `${UI}/static`;

/**
 * The tags of the board's scripts and styles, whose names change with its release. Its own page brings inline styles and fonts
 * from outside along, so we serve one of ours in its place.
 */
const TAGS = tagsOf(readFileSync(`${UI}/index.ejs`, 'utf8'));

function tagsOf(page: string): { styles: string; scripts: string } {
  const styles = page.match(/<link href="static\/css\/[\w.-]+" rel="stylesheet">/g);
  const scripts = page.match(/<script defer src="static\/js\/[\w.-]+"><\/script>/g);
  if (styles === null || scripts === null)
    throw new Error('the board’s page has another form than this was written for');
  return { styles: styles.join(''), scripts: scripts.join('') };
}

const WORDS = {
  en: { title: 'Queue board · Onecode', back: 'Back to the console', language: 'en-US' },
  'pt-BR': { title: 'Painel de filas · Onecode', back: 'Voltar ao console', language: 'pt-BR' },
} as const;

/** The page of the board, in the person's language. */
export function boardPage({ language }: Person): string {
  const words = WORDS[language];
  const config: UIConfig = {
    boardTitle: 'Onecode',
    boardLogo: { path: '/icon.svg', width: 24, height: 24 },
    favIcon: { default: '/icon.svg', alternative: '/icon.svg' },
    miscLinks: [{ text: words.back, url: '/staff/health' }],
    locale: { lng: words.language },
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
    <title>${words.title}</title>
    <link rel="icon" href="/icon.svg" type="image/svg+xml">
    ${TAGS.styles}
  </head>
  <body class="preload">
    <script id="__UI_CONFIG__" type="application/json">${JSON.stringify(config).replaceAll('<', '\\u003c')}</script>
    <div id="root"></div>
    ${TAGS.scripts}
  </body>
</html>
`;
}
