import { parse } from 'yaml';
import { GROUPS } from './navigation.js';
import { SERVICE } from './service.js';
import { FOLDER, type Language } from './translations.js';

const KINDS: Record<string, string> = { tip: 'Tip', info: 'Note', warning: 'Warning', danger: 'Danger' };

/**
 * Returns a page as plain Markdown, without front matter and syntax that only the site generator reads.
 *
 * @param sourceOf returns the source of the page that a relative link leads to, such as `../errors.md`
 */
export function plainMarkdown(source: string, sourceOf: (path: string) => string): string {
  const anchorOf = (path: string, anchor: string) =>
    plainAnchor(path === '' ? source : sourceOf(linkOf(path)), anchor);
  const [, front = '', text = source] = /^---\n(.*?)\n---\n*(.*)$/s.exec(source) ?? [];
  const outside = text.split(/^(```[\s\S]*?^```$)/m);
  return `${plainHero(front)}${outside
    .map((part, index) => (index % 2 === 1 ? plainBlock(part) : plainText(part, anchorOf)))
    .join('')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim()}\n`;
}

/** Returns the front matter of the front page as text; empty for any other page. */
function plainHero(front: string): string {
  if (!front.startsWith('layout: home')) return '';
  const { hero } = parse(front) as { hero: { name: string; text: string; tagline: string } };
  return `# ${hero.name}: ${hero.text}\n\n${hero.tagline}\n\n`;
}

/** Turns the label of a tab into a line above its block. */
const plainBlock = (block: string): string =>
  block.replace(
    /^```(\S*) \[(.*)\]$/m,
    (_, language: string, label: string) => `${label}:\n\n\`\`\`${language}`,
  );

const plainText = (text: string, anchorOf: (path: string, anchor: string) => string): string =>
  text
    .replaceAll(/^::: code-group\n/gm, '')
    .replaceAll(
      /^::: (\w+)(?: (.*))?$/gm,
      (_, kind: string, title?: string) => `**${title ?? KINDS[kind] ?? kind}**`,
    )
    .replaceAll(/^:::$/gm, '')
    .replaceAll(/ \{#[\w-]+\}$/gm, '')
    .replaceAll(
      /\]\((\.[\w./-]*?)?(?:#([\w-]+))?\)/g,
      (_, path = '', anchor?: string) =>
        `](${linkOf(path)}${anchor === undefined ? '' : `#${anchorOf(path, anchor)}`})`,
    );

/** Returns the anchor that GitHub and editors give the heading with `{#anchor}`: plain Markdown cannot set one. */
function plainAnchor(source: string, anchor: string): string {
  const title = new RegExp(`^#+ (.*) \\{#${anchor}\\}$`, 'm').exec(source)?.[1] ?? anchor;
  return title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-');
}

/** Adds the ending: pages link to each other without one, but their Markdown versions need it. */
function linkOf(path: string): string {
  if (path === '') return '';
  return path.endsWith('/') ? `${path}index.md` : `${path}.md`;
}

const SUMMARY: Record<Language, string> = {
  en: 'Onecode sends one-time codes over WhatsApp and verifies what users type. Call it from servers over HTTPS, with JSON. Authenticate the user only on `valid: true` in the response to a verification. Never retry a verification. Retry a create request with the same Idempotency-Key and the same bytes.',
  'pt-BR':
    'O Onecode envia códigos de uso único pelo WhatsApp e verifica o que os usuários digitam. Chame-o de servidores, por HTTPS, com JSON. Só autentique o usuário se a resposta a uma verificação for `valid: true`. Nunca repita uma verificação. Repita a criação de um envio com a mesma Idempotency-Key e os mesmos bytes.',
};

/** Returns `llms.txt` (llmstxt.org): a summary, and links to the pages as Markdown. @param titles the first line of each page, by path */
export function llmsText(titles: ReadonlyMap<string, string>): string {
  const links = (language: Language): string[] =>
    GROUPS.flatMap(({ title, pages }) => [
      `## ${title[language]}${language === 'en' ? '' : ' (pt-BR)'}`,
      pages
        .map(([path, name]) => {
          const page = `${FOLDER[language]}${path.endsWith('/') ? `${path}index` : path}`;
          return `- [${titles.get(page) ?? name[language]}](${SERVICE}/docs/${page}.md)`;
        })
        .join('\n'),
    ]);
  return `${[
    '# Onecode',
    `> ${SUMMARY.en}`,
    `The contract, OpenAPI 3.1: ${SERVICE}/openapi.json`,
    ...links('en'),
    '# Onecode em português',
    `> ${SUMMARY['pt-BR']}`,
    ...links('pt-BR'),
  ].join('\n\n')}\n`;
}
