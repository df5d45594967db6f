/** A block of code. Its text is not Markdown. */
export const block = (language: string, code: string, label?: string): string =>
  `\`\`\`${language}${label === undefined ? '' : ` [${label}]`}\n${code}\n\`\`\``;

/** Blocks of code behind tabs. */
export function codeGroup(blocks: { label: string; language: string; code: string }[]): string {
  const inside = blocks.map(({ label, language, code }) => block(language, code, label)).join('\n\n');
  return blocks.length === 1 ? inside.replace(/ \[.*\]/, '') : `::: code-group\n\n${inside}\n\n:::`;
}

/** Text of several lines, lists included, as the cell of a table. */
export const cell = (text: string): string =>
  text
    .trim()
    .replaceAll(/\n+(- )/g, '<br>• ')
    .replaceAll(/\n+/g, ' ')
    .replaceAll(/• - /g, '• ');

/** A table. Cells may hold Markdown of one line. */
export function table(head: string[], rows: string[][]): string {
  const row = (cells: string[]): string => `| ${cells.map(cell).join(' | ')} |`;
  return [row(head), row(head.map(() => '---')), ...rows.map(row)].join('\n');
}
