import { createCssVariablesTheme, type Highlighter, type ShikiTransformer } from 'shiki';

/** Colours of code are variables of the site's own style sheet, so that one block serves the light and the dark theme. */
export const THEME = createCssVariablesTheme({
  name: 'onecode',
  variablePrefix: '--code-',
  fontStyle: false,
});

/** Gives a token's colour as a class: the content security policy allows no style attributes. */
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
 * Lets every line be read to its end. After half a second, which a busy machine needs for one, the highlighter would go on in the middle of a
 * text as if that had ended there, and so divide an address that the API has to replace.
 */
export function withoutTimeLimit(highlighter: Pick<Highlighter, 'codeToHtml'>): void {
  const { codeToHtml } = highlighter;
  highlighter.codeToHtml = (code, options) => codeToHtml(code, { ...options, tokenizeTimeLimit: 0 });
}
