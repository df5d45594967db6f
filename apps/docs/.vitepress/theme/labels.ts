/** Names that the theme gives in English alone, for those who do not see what they name. */
const LABELS: readonly { selector: string; english: string; portuguese: string }[] = [
  { selector: '.VPNavBarExtra > button', english: 'extra navigation', portuguese: 'mais navegação' },
  { selector: '.VPNavBarHamburger', english: 'mobile navigation', portuguese: 'navegação' },
  { selector: '#main-nav-aria-label', english: 'Main Navigation', portuguese: 'Navegação principal' },
  { selector: '#sidebar-aria-label', english: 'Sidebar Navigation', portuguese: 'Navegação lateral' },
  { selector: '#doc-footer-aria-label', english: 'Pager', portuguese: 'Página anterior e próxima' },
];

/** Names the parts of a page in the page's language. */
export function translateTheme(): void {
  const isPortuguese = document.documentElement.lang === 'pt-BR';
  for (const { selector, english, portuguese } of LABELS)
    for (const element of document.querySelectorAll(selector)) {
      const text = isPortuguese ? portuguese : english;
      if (!element.hasAttribute('aria-label')) element.textContent = text;
      else if (element.getAttribute('aria-label') !== text) element.setAttribute('aria-label', text);
    }
}

/** The theme writes its own names again when it draws its bar anew. */
export function keepTranslated(): void {
  new MutationObserver(translateTheme).observe(document.documentElement, {
    subtree: true,
    attributeFilter: ['aria-label', 'lang'],
  });
}
