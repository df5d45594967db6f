import { useTranslation } from 'react-i18next';
import type { SenderView } from '../../../../src/features/senders/view.js';
import { useBlockReason } from '../../hooks/blockReason.js';
import { useCountryName } from '../../hooks/countries.js';
import { useNumbers } from '../../hooks/formats.js';

/** Returns the function that lists in short what needs attention about a sender, the most important first. */
export function useAttention(): (sender: SenderView) => string[] {
  const { t } = useTranslation(['senders', 'health', 'preflight']);
  const { whole } = useNumbers();
  const reasonOf = useBlockReason();
  const countryName = useCountryName();
  const scopeOf = (onlyFor: string): string => {
    if (onlyFor === '') return '';
    if (/^[A-Z]{2}$/.test(onlyFor)) return `${countryName(onlyFor)}: `;
    return `${t(`health:languages.${onlyFor === 'pt-BR' ? 'pt_BR' : 'en'}`)}: `;
  };
  return ({ isNew, blocks, provider: { maySend, checks } }) => {
    const ofLimit = checks
      .filter(({ name }) => name === 'limit_near' || name === 'limit_reached')
      .map(({ name, facts, text }) => t(`preflight:${name}`, { ...facts, defaultValue: text }));
    const bad = checks.filter(({ ok }) => !ok).length - ofLimit.length;
    const ofBlocks = blocks.map((block) => `${scopeOf(block.onlyFor)}${reasonOf(block)}`);
    const ofChecks = bad === 0 ? [] : [t('list.checks', { count: bad, number: whole(bad) })];
    if (isNew) return [t(maySend ? 'list.ready' : 'list.unready'), ...ofLimit, ...ofChecks];
    // A fault of a business account or a portfolio also blocks the sender, for the same reason.
    return [...new Set(ofBlocks), ...ofLimit, ...ofChecks];
  };
}
