/** Returns a code block. Its text is not Markdown. */
export const block = (language: string, code: string, label?: string): string =>
  `\`\`\`${language}${label === undefined ? '' : ` [${label}]`}\n${code}\n\`\`\``;

/** Returns code blocks behind tabs. */
export function codeGroup(blocks: { label: string; language: string; code: string }[]): string {
  const inside = blocks.map(({ label, language, code }) => block(language, code, label)).join('\n\n');
  return blocks.length === 1 ? inside.replace(/ \[.*\]/, '') : `::: code-group\n\n${inside}\n\n:::`;
}

/** Returns text of several lines, lists included, as a table cell. */
export const cell = (text: string): string =>
  text
    .trim()
    .replaceAll(/\n+(- )/g, '<br>• ')
    .replaceAll(/\n+ */g, ' ')
    .replaceAll(/• - /g, '• ');

/** Returns a table. Cells can contain Markdown of one line. */
export function table(head: string[], rows: string[][]): string {
  const row = (cells: string[]): string => `| ${cells.map(cell).join(' | ')} |`;
  return [row(head), row(head.map(() => '---')), ...rows.map(row)].join('\n');
}
