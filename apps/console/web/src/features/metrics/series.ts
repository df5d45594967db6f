import type { PanelDescription, PanelView } from '../../../../src/features/metrics/view.js';

type Data = NonNullable<PanelView['data']>;

/** Colours of series, in their order: next to each other they differ in brightness too. */
const COLORS = [
  'brand.6',
  'orange.6',
  'indigo.6',
  'pink.5',
  'cyan.5',
  'grape.7',
  'lime.7',
  'red.7',
  'yellow.6',
  'blue.4',
] as const;

/** A series with its name and colour. */
export interface NamedSeries {
  /** Unique in its panel. */
  key: string;
  name: string;
  color: string;
  values: readonly (number | null)[];
  /** The last value, as the file's `lastNotNull` asks. */
  last: number | null;
}

/**
 * The series of a panel in the order of its queries, each with a name. A query that always is one series is listed without values
 * where Prometheus has none.
 */
export function namedSeries(
  { targets }: PanelDescription,
  { series }: Data,
  text: (english: string) => string,
): NamedSeries[] {
  const found = targets.flatMap(({ refId, legend }) => {
    const own = series.filter((one) => one.refId === refId);
    const isSingle = legend !== '' && !legend.includes('{{');
    if (own.length === 0 && isSingle) return [{ name: text(legend), values: [] }];
    return own
      .map(({ labels, values }) => ({ name: nameOf(text(legend), labels), values }))
      .toSorted((a, b) => a.name.localeCompare(b.name));
  });
  return found.map(({ name, values }, at) => ({
    key: `s${at}`,
    name,
    color: COLORS[at % COLORS.length] ?? COLORS[0],
    values,
    last: values.findLast((value) => value !== null) ?? null,
  }));
}

const nameOf = (legend: string, labels: Readonly<Record<string, string>>): string =>
  legend.replaceAll(/\{\{\s*(\w+)\s*\}\}/g, (_, label: string) => labels[label] ?? '').trim();
