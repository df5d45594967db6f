import { defineConfig, type DefaultTheme, type HeadConfig } from 'vitepress';
import { sidebar } from '../src/navigation.js';
import { translateLabels } from '../src/portugueseLabels.js';
import { BASE, finishSite, writeGeneratedPages } from '../src/site.js';
import { withCode } from '../src/codeInPortuguese.js';
import { classTransformer, THEME, withoutTimeLimit } from '../src/codeColours.js';
import { CONSOLE } from '../src/service.js';
import { stackWideTables } from '../src/stackedTables.js';

writeGeneratedPages();

const nav = (
  folder: string,
  names: { guides: string; reference: string; errors: string; dashboard: string },
) => [
  { text: names.guides, link: `/${folder}quick-start` },
  { text: names.reference, link: `/${folder}reference/` },
  { text: names.errors, link: `/${folder}errors` },
  { text: names.dashboard, link: CONSOLE },
];

const PORTUGUESE: DefaultTheme.Config = {
  nav: nav('pt-br/', { guides: 'Guias', reference: 'Referência', errors: 'Erros', dashboard: 'Painel' }),
  sidebar: sidebar('pt-BR'),
  outline: { level: [2, 3], label: 'Nesta página' },
  docFooter: { prev: 'Anterior', next: 'Próxima' },
  darkModeSwitchLabel: 'Aparência',
  lightModeSwitchTitle: 'Mudar para o tema claro',
  darkModeSwitchTitle: 'Mudar para o tema escuro',
  sidebarMenuLabel: 'Menu',
  returnToTopLabel: 'Voltar ao topo',
  langMenuLabel: 'Mudar de idioma',
  skipToContentLabel: 'Ir para o conteúdo',
  notFound: {
    title: 'Página não encontrada',
    quote: 'Não existe uma página neste endereço.',
    linkText: 'Ir para a documentação',
    linkLabel: 'Ir para a documentação',
  },
};

const PORTUGUESE_SEARCH = {
  translations: {
    button: { buttonText: 'Buscar', buttonAriaLabel: 'Buscar' },
    modal: {
      displayDetails: 'Mostrar detalhes',
      resetButtonTitle: 'Limpar a busca',
      backButtonTitle: 'Fechar a busca',
      noResultsText: 'Nada encontrado para',
      footer: {
        selectText: 'abrir',
        selectKeyAriaLabel: 'enter',
        navigateText: 'navegar',
        navigateUpKeyAriaLabel: 'seta para cima',
        navigateDownKeyAriaLabel: 'seta para baixo',
        closeText: 'fechar',
        closeKeyAriaLabel: 'escape',
      },
    },
  },
};

export default defineConfig({
  base: BASE,
  srcDir: './pages',
  outDir: './dist',
  cacheDir: './node_modules/.vitepress',
  cleanUrls: true,
  // Its inline script would differ on each page, but the content security policy lists inline scripts by hash.
  metaChunk: true,
  // It would add a style element, which the policy forbids, like style attributes.
  appearance: { disableTransition: false },
  title: 'Onecode',
  description: 'One-time codes over WhatsApp: guides and API reference.',
  head: [
    ['link', { rel: 'icon', href: `${BASE}icon.svg`, type: 'image/svg+xml' }],
    ['meta', { name: 'color-scheme', content: 'light dark' }],
  ],
  locales: {
    root: { label: 'English', lang: 'en' },
    'pt-br': {
      label: 'Português (Brasil)',
      lang: 'pt-BR',
      description: 'Códigos de uso único pelo WhatsApp: guias e referência da API.',
      themeConfig: PORTUGUESE,
    },
  },
  themeConfig: {
    logo: { src: '/icon.svg', width: 24, height: 24, alt: '' },
    nav: nav('', { guides: 'Guides', reference: 'Reference', errors: 'Errors', dashboard: 'Dashboard' }),
    sidebar: sidebar('en'),
    outline: { level: [2, 3] },
    externalLinkIcon: true,
    notFound: {
      title: 'Page not found',
      quote: 'There is no page at this address.',
      linkText: 'Go to the documentation',
      linkLabel: 'Go to the documentation',
    },
    search: { provider: 'local', options: { locales: { 'pt-br': PORTUGUESE_SEARCH } } },
  },
  markdown: {
    theme: THEME,
    codeTransformers: [classTransformer],
    shikiSetup: withoutTimeLimit,
    config: (md) => {
      md.core.ruler.before('normalize', 'code_in_portuguese', (state) => {
        const { relativePath = '' } = state.env as { relativePath?: string };
        state.src = withCode(relativePath, state.src);
      });
      stackWideTables(md);
      translateLabels(md);
    },
  },
  vite: {
    build: { assetsInlineLimit: 0, chunkSizeWarningLimit: 900 },
  },
  transformHead: ({ pageData: { relativePath, isNotFound = false } }): HeadConfig[] =>
    isNotFound ? [] : [['link', { rel: 'alternate', type: 'text/markdown', href: `${BASE}${relativePath}` }]],
  // The content security policy allows no style attributes. The theme sets them again in the browser if needed.
  transformHtml: (html) =>
    html.replaceAll(/ style="[^"]*"/g, '').replace('<div class="VPHome"', '<div class="VPHome" role="main"'),
  buildEnd: ({ outDir, pages }) => finishSite(outDir, pages),
});
