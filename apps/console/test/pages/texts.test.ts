import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { LIMIT_REFUSALS, PREFLIGHT_TEXTS, PROBLEMS, RECIPIENT_REFUSALS } from '@onecode/domain';
import { KNOWN_ERRORS } from '@onecode/whatsapp';
import { SETUP_TEXTS } from '@onecode/whatsapp/setup';

const WEB = fileURLToPath(new URL('../../web/src', import.meta.url));
const BOARD = fileURLToPath(new URL('../../src/board', import.meta.url));
const STORE = fileURLToPath(new URL('../../../../packages/store/src', import.meta.url));

interface Texts {
  readonly [key: string]: string | Texts;
}

/** Errors that only the provider's requests get. */
const OF_WEBHOOKS = new Set(['forbidden', 'invalid_signature', 'payload_too_large', 'too_busy']);

/** Texts that the server sends in English, and the pages translate by key. */
const OF_SERVER: Texts = {
  'preflight.json': PREFLIGHT_TEXTS,
  'refusals.json': Object.fromEntries([
    ...Object.entries({ ...LIMIT_REFUSALS, ...RECIPIENT_REFUSALS }),
    ...Object.entries(PROBLEMS)
      .filter(([code]) => !OF_WEBHOOKS.has(code))
      .map(([code, { meaning }]) => [code, meaning] as const),
  ]),
  'senderSetup.json': SETUP_TEXTS,
  'providerErrors.json': Object.fromEntries(
    KNOWN_ERRORS.map(({ name, fault, remedy }) => [name, { meaning: fault.reason, remedy }]),
  ),
};

const read = (language: string, area: string): Texts =>
  (language === 'en' ? (OF_SERVER[area] as Texts | undefined) : undefined) ??
  (JSON.parse(readFileSync(join(WEB, 'locales', language, area), 'utf8')) as Texts);

/** Every text with the path of its key. */
function flat(texts: Texts, path = ''): [key: string, text: string][] {
  return Object.entries(texts).flatMap(([key, value]) => {
    const at = path === '' ? key : `${path}.${key}`;
    return typeof value === 'string' ? [[at, value] as [string, string]] : flat(value, at);
  });
}

/** Languages have different plural forms. */
const withoutPlural = (key: string): string => key.replace(/_(zero|one|two|few|many|other)$/, '');
const keysOf = (texts: Texts): string[] =>
  [...new Set(flat(texts).map(([key]) => withoutPlural(key)))].toSorted();
const placeholdersOf = (text: string): string[] =>
  [...text.matchAll(/\{\{\s*(\w+)/g)].map(([, name]) => name as string);
const tagsOf = (text: string): string[] => [...text.matchAll(/<\/?(\w+)\s*\/?>/g)].map(([tag]) => tag);

const filesOf = (language: string): string[] =>
  readdirSync(join(WEB, 'locales', language)).filter((name) => name.endsWith('.json'));
const OF_PAGES = filesOf('en');
const FEATURES = [...OF_PAGES, ...Object.keys(OF_SERVER)].toSorted();

/** The sources in a folder, of every page unless another is named, as one text. */
function sources(folder = WEB): string {
  return readdirSync(folder, { withFileTypes: true })
    .map((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return ['locales', 'generated'].includes(entry.name) ? '' : sources(path);
      return /\.tsx?$/.test(entry.name) ? readFileSync(path, 'utf8') : '';
    })
    .join('\n');
}

describe('the texts of the pages', () => {
  it('exist in both languages for the same features', () => {
    expect(filesOf('pt-BR').toSorted()).toEqual(FEATURES);
    expect(OF_PAGES.length).toBeGreaterThan(5);
  });

  it.each(FEATURES)('have every key in both languages: %s', (area) => {
    const [en, pt] = [read('en', area), read('pt-BR', area)];
    expect(keysOf(pt)).toEqual(keysOf(en));
    for (const texts of [en, pt]) expect(flat(texts).filter(([, text]) => text.trim() === '')).toEqual([]);
  });

  it.each(FEATURES)('have every plural form that their language needs: %s', (area) => {
    for (const [language, forms] of [
      ['en', ['one', 'other']],
      ['pt-BR', ['one', 'many', 'other']],
    ] as const) {
      const keys = flat(read(language, area)).map(([key]) => key);
      const plurals = new Set(keys.filter((key) => withoutPlural(key) !== key).map(withoutPlural));
      const missing = [...plurals].flatMap((key) =>
        forms.map((form) => `${key}_${form}`).filter((key) => !keys.includes(key)),
      );
      expect({ language, missing }).toEqual({ language, missing: [] });
    }
  });

  it.each(FEATURES)('have the same placeholders and tags in both languages: %s', (area) => {
    const translated = new Map(flat(read('pt-BR', area)));
    for (const [key, text] of flat(read('en', area))) {
      const other = translated.get(key);
      if (other === undefined) continue;
      expect([key, new Set(placeholdersOf(other))]).toEqual([key, new Set(placeholdersOf(text))]);
      expect([key, tagsOf(other).toSorted()]).toEqual([key, tagsOf(text).toSorted()]);
    }
  });

  it('are all used by a page', () => {
    const source = sources() + sources(BOARD);
    const unused = OF_PAGES.flatMap((area) =>
      keysOf(read('en', area))
        .filter((key) => {
          const parts = key.split('.');
          // A key may be built from its parts; the source then has its first part before a placeholder.
          return (
            !source.includes(key) &&
            !parts.slice(1).some((_, index) => source.includes(`${parts.slice(0, index + 1).join('.')}.\${`))
          );
        })
        .map((key) => `${area} ${key}`),
    );
    expect(unused).toEqual([]);
  });

  it('exist for every action in the audit log', () => {
    // `area.verb` in quotes, except the types of webhook events and columns of SQL, and the actions in the board's table.
    const actions = [
      ...[...sources(STORE).matchAll(/(?<!\btype: .*|\bms\()'([a-z_]+\.[a-z_]+)'/g)].map(([, action]) =>
        String(action),
      ),
      ...[...sources(BOARD).matchAll(/\['([a-z_]+)', (?:new RegExp|\/)/g)].map(([, verb]) => `board.${verb}`),
    ].filter((action) => !action.endsWith('.js'));
    expect(actions.length).toBeGreaterThan(20);
    const { areas = {}, actions: verbs = {} } = read('en', 'audit.json') as Record<string, Texts>;
    const without = actions.filter((action) => {
      const [area = '', verb = ''] = action.split('.');
      return !areas[area] || !(verbs[area] as Texts | undefined)?.[verb];
    });
    expect(without).toEqual([]);
  });

  it('are not written in the pages themselves', () => {
    const literal =
      /(?:label|title|placeholder|aria-label|description|alt)="[^"{}]*[A-Za-z]{3,}[^"]*"|>\s*[A-Z][a-z]+ [a-z]+[^<{}]*</g;
    const found = sources().match(literal) ?? [];
    expect(found).toEqual([]);
  });
});

describe('useBlockReason', () => {
  it('knows only sentences that Onecode writes', () => {
    const hook = readFileSync('apps/console/web/src/hooks/blockReason.ts', 'utf8');
    // Only the sentences without a group: the others contain Meta's words.
    const sentences = [...hook.matchAll(/\/\^([^()]+?)\$\//g)].map(([, text]) => text!.replaceAll('\\', ''));
    const sources = [
      'packages/whatsapp/src',
      'packages/domain/src',
      'packages/store/src',
      'prisma/migrations',
    ]
      .flatMap((folder) =>
        readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file)),
      )
      .filter((file) => /(?<!\/generated\/.*)\.(?:ts|sql)$/.test(file))
      .map((file) => readFileSync(file, 'utf8'));
    expect(sentences.length).toBeGreaterThan(5);
    expect(sentences.filter((sentence) => !sources.some((source) => source.includes(sentence)))).toEqual([]);
  });
});
