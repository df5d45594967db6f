import { readdirSync, readFileSync } from 'node:fs';

const root = new URL('..', import.meta.url);

/** Words and phrases that hide who does what, and the plain ones to write instead. */
const BANNED: readonly [pattern: string, instead: string][] = [
  ['whoever|somebody|nobody|anybody', 'name the actor: the operator, another process, no request'],
  ['whom|whose', 'name the thing again, or use "with"'],
  ['tells|told', 'reports, returns, logs, notifies'],
  ['of (?:ours|theirs)', 'our, their, or the name of the owner'],
  // Not the option `--beside` of the benchmark.
  [String.raw`(?<!--|values\.)besides?(?!: \{)`, 'next to, also, in addition'],
  ['(?:holds up|keeps) (?:no other|nobody)', 'does not block other'],
  ["(?:nobody|anybody)[’']s (?:business|fault)", 'is ignored, is not counted as a failure'],
  ['(?:is|are|was|were) (?:away|down)', 'is unavailable'],
  ['set aside', 'parked, dead-lettered'],
  ['costly numbers?', 'premium-rate number'],
  ['from (?:then|that day) on', 'starting with, later'],
  ['all the same', 'still'],
];

/** Quotations that stay, as `file: text`, each with its reason. */
const QUOTATIONS: ReadonlyMap<string, string> = new Map([
  ["scripts/services/pgbouncer.mjs: 'nobody'", 'the name of a Unix user'],
  ['test/operators/programs/systemctl: -o nobody', 'the name of a Unix user'],
  ['test/operators/programs/systemctl: --reuid nobody', 'the name of a Unix user'],
]);

const FOLDERS = [
  '.github/',
  'apps/',
  'bench/',
  'clients/',
  'deploy/',
  'docs/',
  'examples/',
  'packages/',
  'prisma/',
  'scripts/',
  'test/',
];
const TEXT = /\.(?:c|css|go|html|ini|java|js|json|jsx|md|mjs|php|prisma|py|sh|sql|tsx?|ya?ml)$|\/[\w-]+$/;
/** Generated or installed files, and this one. */
const IGNORED =
  /(?:^|\/)(?:node_modules|dist|generated|reference|coverage|\.(?:next|cache|vitepress\/cache))\/|\/errors\.md$|(?:package-lock\.json|LICENSE)$|\/public\/(?:clients|examples)\/|^test\/plainWords\.test\.ts$/;

function textFiles(folder: string): string[] {
  return readdirSync(new URL(folder, root), { withFileTypes: true }).flatMap((entry) => {
    const path = folder + entry.name;
    if (IGNORED.test(entry.isDirectory() ? `${path}/` : path)) return [];
    if (entry.isDirectory()) return textFiles(`${path}/`);
    return entry.isFile() && TEXT.test(path) ? [path] : [];
  });
}

const WORDS = new RegExp(String.raw`\b(?:${BANNED.map(([pattern]) => pattern).join('|')})\b`, 'gi');
/** Words in sentences, in contrast to identifiers such as `noBody`. */
const IN_A_SENTENCE = /^.[^A-Z]*$/;

interface Finding {
  file: string;
  line: number;
  word: string;
  text: string;
}

function findBannedWords(file: string): Finding[] {
  const lines = readFileSync(new URL(file, root), 'utf8').split('\n');
  return lines.flatMap((text, index) =>
    [...text.matchAll(WORDS)]
      .filter(([word]) => IN_A_SENTENCE.test(word))
      .map(([word]) => ({ file, line: index + 1, word, text: text.trim() })),
  );
}

const insteadOf = (word: string): string =>
  BANNED.find(([pattern]) => new RegExp(`^(?:${pattern})$`, 'i').test(word))![1];

const isQuotation = ({ file, text }: Finding): boolean =>
  [...QUOTATIONS.keys()].some((quotation) => {
    const [path, quoted] = quotation.split(/: (.*)/s);
    return file === path && text.includes(quoted!);
  });

describe('the repository', () => {
  const pages = readdirSync(root).filter((name) => name.endsWith('.md') && name !== 'CHANGELOG.md');
  const findings = [...pages, ...FOLDERS.flatMap(textFiles)].flatMap(findBannedWords);

  it('is written in plain words', () => {
    const remaining = findings.filter((finding) => !isQuotation(finding));
    expect(remaining.map(({ file, line, word }) => `${file}:${line}: "${word}": ${insteadOf(word)}`)).toEqual(
      [],
    );
  });

  it('has every quotation that the list allows', () => {
    const unused = [...QUOTATIONS.keys()].filter(
      (quotation) =>
        !findings.some((finding) => isQuotation(finding) && quotation.startsWith(`${finding.file}: `)),
    );
    expect(unused).toEqual([]);
  });
});
