import { useTranslation } from 'react-i18next';
import type { FindingView, HealthView } from '../../../../src/features/health/view.js';
import { useCountryName } from '../../hooks/countries.js';
import { useNumbers, useTimes } from '../../hooks/formats.js';

/** Statuses of a template for which there is a word. */
const STATUSES = [
  'PAUSED',
  'DISABLED',
  'REJECTED',
  'ARCHIVED',
  'DELETED',
  'RECATEGORIZED',
  'REFUSED',
] as const;

/** Returns the function that says what to do about a finding, in the user's language. */
export function useRemedy(): (finding: FindingView) => string {
  const { t } = useTranslation('findings');
  return ({ name, remedy }) => t(`${name}.remedy`, { defaultValue: remedy });
}

/** Returns the function that says what is wrong, with the template, the sends or the refusal that the finding names. */
export function useSentence(senders: HealthView['senders']): (finding: FindingView) => string {
  const { t } = useTranslation(['health', 'findings']);
  const { whole } = useNumbers();
  const time = useTimes();
  const failed = useFailures(senders);
  return ({ name, sentence, template, failures, refusal }) => {
    if (failures !== undefined) return failed(failures);
    if (refusal !== undefined && refusal !== 'unfit') return t(`refusals.${refusal}`);
    if (template === undefined) return t(`findings:${name}.sentence`, { defaultValue: sentence });
    const { language, serving, at } = template;
    const status = STATUSES.find((known) => known === template.status) ?? 'other';
    const cause = t(`templates.${status}`, { template: template.template, language, time: time(at) });
    const languageName = t(`languages.${language === 'pt_BR' ? 'pt_BR' : 'en'}`);
    return serving === 0
      ? t('templates.noneServes', { cause, name: languageName })
      : t('templates.serves', { cause, name: languageName, count: serving, number: whole(serving) });
  };
}

/** The share of sends that failed, of whom, and why. */
function useFailures(
  senders: HealthView['senders'],
): (failures: NonNullable<FindingView['failures']>) => string {
  const { t } = useTranslation('health');
  const { share, whole } = useNumbers();
  const countryName = useCountryName();
  return ({ country, senderId, reason, failed, ended }) => {
    const kind = country !== undefined ? 'country' : senderId !== undefined ? 'sender' : 'all';
    return t(`failures.${kind}`, {
      share: share(failed / ended),
      country: country === undefined ? '' : countryName(country),
      sender: senders?.find(({ id }) => id === senderId)?.number ?? senderId ?? '',
      failed: whole(failed),
      ended: whole(ended),
      why:
        reason === ''
          ? t('failures.whyUnknown')
          : t('failures.why', { reason: t(`failures.reasons.${reason}`) }),
    });
  };
}
