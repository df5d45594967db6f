import { pipeline } from 'node:stream/promises';
import type { Locale } from '@onecode/domain';
import type { Request, Response } from 'express';
import { logOf, type Logger } from '@onecode/runtime';
import { createFairLimiter } from './limiters.js';

/** Rows of one page of a list. */
const PAGE_ROWS = 1_000;

type Cell = string | number | Date | null;

/**
 * A list as a file (RFC 4180). Times are in UTC (RFC 3339), and the names of columns are the same in every language. For readers of
 * Portuguese, it has semicolons between columns and decimal commas: Excel reads a file by the region of its machine, and in Brazil it would
 * show each line in one column. A first line `sep=,` would make Excel ignore the byte order mark.
 */
export class CsvDownload {
  constructor(
    /** The file name without its extension. */
    readonly name: string,
    readonly columns: readonly string[],
    readonly pages: AsyncIterable<readonly (readonly Cell[])[]>,
  ) {}
}

/** The names of a list's columns, each with the function that returns a row's value. */
export type CsvColumns<Row> = Readonly<Record<string, (row: Row) => Cell>>;

/** Returns a list of such rows as a file. */
export function csvOf<Row>(
  name: string,
  columns: CsvColumns<Row>,
  pages: Iterable<readonly Row[]> | AsyncIterable<readonly Row[]>,
): CsvDownload {
  const cells = Object.values(columns);
  async function* lines() {
    for await (const rows of pages) yield rows.map((row) => cells.map((cell) => cell(row)));
  }
  return new CsvDownload(name, Object.keys(columns), lines());
}

/** Each download reads one page at a time, and the downloads of an account run one at a time. */
const limitPages = createFairLimiter({ concurrency: 2, concurrencyPerKey: 1, queuedPerKeyMax: 20 });

/** The rows of all pages of a list of an account, or of another `key`, that is read by cursor. */
export async function* allPages<Row, Page extends { next: string | null }>(
  key: string,
  read: (page: { limit: number; before?: string }) => Promise<Page>,
  rowsOf: (page: Page) => readonly Row[],
): AsyncGenerator<readonly Row[]> {
  let before: string | null = null;
  do {
    const wanted = { limit: PAGE_ROWS, ...(before !== null && { before }) };
    const page: Page = await limitPages(key, () => read(wanted));
    yield rowsOf(page);
    before = page.next;
  } while (before !== null);
}

/**
 * Streams a download. An error before the first page is answered as on any route. A later error closes the connection, so that
 * the file does not look complete.
 */
export async function sendCsv(
  request: Request,
  response: Response,
  { name, columns, pages }: CsvDownload,
  language: Locale,
  log: Logger,
): Promise<void> {
  const texts = textsOf(columns, pages, language);
  const first = await texts.next();
  response.set({
    'Content-Type': 'text/csv; charset=utf-8',
    'Content-Disposition': `attachment; filename="${name}.csv"`,
  });
  try {
    await pipeline(async function* () {
      if (!first.done) yield first.value;
      yield* texts;
    }, response);
  } catch (error) {
    // A client that disconnects is not an error.
    if ((error as NodeJS.ErrnoException).code !== 'ERR_STREAM_PREMATURE_CLOSE')
      logOf(request, log).error({ err: error }, 'a download was cut off');
  }
}

/** Yields the file page by page, with the header row before the first page. Spreadsheets need the byte order mark to read UTF-8. */
async function* textsOf(
  columns: readonly string[],
  pages: AsyncIterable<readonly (readonly Cell[])[]>,
  language: Locale,
): AsyncGenerator<string> {
  const { separator, point } =
    language === 'pt-BR' ? { separator: ';', point: ',' } : { separator: ',', point: '.' };
  const lineOf = (cells: readonly Cell[]): string =>
    `${cells.map((cell) => cellOf(cell, point)).join(separator)}\r\n`;
  let head = `\ufeff${lineOf(columns)}`;
  for await (const rows of pages) {
    yield head + rows.map(lineOf).join('');
    head = '';
  }
}

/**
 * Matches where a spreadsheet may read a text as a formula: at its start, and after a separator of some languages or formats. The sign,
 * which may be full-width or small, may follow white space, invisible characters and quotes.
 */
const FORMULA =
  /^(?=[\t\r\n])|(?:^|(?<=[,;\t\r\n]))(?=(?:(?![\t\r\n])[\s\p{Cc}\p{Cf}\p{DI}"])*[=+\-@|\u2212\ufe62\ufe63\ufe66\ufe6b\uff0b\uff0d\uff1d\uff20])/gu;

function cellOf(cell: Cell, point: string): string {
  if (cell === null) return '';
  if (cell instanceof Date) return cell.toISOString();
  if (typeof cell === 'number') return String(cell).replace('.', point);
  const safe = cell.replace(FORMULA, "'");
  return /[",;\r\n\t]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
