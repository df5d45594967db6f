import { existsSync, readFileSync } from 'node:fs';

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
});
