import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync } from '@swc/core';
import { check } from 'recheck';

/**
 * Code that runs in production, in customers' programs or in the simulator. apps/docs and packages/testing are omitted, because they read
 * only files of this repository.
 */
const FOLDERS = [
  ...['api', 'cli', 'console', 'worker'].map((name) => `apps/${name}/src`),
  'apps/console/web/src',
  'apps/console/web/public',
  ...['client', 'code-samples', 'domain', 'runtime', 'simulator', 'store', 'whatsapp'].map(
    (name) => `packages/${name}/src`,
  ),
  'packages/simulator/public',
];

interface Pattern {
  file: string;
  source: string;
  flags: string;
}

/** Returns the scripts in a folder, without Prisma's generated client, which gets no foreign input. */
function scriptsIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => /\.[jt]sx?$/.test(path) && !path.startsWith('packages/store/src/generated'));
}

type Node = Record<string, unknown> & { type?: string };

/**
 * Returns the regular expressions in a script: literals, arguments of `RegExp`, and the `pattern` of schemas. A text that a pattern
 * includes is read if it is a constant of the same script, and stands for one letter otherwise.
 */
function patternsIn(file: string, script = readFileSync(file, 'utf8')): Pattern[] {
  const isScript = /\.jsx?$/.test(file);
  const parsed = parseSync(
    script,
    isScript ? { syntax: 'ecmascript', jsx: true } : { syntax: 'typescript', tsx: file.endsWith('x') },
  );
  const nodes: Node[] = [];
  const collect = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    if (!Array.isArray(value)) nodes.push(value as Node);
    for (const child of Object.values(value)) collect(child);
  };
  collect(parsed.body);

  const constants = new Map(
    nodes
      .filter(({ type }) => type === 'VariableDeclarator')
      .map(({ id, init }) => [(id as Node)['value'], init as Node] as const),
  );
  /** Returns the text of an expression, or null if it is known only at run time. */
  const textOf = (node: Node | null | undefined): string | null => {
    switch (node?.type) {
      case 'StringLiteral':
        // The parser doubles the backslash before a `u`.
        return (node['value'] as string).replaceAll('\\\\u', '\\u');
      case 'Identifier':
        return constants.has(node['value']) ? textOf(constants.get(node['value'])) : null;
      case 'TaggedTemplateExpression':
        return textOf(node['template'] as Node);
      case 'TemplateLiteral': {
        const parts = (node['expressions'] as Node[]).map((part) => textOf(part) ?? 'x');
        return (node['quasis'] as Node[])
          .map((quasi, index) => `${String(quasi['cooked'] ?? quasi['raw'])}${parts[index] ?? ''}`)
          .join('');
      }
      default:
        return null;
    }
  };

  return nodes.flatMap((node): Pattern[] => {
    if (node.type === 'RegExpLiteral')
      return [{ file, source: node['pattern'] as string, flags: node['flags'] as string }];
    const isPattern = node.type === 'KeyValueProperty' && (node['key'] as Node)['value'] === 'pattern';
    const isCall = node.type === 'NewExpression' || node.type === 'CallExpression';
    const isRegExp = isCall && (node['callee'] as Node)['value'] === 'RegExp';
    if (!isPattern && !isRegExp) return [];
    const [source, flags] = isPattern
      ? [node['value'] as Node]
      : (node['arguments'] as { expression: Node }[]).map(({ expression }) => expression);
    const text = textOf(source);
    // Without a text, it is the source of another expression.
    return text === null ? [] : [{ file, source: text, flags: isPattern ? 'u' : (textOf(flags) ?? '') }];
  });
}

/** Returns the regular expressions of a client in JavaScript's form. Go's are omitted: its engine always takes linear time. */
function clientPatternsIn(file: string): Pattern[] {
  const calls: Readonly<Record<string, RegExp>> = {
    '.py': /re\.(?<how>fullmatch|search)\(r?"(?<source>[^"\n]+)"/g,
    '.php': /preg_\w+\('(?<end>[/#])(?<source>[^'\n]+)\k<end>\w*'/g,
    '.java': /(?:\.(?<how>matches|replaceFirst|replaceAll)|Pattern\.compile)\("(?<source>[^"\n]+)"/g,
  };
  const extension = /\.\w+$/.exec(file)![0];
  return [...readFileSync(file, 'utf8').matchAll(calls[extension]!)].map(({ groups }) => {
    const { how, source } = groups as { how?: string; source: string };
    const text = source
      .replaceAll(extension === '.java' ? '\\\\' : /$^/g, '\\')
      .replaceAll(/\\x\{(\w+)\}/g, (_, digits: string) => `\\u{${digits}}`);
    const isWhole = how === 'fullmatch' || how === 'matches';
    return { file, source: isWhole ? `^(?:${text})$` : text, flags: /\\p\{/.test(text) ? 'u' : '' };
  });
}

const CLIENTS = ['python/onecode.py', 'php/Onecode.php', 'java/Onecode.java'];

/** Returns how a pattern's time grows with the text, or null if at most linearly. */
async function faultOf({ source, flags }: Pattern): Promise<string | null> {
  const found = await check(source, flags, { timeout: 60_000, randomSeed: 1 });
  if (found.status === 'safe') return null;
  return found.status === 'vulnerable' ? found.complexity.summary : found.error.kind;
}

async function faultsOf(patterns: readonly Pattern[]): Promise<string[]> {
  const faults: string[] = [];
  const judged = new Map<string, string | null>();
  for (const pattern of patterns) {
    const name = `/${pattern.source}/${pattern.flags}`;
    if (!judged.has(name)) judged.set(name, await faultOf(pattern));
    const fault = judged.get(name);
    if (fault !== null) faults.push(`${pattern.file}: ${name} takes ${fault} time`);
  }
  return faults;
}

const CHECK_MS_MAX = 300_000;

describe('a regular expression that may read untrusted input', () => {
  it(
    'takes linear time in the sources',
    async () => {
      const patterns = FOLDERS.flatMap(scriptsIn).flatMap((file) => patternsIn(file));
      expect(patterns.length).toBeGreaterThan(250);
      expect(await faultsOf(patterns)).toEqual([]);
    },
    CHECK_MS_MAX,
  );

  it('takes linear time in the clients of other languages', async () => {
    const patterns = CLIENTS.flatMap((name) => clientPatternsIn(`clients/${name}`));
    expect(patterns.length).toBeGreaterThan(25);
    expect(await faultsOf(patterns)).toEqual([]);
  });

  it.each([
    String.raw`const credential = /^bearer(?:[ \t]+(.*))?$/i.exec(header);`,
    String.raw`header.replace(/[ \t]+$/, '');`,
    String.raw`header.replace(/^[ \t]+|[ \t]+$/g, '');`,
    String.raw`const key = /^bearer(?:[ \t]+(.*?))?[ \t]*$/i.exec(header);`,
    'text.replace(/^ +| +$/g, "");',
    String.raw`const EMAIL = /^[^\s@]+@[^\s@]+\.[^\s@]+$/;`,
    String.raw`text.match(/"(?:[^"\\]|\\.)*"/g);`,
    String.raw`text.replace(/(?<!x)[ \t]+$/, '');`,
    String.raw`new RegExp('(a+)+$');`,
    "const WORD = '(a|a)*'; const FORM = new RegExp(`^${WORD}$`, 'u');",
    String.raw`const field = Type.String({ pattern: '\\s+$' });`,
  ])('is found when it takes more than linear time: %s', async (script) => {
    expect(await faultsOf(patternsIn('source.ts', script))).toEqual([
      expect.stringMatching(/^source\.ts: .* takes .*(?:polynomial|exponential).* time$/),
    ]);
  });
});
