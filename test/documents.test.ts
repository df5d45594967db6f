import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { run } from '../apps/cli/src/program.js';

const root = new URL('..', import.meta.url);
const fileOf = (path: string): string => readFileSync(new URL(path, root), 'utf8');
const namesIn = (folder: string): string[] =>
  readdirSync(new URL(folder, root), { recursive: true, encoding: 'utf8' }).map((name) => folder + name);
const PAGES = ['README.md', ...namesIn('docs/').filter((name) => name.endsWith('.md'))];

/** The anchors of a page's headings, as GitHub makes them. */
const anchorsOf = (path: string): string[] =>
  [...fileOf(path).matchAll(/^#+ (.*)$/gm)].map(([, title]) =>
    title!
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-'),
  );

describe('a page', () => {
  it.each(PAGES)('%s links only to what exists', (path) => {
    const links = [...fileOf(path).matchAll(/\]\((?!https?:)([^)#\s]*)#?([^)\s]*)\)/g)];
    const broken = links.filter(([, target, anchor]) => {
      const url = target === '' ? new URL(path, root) : new URL(target!, new URL(path, root));
      if (!existsSync(url)) return true;
      return anchor !== '' && !anchorsOf(url.pathname.slice(root.pathname.length)).includes(anchor!);
    });
    expect(broken.map(([link]) => link)).toEqual([]);
  });

  it('stands in the index of documents', () => {
    const index = fileOf('docs/README.md');
    const pages = PAGES.filter((path) => /^docs\/(?!README)[^/]*$/.test(path)).map((path) => path.slice(5));
    expect(pages.filter((page) => !index.includes(`](${page})`))).toEqual([]);
  });
});

describe('a decision', () => {
  const decisions = PAGES.filter((path) => /^docs\/decisions\/\d/.test(path));

  it.each(decisions)('%s has a title, a date, a status, its context and the decision', (path) => {
    const number = path.slice('docs/decisions/'.length).slice(0, 2);
    const text = fileOf(path);
    expect(text).toMatch(
      new RegExp(
        `^# ${number} · .+\\n\\nDate: \\d{4}-\\d\\d-\\d\\d(?:, amended [\\d-]+(?: and [\\d-]+)?)? · Status: (?:accepted|superseded)`,
      ),
    );
    expect(text).toMatch(/^## Context$/m);
    expect(text).toMatch(/^## Decision/m);
  });

  it('stands in the index with its title', () => {
    const index = fileOf('docs/decisions/README.md');
    const titles = decisions.map((path) => {
      const title = /^# (.*)$/m.exec(fileOf(path))![1]!;
      return `[${title}](${path.slice('docs/decisions/'.length)})`;
    });
    expect(titles.filter((link) => !index.includes(link))).toEqual([]);
  });

  it('that is superseded, and the one that supersedes it, name each other', () => {
    const superseded = decisions.flatMap((path) =>
      [
        ...fileOf(path)
          .split('## Context')[0]!
          .matchAll(/superseded.*?\]\(([^)]*)\)/gs),
      ].map(([, target]) => [path, `docs/decisions/${target}`] as const),
    );
    for (const [path, by] of superseded)
      expect(fileOf(by).split('## Context')[0]).toContain(`](${path.slice('docs/decisions/'.length)})`);
  });
});

describe('docs/operations.md', () => {
  it('lists every metric of our own, and no other', () => {
    const sources = ['apps/api/src/', 'apps/worker/src/', 'apps/console/src/', 'packages/runtime/src/']
      .flatMap(namesIn)
      .filter((name) => name.endsWith('.ts'));
    const declared = sources.flatMap((name) => [
      ...(fileOf(name).match(/(?<=(?:name: |gauge\(\s*|counter\(\s*)')onecode_[a-z_]+/g) ?? []),
    ]);
    const listed = fileOf('docs/operations.md').match(/(?<=^\| `)onecode_[a-z_]+(?=` +\| [^|]* \|)/gm) ?? [];
    expect(new Set(listed)).toEqual(new Set(declared));
  });
});

describe('docs/command-line.md', () => {
  it('lists every command with its options', async () => {
    const page = fileOf('docs/command-line.md').replaceAll(String.raw`\|`, '/');
    const listed = [...page.matchAll(/^\| `([a-z]+(?: [a-z-]+)?)([^`]*)`/gm)].map(
      ([, command, rest]) => [command!, (rest!.match(/--[a-z-]+/g) ?? []).toSorted()] as const,
    );
    expect(Object.fromEntries(listed)).toEqual(await commandsOf());
  });
});

/** Every command of the command line with its own options, as its help shows them. */
async function commandsOf(): Promise<Record<string, string[]>> {
  const commands: Record<string, string[]> = {};
  for (const group of namesOf(await helpOf([]))) {
    const members = namesOf(await helpOf([group])).map((command) => [group, command]);
    for (const words of members.length === 0 ? [[group]] : members) {
      const options = /^Options:$(.*?)(?:^$|(?![^]))/ms.exec(await helpOf(words))![1]!;
      commands[words.join(' ')] = [...options.matchAll(/^ {2}(?:-\w, )?(--[a-z-]+)/gm)]
        .map(([, option]) => option!)
        .filter((option) => option !== '--help')
        .toSorted();
    }
  }
  return commands;
}

/** The commands that a help text lists. */
const namesOf = (help: string): string[] =>
  [...((help.split(/^Commands:$/m)[1] ?? '').split(/^$/m)[0] ?? '').matchAll(/^ {2}([a-z-]+)/gm)]
    .map(([, name]) => name!)
    .filter((name) => name !== 'help');

async function helpOf(command: readonly string[]): Promise<string> {
  const { stdout } = process;
  const write = stdout.write.bind(stdout);
  let help = '';
  stdout.write = (text: string | Uint8Array) => {
    help += String(text);
    return true;
  };
  try {
    await run([...command, '--help']);
  } finally {
    stdout.write = write;
  }
  return help;
}
