import type { Command } from 'commander';

/** What a command prints: its fields by their names, in values that have a form in JSON. Times are printed as RFC 3339. */
export type Row = Readonly<Record<string, unknown>>;

/** Fields of a record by the names that they are printed under: `createdAt` as `created_at`. */
export const fieldsOf = <T extends object>(record: T, ...names: readonly (keyof T & string)[]): Row =>
  Object.fromEntries(
    names.map((name) => [name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), record[name]]),
  );

export interface TextForm {
  /** Stands for null; `-` unless told. */
  absent?: string;
  /** A field whose records stand below the result, one in a line. */
  apart?: string;
  /** Fields stand under their names as a command takes them. */
  areNamesTyped?: true;
  /** A line below the result. */
  note?: string | undefined;
}

/** What a command's help ends with. @param typed what stands behind `onecode` */
export const example = (typed: string): string => `\nExample:\n  $ onecode ${typed}`;

/** Prints a command's result: with `--json` one line of JSON and nothing else, otherwise aligned text. */
export function print(command: Command, result: Row | readonly Row[], form: TextForm = {}): void {
  const { json } = command.optsWithGlobals<{ json?: true }>();
  process.stdout.write(json ? `${JSON.stringify(result)}\n` : textOf(result, form));
}

function textOf(
  result: Row | readonly Row[],
  { absent = '-', apart, areNamesTyped, note }: TextForm,
): string {
  const isList = Array.isArray(result);
  const rows = JSON.parse(JSON.stringify(isList ? result : [result])) as readonly Row[];
  const [first] = rows;
  const cell = (value: unknown): string => {
    const shown = wordsOf(value);
    // A control character could move a terminal's cursor.
    return (shown === '' ? absent : shown).replaceAll(/\p{Cc}/gu, '?');
  };
  const lines =
    first === undefined
      ? ['none']
      : isList
        ? aligned([Object.keys(first).map(labelOf), ...rows.map((row) => Object.values(row).map(cell))])
        : aligned(
            Object.entries(first)
              .filter(([name]) => name !== apart)
              .map(([name, value]) => [areNamesTyped ? name : labelOf(name), cell(value)]),
          );
  const records = ((!isList && apart !== undefined && first?.[apart]) || []) as Row[];
  if (records.length > 0) lines.push('', ...records.map((record) => cell([record])));
  return [...lines, ...(note === undefined ? [] : ['', note])].map((line) => `${line}\n`).join('');
}

/** Words have commas between them; records semicolons, and spaces between their values: one that is true stands as its name. */
function wordsOf(value: unknown): string {
  if (value === null) return '';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'string') return value;
  if (!Array.isArray(value)) return JSON.stringify(value);
  return (value as readonly (string | Row)[])
    .map((item) => (typeof item === 'string' ? item : recordOf(item)))
    .join(value.some((item) => typeof item === 'object') ? '; ' : ',');
}

function recordOf(record: Row): string {
  return Object.entries(record)
    .filter(([, value]) => value !== null && value !== false)
    .map(([name, value]) =>
      value === true ? labelOf(name) : typeof value === 'object' ? nested(name, value) : wordsOf(value),
    )
    .filter((part) => part !== '')
    .join(' ');
}

/** A value with parts of its own, in parentheses after its name; nothing for an empty list. */
function nested(name: string, value: unknown): string {
  const words = Array.isArray(value) ? wordsOf(value) : recordOf(value as Row);
  return words === '' ? '' : `${labelOf(name)} (${words})`;
}

const labelOf = (name: string): string => name.replaceAll('_', ' ');

function aligned(table: readonly string[][]): string[] {
  const widths =
    table[0]?.map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0))) ?? [];
  return table.map((row) =>
    row
      .map((value, column) => value.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}
