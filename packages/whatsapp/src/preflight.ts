import type { Locale, PreflightResult } from '@onecode/domain';
import { EN } from './preflight/en.js';
import { PT_BR } from './preflight/ptBR.js';

const TEXTS = { en: EN, 'pt-BR': PT_BR } as const;

/** What a check of the preflight found, and what to do, as a sentence. */
export function preflightText({ check, finding, facts }: PreflightResult, language: Locale): string {
  const { fine, findings } = TEXTS[language];
  const text = finding === 'fine' ? fine[check] : findings[finding];
  return text.replaceAll(/\{(\w+)\}/g, (placeholder, name: string) => String(facts[name] ?? placeholder));
}
