/** Accessible names that the theme has only in English. */
const LABELS: readonly { selector: string; english: string; portuguese: string }[] = [
  { selector: '.VPNavBarExtra > button', english: 'extra navigation', portuguese: 'mais navegação' },
  { selector: '.VPNavBarHamburger', english: 'mobile navigation', portuguese: 'navegação' },
  { selector: '#main-nav-aria-label', english: 'Main Navigation', portuguese: 'Navegação principal' },
  { selector: '#sidebar-aria-label', english: 'Sidebar Navigation', portuguese: 'Navegação lateral' },
  { selector: '#doc-footer-aria-label', english: 'Pager', portuguese: 'Página anterior e próxima' },
];

/** Sets the accessible names of a page in its language. */
export function translateTheme(): void {
  const isPortuguese = document.documentElement.lang === 'pt-BR';
  for (const { selector, english, portuguese } of LABELS)
    for (const element of document.querySelectorAll(selector)) {
      const text = isPortuguese ? portuguese : english;
      if (!element.hasAttribute('aria-label')) element.textContent = text;
      else if (element.getAttribute('aria-label') !== text) element.setAttribute('aria-label', text);
    }
}

/** The theme resets its own names when it redraws its bar. */
export function keepTranslated(): void {
  new MutationObserver(translateTheme).observe(document.documentElement, {
    subtree: true,
    attributeFilter: ['aria-label', 'lang'],
  });
}
