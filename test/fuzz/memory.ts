import type { Figures } from './target.js';

interface Growth {
  residentMib: number;
  heapMib: number;
  /** The medians, for people. */
  text: string;
}

/**
 * How much a process has grown from the time when it was warm (a fifth of the campaign) to its end: medians of several
 * samples, because the heap goes up and down with each collection.
 */
export function memoryGrowth(samples: readonly (Figures & { at: number })[]): Growth {
  const warm = samples.filter(({ at }) => at >= 0.2 && at < 0.4);
  const last = samples.filter(({ at }) => at >= 0.8);
  const texts: string[] = [];
  const grown = (name: string, of: (figures: Figures) => number): number => {
    const [before, after] = [median(warm.map(of)), median(last.map(of))];
    texts.push(`${name} ${before.toFixed(1)} → ${after.toFixed(1)} MiB`);
    return after - before;
  };
  const residentMib = grown('resident', (figures) => figures.residentMib);
  const heapMib = grown('heap', (figures) => figures.heapMib);
  return { residentMib, heapMib, text: texts.join(', ') };
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
