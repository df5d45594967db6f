import type { Command } from 'commander';

/** A printed record: values that JSON can represent, by field name. Times are printed as RFC 3339. */
export type Row = Readonly<Record<string, unknown>>;

/** Returns fields of a record under their printed names: `createdAt` as `created_at`. */
export const pickFields = <T extends object>(record: T, ...names: readonly (keyof T & string)[]): Row =>
  Object.fromEntries(
    names.map((name) => [name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), record[name]]),
  );

export interface TextForm {
  /** Printed for null; default `-`. */
  absent?: string;
  /** A list of records printed below the result, one per line. */
  apart?: string;
  /** Prints field names as commands accept them, with underscores. */
  areNamesTyped?: true;
  /** A line below the result. */
  note?: string | undefined;
}

/** Returns the example at the end of a command's help. @param typed the arguments after `onecode` */
export const example = (typed: string): string => `\nExample:\n  $ onecode ${typed}`;

/** Prints a command's result: one line of JSON with `--json`, otherwise aligned text. */
export function print(command: Command, result: Row | readonly Row[], form: TextForm = {}): void {
  const { json } = command.optsWithGlobals<{ json?: true }>();
  process.stdout.write(json ? `${JSON.stringify(result)}\n` : formatText(result, form));
}

function formatText(
  result: Row | readonly Row[],
  { absent = '-', apart, areNamesTyped, note }: TextForm,
): string {
  const isList = Array.isArray(result);
  const rows = JSON.parse(JSON.stringify(isList ? result : [result])) as readonly Row[];
  const [first] = rows;
  const cell = (value: unknown): string => {
    const shown = formatValue(value);
    // A control character could move a terminal's cursor.
    return (shown === '' ? absent : shown).replaceAll(/\p{Cc}/gu, '?');
  };
  const lines =
    first === undefined
      ? ['none']
      : isList
        ? alignColumns([
            Object.keys(first).map(formatLabel),
            ...rows.map((row) => Object.values(row).map(cell)),
          ])
        : alignColumns(
            Object.entries(first)
              .filter(([name]) => name !== apart)
              .map(([name, value]) => [areNamesTyped ? name : formatLabel(name), cell(value)]),
          );
  const records = ((!isList && apart !== undefined && first?.[apart]) || []) as Row[];
  if (records.length > 0) lines.push('', ...records.map((record) => cell([record])));
  return [...lines, ...(note === undefined ? [] : ['', note])].map((line) => `${line}\n`).join('');
}

/** Separates words with commas, records with semicolons, and values of a record with spaces. Prints a true field as its name. */
function formatValue(value: unknown): string {
  if (value === null) return '';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'string') return value;
  if (!Array.isArray(value)) return JSON.stringify(value);
  return (value as readonly (string | Row)[])
    .map((item) => (typeof item === 'string' ? item : formatRecord(item)))
    .join(value.some((item) => typeof item === 'object') ? '; ' : ',');
}

function formatRecord(record: Row): string {
  return Object.entries(record)
    .filter(([, value]) => value !== null && value !== false)
    .map(([name, value]) =>
      value === true
        ? formatLabel(name)
        : typeof value === 'object'
          ? formatNested(name, value)
          : formatValue(value),
    )
    .filter((part) => part !== '')
    .join(' ');
}

/** Formats a nested value as its name with the parts in parentheses; an empty list as nothing. */
function formatNested(name: string, value: unknown): string {
  const words = Array.isArray(value) ? formatValue(value) : formatRecord(value as Row);
  return words === '' ? '' : `${formatLabel(name)} (${words})`;
}

const formatLabel = (name: string): string => name.replaceAll('_', ' ');

/** Returns a line for each row, with columns as wide as their longest value. */
export function alignColumns(table: readonly string[][]): string[] {
  const widths =
    table[0]?.map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0))) ?? [];
  return table.map((row) =>
    row
      .map((value, column) => value.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}
