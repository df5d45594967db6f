import { existsSync, readFileSync } from 'node:fs';

const root = new URL('..', import.meta.url);
const page = readFileSync(new URL('docs/architecture.md', root), 'utf8');
const LINES_MAX = 24;

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
  it('has its five flows', () => {
    expect(page.match(/^## .*$/gm)).toEqual([
      '## A creation',
      '## A delivery',
      '## A receipt',
      '## A verification',
      '## What the provider tells of itself',
    ]);
    expect(steps.length).toBeGreaterThan(40);
  });

  it('names a function after every arrow', () => {
    expect(page.match(/→/g)!.length).toBe([...page.matchAll(/`[^`]+`\s+→\s+`\w+`/g)].length);
  });

  it.each(steps)('%s declares %s', (file, name) => {
    const url = new URL(file, root);
    expect(existsSync(url)).toBe(true);
    expect(declares(readFileSync(url, 'utf8'), name)).toBe(true);
  });

  it('fits a flow on a screen', () => {
    const flows = page.split(/^## /m).slice(1);
    expect(flows.filter((flow) => flow.split('\n').length > LINES_MAX)).toEqual([]);
  });
});
