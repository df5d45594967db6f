import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withCode } from './codeInPortuguese.js';
import { readContract } from './contract.js';
import { errorsPage } from './errorsPage.js';
import { llmsText, plainMarkdown } from './markdownTwins.js';
import { referencePages } from './referencePages.js';
import { FOLDER, LANGUAGES, translator } from './translations.js';

const PAGES = fileURLToPath(new URL('../pages/', import.meta.url));
/** The path below which the API serves the site. */
export const BASE = '/docs/';

/** Writes the pages that are generated from the contract and the problem table, in each language. Git ignores them. */
export function writeGeneratedPages(): void {
  const contract = readContract();
  for (const language of LANGUAGES) {
    const t = translator(language);
    const pages = referencePages(contract, t).set('errors', errorsPage(contract, t));
    for (const [page, text] of pages) {
      const file = join(PAGES, FOLDER[language], `${page}.md`);
      mkdirSync(dirname(file), { recursive: true });
      // A watching generator treats a rewritten file as changed.
      if (readIfAny(file) !== `${text}\n`) writeFileSync(file, `${text}\n`);
    }
  }
}

/** Adds to the built site its pages as Markdown, `llms.txt`, and `site.json`, which lists for the API what to serve. */
export function finishSite(outDir: string, pages: readonly string[]): void {
  const titles = new Map<string, string>();
  const sourceOf = (page: string): string => withCode(page, readFileSync(join(PAGES, page), 'utf8'));
  for (const page of pages) {
    const text = plainMarkdown(sourceOf(page), (path) => sourceOf(join(dirname(page), path)));
    titles.set(page.replace(/\.md$/, ''), /^# (.*)$/m.exec(text)?.[1] ?? page);
    const file = join(outDir, page);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  writeFileSync(join(outDir, 'llms.txt'), llmsText(titles));
  const files = readdirSync(outDir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(outDir.length + 1))
    // 404.html has no address of its own: browsers get it at addresses without a page. The generator's hashmap.json is not served.
    .filter((file) => file !== '404.html' && file !== 'hashmap.json');
  const site = {
    contentSecurityPolicy: contentSecurityPolicy(inlineScripts(outDir, files)),
    files: files.toSorted(),
  };
  writeFileSync(join(outDir, 'site.json'), `${JSON.stringify(site, null, 2)}\n`);
}

/** Returns a content security policy that allows only this origin and these inline scripts. */
function contentSecurityPolicy(scripts: readonly string[]): string {
  return [
    "default-src 'none'",
    ["script-src 'self'", ...scripts.map((hash) => `'${hash}'`)].join(' '),
    "style-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

/** Returns the hashes of all inline scripts, in the form of a content security policy. */
function inlineScripts(outDir: string, files: readonly string[]): string[] {
  const hashes = new Set<string>();
  for (const file of files.filter((name) => name.endsWith('.html')))
    for (const [, attributes = '', text = ''] of readFileSync(join(outDir, file), 'utf8').matchAll(
      /<script([^>]*)>([\s\S]*?)<\/script>/g,
    ))
      if (!attributes.includes(' src=')) hashes.add(createHash('sha256').update(text).digest('base64'));
  return [...hashes].map((hash) => `sha256-${hash}`).toSorted();
}

function readIfAny(file: string): string | null {
  return existsSync(file) ? readFileSync(file, 'utf8') : null;
}
