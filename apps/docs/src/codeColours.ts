import { createCssVariablesTheme, type Highlighter, type ShikiTransformer } from 'shiki';

/** Code colours are variables of the site's own style sheet, so that one block works in the light and the dark theme. */
export const THEME = createCssVariablesTheme({
  name: 'onecode',
  variablePrefix: '--code-',
  fontStyle: false,
});

/** Sets a token's colour as a class, because the content security policy allows no style attributes. */
export const classTransformer: ShikiTransformer = {
  name: 'classes',
  span(node) {
    const { style } = node.properties;
    const colour = typeof style === 'string' ? /--code-(?:token-)?([\w-]+)/.exec(style)?.[1] : undefined;
    delete node.properties.style;
    if (colour !== undefined && colour !== 'foreground') node.properties.class = `code-${colour}`;
  },
  pre(node) {
    delete node.properties.style;
  },
};

/**
 * Removes the highlighter's time limit for a line. After half a second, which a busy machine can need, it would stop inside a string and
 * treat the rest as code, and so split an address that the API has to replace.
 */
export function withoutTimeLimit(highlighter: Pick<Highlighter, 'codeToHtml'>): void {
  const { codeToHtml } = highlighter;
  highlighter.codeToHtml = (code, options) => codeToHtml(code, { ...options, tokenizeTimeLimit: 0 });
}
