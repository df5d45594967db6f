import { existsSync, readdirSync, readFileSync } from 'node:fs';

const root = new URL('..', import.meta.url);
const page = readFileSync(new URL('docs/architecture.md', root), 'utf8');

/** A file and the functions after its arrow, whichever way the lines break. */
const steps = [...page.matchAll(/`([^`]+)`\s+→\s+((?:`\w+`(?:,\s+(?:or\s+)?)?)+)/g)].flatMap(
  ([, file, functions]) => functions!.match(/\w+(?=`)/g)!.map((name) => [file!, name] as const),
);

/** Whether a source declares a function, a class or an SQL function of this name. */
function declares(source: string, name: string): boolean {
  return new RegExp(
    String.raw`^(?:export )?(?:async )?(?:function|class) ${name}\b|^(?:export )?const ${name} = |^create (?:or replace )?function (?:\w+\.)?${name}\b`,
    'im',
  ).test(source);
}

describe('docs/architecture.md', () => {
  it('names a function after every arrow', () => {
    expect(page.match(/→/g)!.length).toBe([...page.matchAll(/`[^`]+`\s+→\s+`\w+`/g)].length);
  });

  it.each(steps)('%s declares %s', (file, name) => {
    const url = new URL(file, root);
    expect(existsSync(url)).toBe(true);
    expect(declares(readFileSync(url, 'utf8'), name)).toBe(true);
  });

  it('lists every statement that writes sends, with the columns that it writes', () => {
    const table = page.slice(page.indexOf('## Statements that write `sends`'));
    const rows = [...table.matchAll(/^\|[^|]+\| `([^`]+)` → [^|]+\| ([^|]+) \|$/gm)];
    const listed = rows.map(([, file, columns]) =>
      [file, ...[...columns!.matchAll(/`(\w+)`/g)].map(([, name]) => name!).toSorted()].join(),
    );
    expect(listed.toSorted()).toEqual(sendsStatements().toSorted());
  });
});

/** Every statement that writes `sends`: its file, and the columns that an update sets, sorted. */
function sendsStatements(): string[] {
  const folders = ['packages/store/src/', 'prisma/functions/'];
  const files = folders.flatMap((folder) =>
    readdirSync(new URL(folder, root), { recursive: true, encoding: 'utf8' }).map((name) => folder + name),
  );
  const sources = files.filter((file) => /\.(ts|sql)$/.test(file) && !file.includes('/generated/'));
  return sources.flatMap((file) => {
    const source = readFileSync(new URL(file, root), 'utf8');
    const statements = source.matchAll(
      /\b(?:insert into|delete from|merge into|update) sends\b(?: (?!set\b)\w+)?(?:\s+set\s([^;`]*))?/g,
    );
    return [...statements].map(([, set = '']) => [file, ...columnsOf(set)].join());
  });
}

/** The columns that an update sets, except `version`. @param set the statement after `set` */
function columnsOf(set: string): string[] {
  const sendRow = readFileSync(new URL('packages/store/src/sends/sendRow.ts', root), 'utf8');
  const decided = [...sendRow.matchAll(/\['(\w+)', '\w+'\]/g)].map(([, name]) => `${name} = x`).join();
  let list = set.replaceAll(/--.*/g, '').replace("${assignments('c')}", decided);
  while (/\([^()]*\)/.test(list)) list = list.replaceAll(/\([^()]*\)/g, '');
  const [assigned = ''] = list.split(/\b(?:from|where|returning)\b/);
  const columns = assigned.split(',').flatMap((part) => /^\s*(\w+) =/.exec(part)?.[1] ?? []);
  return columns.filter((name) => name !== 'version').toSorted();
}
