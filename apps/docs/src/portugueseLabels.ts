import type { MarkdownRenderer } from 'vitepress';

/** Translates the texts that the generator adds to pages and that have no setting for the language. */
export function translateLabels(md: MarkdownRenderer): void {
  const { fence, heading_open: heading } = md.renderer.rules;
  if (fence === undefined) throw new Error('The generator renders code in another way than before.');
  md.renderer.rules.fence = (...args) => {
    const [, , , env] = args;
    const html = fence(...args);
    return isPortuguese(env) ? html.replace('title="Copy Code"', 'title="Copiar código"') : html;
  };
  md.renderer.rules.heading_open = (...args) => {
    const [tokens, index, options, env, self] = args;
    const anchor = tokens[index + 1]?.children?.find((token) => token.attrGet('class') === 'header-anchor');
    const label = anchor?.attrGet('aria-label');
    if (isPortuguese(env) && label != null)
      anchor?.attrSet('aria-label', label.replace('Permalink to', 'Link para'));
    return heading === undefined ? self.renderToken(tokens, index, options) : heading(...args);
  };
}

const isPortuguese = ({ relativePath = '' }: { relativePath?: string }): boolean =>
  relativePath.startsWith('pt-br/');
