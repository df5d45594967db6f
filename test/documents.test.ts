import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { run } from '../apps/cli/src/program.js';
import { SERVICE_METRICS } from './prometheus/declaredMetrics.js';

const root = new URL('..', import.meta.url);
const fileOf = (path: string): string => readFileSync(new URL(path, root), 'utf8');
const namesIn = (folder: string): string[] =>
  readdirSync(new URL(folder, root), { recursive: true, encoding: 'utf8' }).map((name) => folder + name);
const PAGES = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  ...['docs/', 'examples/', 'packages/', 'clients/']
    .flatMap(namesIn)
    .filter((name) => /^(?!.*node_modules).*\.md$/.test(name)),
];

const GUIDES = namesIn('apps/docs/pages/').filter((name) => name.endsWith('.md'));

/** The words of the code, and settings of other products that pages name. */
const WORDS = new Set([
  ...['apps/', 'packages/', 'prisma/', 'deploy/', 'scripts/', 'test/']
    .flatMap(namesIn)
    .filter((name) =>
      /^(?!.*(?:node_modules|\/dist\/)).*\.(?:tsx?|mjs|sql|prisma|json|ya?ml|ini)$/.test(name),
    )
    .flatMap((name) => fileOf(name).match(/\w+/g) ?? []),
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
  'checkpoint_timeout',
  'max_wal_size',
  'wal_compression',
  'log_min_duration_statement',
  'shared_buffers',
]);

/** The anchors of a page's headings, as GitHub makes them. */
const anchorsOf = (path: string): string[] =>
  [...fileOf(path).matchAll(/^#+ (.*)$/gm)].map(([, title]) =>
    title!
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-'),
  );

/** Files that Jest runs, as `testMatch` of jest.config.mjs selects them. */
const TEST_FILES = ['apps/', 'packages/', 'test/']
  .flatMap(namesIn)
  .filter((name) => /^(?!.*node_modules)(?:(?:packages|apps)\/[^/]+\/)?test\/.*\.test\.ts$/.test(name));

/** Whether a name is a test file, a pattern of test files or a folder with test files. */
const isTested = (named: string): boolean => {
  const pattern = new RegExp(
    `(?:^|/)${named.replaceAll('.', String.raw`\.`).replaceAll('*', '[^/]*')}(?:/.*)?$`,
  );
  return TEST_FILES.some((file) => pattern.test(file));
};

it('clients/python/README.md lists each option and error of the client', () => {
  const source = fileOf('clients/python/onecode.py');
  const [, options = ''] = /def __init__\(\s+self,\s+base_url: str,.*?\*,(.*?)\n    \):/s.exec(source) ?? [];
  const names = [
    ...[...options.matchAll(/^ +(\w+):/gm)].map(([, name]) => name),
    ...[...source.matchAll(/^class (\w+Error)\(OnecodeError\)/gm)].map(([, name]) => name),
  ];
  const rows = [...fileOf('clients/python/README.md').matchAll(/^\| `(\w+)`/gm)].map(([, name]) => name);
  expect(rows).toEqual([...names, 'ValueError']);
});

describe('a page', () => {
  it.each(PAGES)('%s has no broken links', (path) => {
    const links = [...fileOf(path).matchAll(/\]\((?!https?:)([^)#\s]*)#?([^)\s]*)\)/g)];
    const broken = links.filter(([, target, anchor]) => {
      const url = target === '' ? new URL(path, root) : new URL(target!, new URL(path, root));
      if (!existsSync(url)) return true;
      return anchor !== '' && !anchorsOf(url.pathname.slice(root.pathname.length)).includes(anchor!);
    });
    expect(broken.map(([link]) => link)).toEqual([]);
  });

  // Nothing is published: anyone could register these names.
  it.each([...PAGES, ...GUIDES])('%s installs no client from a registry', (path) => {
    expect(
      fileOf(path).match(
        /\b(?:pip|npm|npx|yarn|pnpm|go get|composer)\b[^\n]* (?:@onecode\/|onecode-client(?!\.)).*/,
      ),
    ).toBeNull();
  });

  it.each(['docs/', 'docs/decisions/'])('of %s is listed in its index', (folder) => {
    const index = fileOf(`${folder}README.md`);
    const names = readdirSync(new URL(folder, root)).filter((name) => /^(?!README).*\.md$/.test(name));
    expect(names.filter((name) => !index.includes(`](${name})`))).toEqual([]);
  });

  it.each(PAGES.filter((path) => path.startsWith('docs/')))(
    '%s names only tables, columns, settings and findings that exist',
    (path) => {
      const named = [...fileOf(path).matchAll(/`(?:[a-z]+\.)?([a-z]+(?:_[a-z0-9]+)+)`/g)].map(
        ([, name]) => name!,
      );
      expect(named.filter((name) => !WORDS.has(name))).toEqual([]);
    },
  );

  it.each(PAGES)('%s names only tests that Jest runs', (path) => {
    const text = fileOf(path);
    const paragraphs = text.match(/^Tests: [^]*?(?=\n\n|(?![^]))/gm) ?? [];
    const named = [
      ...paragraphs.flatMap((tests) => tests.match(/(?<=`)[\w.-]+\/[^`\s]+(?=`)/g) ?? []),
      ...(text.match(/(?<=`)[^`\s]+\.test\.ts(?=`)/g) ?? []),
    ];
    expect(named.filter((name) => !name.startsWith('.') && !isTested(name))).toEqual([]);
  });

  it.each([...PAGES, ...GUIDES])('%s has no command with a fixed idempotency key', (path) => {
    const commands = [...fileOf(path).matchAll(/^ *```sh\b.*\n([^]*?)^ *```$/gm)].map(([, text]) => text);
    expect(commands.join('').match(/Idempotency-Key: (?!\$).*/g)).toBeNull();
  });

  it.each(PAGES)('%s names only existing files', (path) => {
    const FILE = /`((?:apps|bench|clients|deploy|examples|packages|prisma|scripts|test)\/[\w./-]+\.\w+)`/g;
    const named = [...fileOf(path).matchAll(FILE)].map(([, file]) => file!);
    expect(named.filter((file) => !existsSync(new URL(file, root)) && !file.includes('/dist/'))).toEqual([]);
  });
});

it('every list of webhook fields has all fields that Onecode reads', () => {
  const cases = fileOf('packages/whatsapp/src/changes.ts').matchAll(/case '([a-z_]+)':/g);
  const fields = [...cases].map(([, field]) => field!);
  expect(fields).toContain('account_update');
  const pages = [...PAGES, ...GUIDES].filter((path) =>
    fileOf(path).includes('`message_template_status_update`'),
  );
  expect(pages).toHaveLength(3);
  for (const path of pages)
    expect([path, ['messages', ...fields].filter((field) => !fileOf(path).includes(`\`${field}\``))]).toEqual(
      [path, []],
    );
});

describe('the supported versions of Node', () => {
  const enginesOf = (path: string): string =>
    (JSON.parse(fileOf(path)) as { engines: { node: string } }).engines.node;
  const REQUIREMENT = /Node (\d+\.\d+) (?:or newer|ou mais novo)/g;
  const SDK_PAGES = ['packages/client/README.md', ...GUIDES];

  it('of the service are only in the README, as in package.json', () => {
    expect(enginesOf('package.json')).toBe('^20.19.0 || >=22.12.0');
    expect(fileOf('README.md')).toContain('Node 20 (20.19 or newer) or Node 22.12 or newer');
    const others = PAGES.filter((path) => path !== 'README.md' && !SDK_PAGES.includes(path));
    expect(others.filter((path) => fileOf(path).match(REQUIREMENT))).toEqual([]);
  });

  it('of the SDK are the same on every page of the SDK, as in its package.json', () => {
    const [, oldest] = /^>=(\d+\.\d+)\.0$/.exec(enginesOf('packages/client/package.json'))!;
    const versions = SDK_PAGES.flatMap((path) =>
      [...fileOf(path).matchAll(REQUIREMENT)].map(([, version]) => version),
    );
    expect(versions.length).toBeGreaterThan(4);
    expect(new Set(versions)).toEqual(new Set([oldest]));
  });
});

describe('docs/operations.md', () => {
  it('lists exactly the metrics of the whole service', () => {
    const listed = fileOf('docs/operations.md').match(/(?<=^\| `)onecode_[a-z_]+(?=` +\| [^|]* \|)/gm) ?? [];
    expect(new Set(listed)).toEqual(SERVICE_METRICS);
  });
});

describe('a page of the documentation', () => {
  let commands: Record<string, string[]>;
  beforeAll(async () => {
    commands = await commandsOf();
  });

  it.each([...PAGES, ...GUIDES])('%s names only existing commands and options', (path) => {
    const COMMAND = /(?:^ *|`)(?:npm run --silent )?onecode (?:-- )?(([a-z]+)(?: [a-z-]+)?)\b([^`\n]*)/gm;
    const unknown = [...fileOf(path).matchAll(COMMAND)].filter(([, pair, single, rest]) => {
      const options = commands[pair!] ?? commands[single!];
      const used = rest!.match(/(?<= )--[a-z-]+/g) ?? [];
      return options === undefined || used.some((option) => !['--json', ...options].includes(option));
    });
    expect(unknown.map(([whole]) => whole)).toEqual([]);
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
