import { parse } from 'yaml';
import { GROUPS } from './navigation.js';
import { SERVICE } from './service.js';
import { FOLDER, type Language } from './translations.js';

const KINDS: Record<string, string> = { tip: 'Tip', info: 'Note', warning: 'Warning', danger: 'Danger' };

/** A page as plain Markdown: without front matter and without what only the site's generator reads. */
export function plainMarkdown(source: string): string {
  const [, front = '', text = source] = /^---\n(.*?)\n---\n*(.*)$/s.exec(source) ?? [];
  const outside = text.split(/^(```[\s\S]*?^```$)/m);
  return `${plainHero(front)}${outside
    .map((part, index) => (index % 2 === 1 ? plainBlock(part) : plainText(part)))
    .join('')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim()}\n`;
}

/** What the front page says in its front matter; nothing for any other page. */
function plainHero(front: string): string {
  if (!front.startsWith('layout: home')) return '';
  const { hero } = parse(front) as { hero: { name: string; text: string; tagline: string } };
  return `# ${hero.name}: ${hero.text}\n\n${hero.tagline}\n\n`;
}

/** The label of a tab becomes a line above its block. */
const plainBlock = (block: string): string =>
  block.replace(
    /^```(\S*) \[(.*)\]$/m,
    (_, language: string, label: string) => `${label}:\n\n\`\`\`${language}`,
  );

const plainText = (text: string): string =>
  text
    .replaceAll(/^::: code-group\n/gm, '')
    .replaceAll(
      /^::: (\w+)(?: (.*))?$/gm,
      (_, kind: string, title?: string) => `**${title ?? KINDS[kind] ?? kind}**`,
    )
    .replaceAll(/^:::$/gm, '')
    .replaceAll(/ \{#[\w-]+\}$/gm, '')
    .replaceAll(
      /\]\((\.[\w./-]*?)(#[\w-]+)?\)/g,
      (_, path: string, anchor = '') => `](${linkOf(path)}${anchor})`,
    );

/** Pages link to each other without an ending; their twins to twins. */
const linkOf = (path: string): string => (path.endsWith('/') ? `${path}index.md` : `${path}.md`);

const SUMMARY: Record<Language, string> = {
  en: 'Onecode sends one-time codes over WhatsApp and checks what people type back. It is called from servers over HTTPS, with JSON. Only `valid: true` in the answer to a verification authenticates anybody; a verification is never repeated, and a creation is repeated with the same Idempotency-Key and the same bytes.',
  'pt-BR':
    'O Onecode envia códigos de uso único pelo WhatsApp e confere o que as pessoas digitam. É chamado por servidores via HTTPS, com JSON. Só `valid: true` na resposta a uma verificação autentica alguém; uma verificação nunca se repete, e uma criação se repete com a mesma Idempotency-Key e os mesmos bytes.',
};

/** `llms.txt` (llmstxt.org): what the site is, and its pages as Markdown. @param titles the first line of each page, by its path */
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
