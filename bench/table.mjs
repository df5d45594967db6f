/** @typedef {Record<string, string>} Line  cells by their columns; the first one says what the line is about */

/**
 * Lines as aligned text.
 * @param {readonly Line[]} lines
 * @returns {string}
 */
export function table(lines) {
  const columns = [...new Set(lines.flatMap((line) => Object.keys(line)))];
  const rows = [Object.fromEntries(columns.map((name) => [name, name])), ...lines];
  const widths = columns.map((name) => Math.max(...rows.map((row) => (row[name] ?? '').length)));
  return rows
    .map((row) =>
      columns
        .map((name, place) => {
          const [cell, width] = [row[name] ?? '', widths[place] ?? 0];
          return place === 0 ? cell.padEnd(width) : cell.padStart(width);
        })
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
