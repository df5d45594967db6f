import type { MarkdownRenderer } from 'vitepress';

type Token = ReturnType<MarkdownRenderer['parse']>[number];

/** Tables with fewer columns fit a phone unchanged. */
const COLUMNS_MIN = 3;
/** The roles of the elements. Browsers drop them when the elements are no longer displayed as a table. */
const ROLES: Readonly<Record<string, string>> = {
  table_open: 'table',
  thead_open: 'rowgroup',
  tbody_open: 'rowgroup',
  tr_open: 'row',
  th_open: 'columnheader',
  td_open: 'cell',
};

/** Marks tables that the style sheet stacks on a phone, one row below the other, and gives each cell the name of its column. */
export function stackWideTables(md: MarkdownRenderer): void {
  md.core.ruler.push('stacked_tables', ({ tokens }) => {
    for (const [start, token] of tokens.entries())
      if (token.type === 'table_open') {
        const end = tokens.findIndex(({ type }, index) => index > start && type === 'table_close');
        markTable(tokens.slice(start, end));
      }
  });
  // The generator's own rule drops attributes. A table that scrolls sideways must be reachable by keyboard.
  md.renderer.rules.table_open = (tokens, index, options, _env, self) => {
    tokens[index]?.attrSet('tabindex', '0');
    return self.renderToken(tokens, index, options);
  };
}

function markTable(tokens: Token[]): void {
  const names = tokens.flatMap(({ type }, index) =>
    type === 'th_open' ? [plainText(tokens[index + 1])] : [],
  );
  if (names.length < COLUMNS_MIN) return;
  tokens[0]?.attrJoin('class', 'stacked');
  let column = 0;
  for (const token of tokens) {
    const role = ROLES[token.type];
    if (role !== undefined) token.attrSet('role', role);
    if (token.type === 'tr_open') column = 0;
    if (token.type === 'td_open') token.attrSet('data-label', names[column++] ?? '');
  }
}

const plainText = (inline: Token | undefined): string =>
  (inline?.children ?? []).map(({ content }) => content).join('');
