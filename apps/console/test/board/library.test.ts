import { existsSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { createBullBoard } from '@bull-board/api';
import type { AppControllerRoute, AppViewRoute, IServerAdapter } from '@bull-board/api/typings/app';
import { LIBRARY_PAGE, PAGE_ASSETS, PAGE_PATHS } from '../../src/board/page.js';
import { SHOWN_ROUTES } from '../../src/board/redaction.js';

/** Returns the routes that the installed bull-board hands to a server. */
function libraryRoutes(): { pages: string[]; api: readonly AppControllerRoute[] } {
  let entry: AppViewRoute | undefined;
  let api: readonly AppControllerRoute[] = [];
  const adapter: IServerAdapter = {
    setQueues: () => adapter,
    setViewsPath: () => adapter,
    setStaticPath: () => adapter,
    setUIConfig: () => adapter,
    setErrorHandler: () => adapter,
    setEntryRoute: (route) => {
      entry = route;
      return adapter;
    },
    setApiRoutes: (routes) => {
      api = routes;
      return adapter;
    },
  };
  createBullBoard({ queues: [], serverAdapter: adapter });
  return { pages: [entry?.route ?? []].flat(), api };
}

const patternsOf = (routes: readonly AppControllerRoute[]): string[] =>
  routes.flatMap(({ route }) => route).toSorted();

/** An upgrade of bull-board that fails here needs a look at what `src/board` takes from it. */
describe('what the board takes from the installed bull-board', () => {
  const page = readFileSync(LIBRARY_PAGE, 'utf8');

  it('the scripts and styles of its page, in its order', () => {
    const paths = (pattern: RegExp): string[] =>
      [...page.matchAll(pattern)].map(([, path]) => path as string);
    expect(paths(/<script[^>]* src="([^"]*)"/g)).toEqual(PAGE_ASSETS.scripts);
    expect(paths(/<link[^>]* href="(?!https:)([^"]*)"[^>]* rel="stylesheet"/g)).toEqual(PAGE_ASSETS.styles);
    for (const path of [...PAGE_ASSETS.scripts, ...PAGE_ASSETS.styles])
      expect([path, existsSync(`${dirname(LIBRARY_PAGE)}/${path}`)]).toEqual([path, true]);
  });

  it('the elements that its scripts look for', () => {
    expect(page).toContain('<script id="__UI_CONFIG__" type="application/json"><%- uiConfig %></script>');
    expect(page).toContain('<div id="root">');
    expect(page).toContain('<base href="<%= basePath %>" />');
    expect(page).toContain('<body class="preload">');
  });

  it('the paths of its pages', () => {
    expect(PAGE_PATHS).toEqual(libraryRoutes().pages);
  });

  it('the patterns of its answers: each is chosen field by field', () => {
    const reads = libraryRoutes().api.filter(({ method }) => [method].flat().includes('get'));
    expect([...SHOWN_ROUTES].toSorted()).toEqual(patternsOf(reads));
  });
});
