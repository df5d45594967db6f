import { readFileSync } from 'node:fs';
import { readDashboard } from '../../src/features/metrics/dashboard.js';

const FILE = new URL('../../web/src/features/metrics/dashboardTexts.pt-BR.json', import.meta.url);
const texts = JSON.parse(readFileSync(FILE, 'utf8')) as Record<string, string>;

/** A text that is only the value of labels has nothing to translate. */
const hasWords = (text: string): boolean => /[a-z0-9]/i.test(text.replaceAll(/\{\{.*?\}\}/g, ''));

const shown = new Set(
  readDashboard()
    .flatMap(({ title, panels }) => [
      title,
      ...panels.flatMap((panel) => [
        panel.title,
        panel.description,
        panel.noValue ?? '',
        ...panel.columns.map((column) => column.title),
        ...panel.targets.map(({ legend }) => legend),
      ]),
    ])
    .filter(hasWords),
);

describe('the Portuguese texts of the dashboard', () => {
  it('translate every text of the file, and nothing else', () => {
    const untranslated = [...shown].filter((text) => !(text in texts) && !/^\(?\{\{/.test(text));
    expect(untranslated).toEqual([]);
    expect(Object.keys(texts).filter((text) => !shown.has(text))).toEqual([]);
  });

  it('keep the labels that the English text shows', () => {
    const labelsOf = (text: string): string[] => (text.match(/\{\{\w+\}\}/g) ?? []).toSorted();
    for (const [english, portuguese] of Object.entries(texts))
      expect([english, labelsOf(portuguese)]).toEqual([english, labelsOf(english)]);
  });
});
