import { readdirSync, readFileSync } from 'node:fs';

const root = new URL('..', import.meta.url);

/** The sources with SQL, by path. */
const sources = ['packages/store/src/', 'prisma/functions/'].flatMap((folder) =>
  readdirSync(new URL(folder, root), { recursive: true, encoding: 'utf8' })
    .map((name) => folder + name)
    .filter((file) => /\.(ts|sql)$/.test(file) && !file.includes('/generated/')),
);

const SUBQUERY = /\b(?:from|join)\s+(?:\w+(?:\s+\w+)?,\s+)?(?:lateral\s+)?(?=\(\s*(?:select|values|with)\b)/g;
const KEYWORD = /^(?:where|join|on|using|left|cross|order|group|limit|union|for|returning)$/;

/** Returns the lines of a source with a subquery in FROM that has no alias. */
function unnamedSubqueries(source: string): number[] {
  return [...source.matchAll(SUBQUERY)].flatMap((match) => {
    const begin = match.index + match[0].length;
    let depth = 0;
    let end = begin;
    do {
      if (source[end] === '(') depth += 1;
      if (source[end] === ')') depth -= 1;
      end += 1;
    } while (depth > 0);
    const [, alias = ''] = /^\s+(?:as\s+)?(\w+)/.exec(source.slice(end)) ?? [];
    return alias === '' || KEYWORD.test(alias) ? [source.slice(0, begin).split('\n').length] : [];
  });
}

describe('statements', () => {
  // Tests run on the newest PostgreSQL, which no longer needs the alias.
  it('name each subquery in FROM, which PostgreSQL 15 requires', () => {
    expect(unnamedSubqueries('select 1 from a, (select 1)\nwhere true')).toEqual([1]);
    expect(unnamedSubqueries('select 1 from (select 1) a\ncross join lateral (select 2) b')).toEqual([]);
    const unnamed = sources.flatMap((file) =>
      unnamedSubqueries(readFileSync(new URL(file, root), 'utf8')).map((line) => `${file}:${line}`),
    );
    expect(unnamed).toEqual([]);
  });
});
