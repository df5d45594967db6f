import { existsSync, readFileSync } from 'node:fs';

const source = readFileSync('apps/console/web/src/app/help.tsx', 'utf8');
const links = [...source.matchAll(/\/, '([a-z#-]+)'\]/g)].map(([, link]) => link!);
/** Written by the build of the site. */
const GENERATED = new Set(['errors']);

it.each(links)('the help link %s leads to a page and an anchor of both languages', (link) => {
  const [page = '', anchor] = link.split('#');
  for (const folder of ['', 'pt-br/']) {
    const file = `apps/docs/pages/${folder}${page || 'index'}.md`;
    if (!GENERATED.has(page)) expect([file, existsSync(file)]).toEqual([file, true]);
    if (anchor !== undefined) expect(readFileSync(file, 'utf8')).toContain(`{#${anchor}}`);
  }
});
