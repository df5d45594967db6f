import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const WEB = fileURLToPath(new URL('../../web/src', import.meta.url));

type Texts = { [key: string]: string | Texts };

const read = (language: string, area: string): Texts =>
  JSON.parse(readFileSync(join(WEB, 'locales', language, area), 'utf8')) as Texts;

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

const FEATURES = readdirSync(join(WEB, 'locales/en')).filter((name) => name.endsWith('.json'));

/** Every page's source, as one text. */
function sources(folder = WEB): string {
  return readdirSync(folder, { withFileTypes: true })
    .map((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return entry.name === 'locales' ? '' : sources(path);
      return /\.tsx?$/.test(entry.name) ? readFileSync(path, 'utf8') : '';
    })
    .join('\n');
}

describe('the texts of the pages', () => {
  it('exist in both languages for the same features', () => {
    expect(readdirSync(join(WEB, 'locales/pt-BR')).toSorted()).toEqual(
      readdirSync(join(WEB, 'locales/en')).toSorted(),
    );
    expect(FEATURES.length).toBeGreaterThan(5);
  });

  it.each(FEATURES)('%s: every key has a text in both languages', (area) => {
    const [en, pt] = [read('en', area), read('pt-BR', area)];
    expect(keysOf(pt)).toEqual(keysOf(en));
    for (const texts of [en, pt]) expect(flat(texts).filter(([, text]) => text.trim() === '')).toEqual([]);
  });

  it.each(FEATURES)('%s: plurals have every form that their language needs', (area) => {
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

  it.each(FEATURES)('%s: a text and its translation have the same placeholders and tags', (area) => {
    const translated = new Map(flat(read('pt-BR', area)));
    for (const [key, text] of flat(read('en', area))) {
      const other = translated.get(key);
      if (other === undefined) continue;
      expect([key, new Set(placeholdersOf(other))]).toEqual([key, new Set(placeholdersOf(text))]);
      expect([key, tagsOf(other).toSorted()]).toEqual([key, tagsOf(text).toSorted()]);
    }
  });

  it('are all used by a page', () => {
    const source = sources();
    const unused = FEATURES.flatMap((area) =>
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

  it('are not written in the pages themselves', () => {
    const literal =
      /(?:label|title|placeholder|aria-label|description|alt)="[^"{}]*[A-Za-z]{3,}[^"]*"|>\s*[A-Z][a-z]+ [a-z]+[^<{}]*</g;
    const found = sources().match(literal) ?? [];
    expect(found).toEqual([]);
  });
});
