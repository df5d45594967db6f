import { mkdirSync, mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transformSync } from '@swc/core';

export const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
/** The folder of the built site. */
const SITE = join(ROOT, 'apps/docs/dist');

/** Returns the code blocks of a guide in a language, in their order. */
export function guideBlocks(page: string, language: string): string[] {
  const text = readFileSync(join(SITE, `${page}.md`), 'utf8');
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\\b.*\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(
    ([, code = '']) => code,
  );
}

/** Creates a folder for the code of guides, inside the repository, so that the SDK resolves as an installed package. */
export function makeGuideFolder(): string {
  mkdirSync(join(ROOT, '.data'), { recursive: true });
  return mkdtempSync(join(ROOT, '.data/guides-'));
}

/** Returns TypeScript as JavaScript for Node. */
export const scriptOf = (code: string): string =>
  transformSync(code, {
    jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
    module: { type: 'es6' },
  }).code;
