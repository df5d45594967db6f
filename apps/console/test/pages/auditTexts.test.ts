import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const STORE = at('../../../../packages/store/src');
const sources = readdirSync(STORE, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && !file.startsWith('generated'))
  .map((file) => readFileSync(`${STORE}/${file}`, 'utf8'));
const board = readFileSync(at('../../src/board/audit.ts'), 'utf8');

/** Every action that is written into the audit log: `area.verb` in quotes, and what the board's table names. */
const actions = new Set([
  ...sources
    .flatMap((source) => [...source.matchAll(/'([a-z_]+\.[a-z_]+)'/g)])
    .map(([, action]) => action as string)
    .filter((action) => !action.endsWith('.js')),
  ...[...board.matchAll(/\['([a-z_]+)', (?:new RegExp|\/)/g)].map(([, verb]) => `board.${verb}`),
]);

interface Texts {
  areas: Record<string, string>;
  actions: Record<string, Record<string, string>>;
}

describe.each(['en', 'pt-BR'])('the audit log in %s', (language) => {
  const texts = JSON.parse(readFileSync(at(`../../web/src/locales/${language}/audit.json`), 'utf8')) as Texts;

  it('has a text for every action that is written into it', () => {
    expect(actions.size).toBeGreaterThan(20);
    const without = [...actions].filter((action) => {
      const [area = '', verb = ''] = action.split('.');
      return !texts.actions[area]?.[verb] || !texts.areas[area];
    });
    expect(without).toEqual([]);
  });

  it('has no text for actions that are never written', () => {
    const described = Object.entries(texts.actions).flatMap(([area, verbs]) =>
      Object.keys(verbs).map((verb) => `${area}.${verb}`),
    );
    expect(described.filter((action) => !actions.has(action))).toEqual([]);
  });
});
