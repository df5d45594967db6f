import { useTranslation } from 'react-i18next';
import type { FindingView, HealthView } from '../../../../src/features/health/view.js';
import { useCountryName } from '../../hooks/countries.js';
import { useErrorText } from '../../hooks/errorText.js';
import { useNumbers, useTimes } from '../../hooks/formats.js';
import { useBlockReason } from '../../hooks/blockReason.js';

/** Statuses of a template that have a text. */
const STATUSES = ['PAUSED', 'DISABLED', 'REJECTED', 'ARCHIVED', 'DELETED', 'RECATEGORIZED'] as const;

type FindingTexts = FindingView['texts'];

/** Returns the function that gives the texts of a finding in the user's language. */
function useTexts(): (finding: FindingView) => FindingTexts[keyof FindingTexts] {
  const { i18n } = useTranslation('health');
  return ({ texts }) => texts[i18n.language as keyof FindingTexts];
}

/** Returns the function that gives the remedy of a finding, in the user's language. */
export function useRemedy(): (finding: FindingView) => string {
  const textsOf = useTexts();
  const errorText = useErrorText();
  return (finding) =>
    finding.explanation === null ? textsOf(finding).remedy : errorText('remedy', finding.explanation);
}

/** Returns the function that describes the problem as exactly as it is known. */
export function useSentence(senders: HealthView['senders']): (finding: FindingView) => string {
  const textsOf = useTexts();
  const failed = useFailures(senders);
  const neverArrived = useDeliveries(senders);
  const templateBlocked = useTemplateBlocked();
  const errorText = useErrorText();
  const blockReason = useBlockReason();
  return (finding) => {
    const { cause, template, failures, deliveries, blocks, explanation } = finding;
    if (failures !== undefined) return failed(failures);
    if (deliveries !== undefined) return neverArrived(deliveries);
    if (template !== undefined) return templateBlocked(template);
    if (explanation !== null) return errorText('meaning', explanation);
    const general = textsOf(finding).sentence;
    const block = blocks?.[0];
    if (block === undefined) return general;
    const reason = blockReason({ ...block, explanation });
    return cause === 'provider' ? reason : `${general.replace(/\.$/, '')}: ${reason}`;
  };
}

function useTemplateBlocked(): (template: NonNullable<FindingView['template']>) => string {
  const { t } = useTranslation('health');
  const { whole } = useNumbers();
  const timeText = useTimes();
  return ({ template, language, status: word, serving, at }) => {
    const status = STATUSES.find((known) => known === word) ?? 'other';
    const cause = t(`templates.${status}`, { template, language, time: timeText(at) });
    const name = t(`languages.${language === 'pt_BR' ? 'pt_BR' : 'en'}`);
    return serving === 0
      ? t('templates.noneServes', { cause, name })
      : t('templates.serves', { cause, name, count: serving, number: whole(serving) });
  };
}

/** Returns the function that describes the failed sends of a finding: their share, the country or sender, and the reason. */
function useFailures(
  senders: HealthView['senders'],
): (failures: NonNullable<FindingView['failures']>) => string {
  const { t } = useTranslation('health');
  const { share, whole } = useNumbers();
  const targetOf = useTarget(senders);
  return ({ country, senderId, reason, failed, ended }) => {
    const kind = country !== undefined ? 'country' : senderId !== undefined ? 'sender' : 'all';
    return t(`failures.${kind}`, {
      ...targetOf({ country, senderId }),
      share: share(failed / ended),
      failed: whole(failed),
      ended: whole(ended),
      why:
        reason === ''
          ? t('failures.whyUnknown')
          : t('failures.why', { reason: t(`failures.reasons.${reason}`) }),
    });
  };
}

/** Returns the function that describes the messages of a country or a sender that never arrived: their share, and that of the week before. */
function useDeliveries(
  senders: HealthView['senders'],
): (deliveries: NonNullable<FindingView['deliveries']>) => string {
  const { t } = useTranslation('health');
  const { share, whole } = useNumbers();
  const targetOf = useTarget(senders);
  return ({ country, senderId, lastDay, weekBefore }) =>
    t(country === undefined ? 'deliveries.sender' : 'deliveries.country', {
      share: share(lastDay.undelivered / lastDay.accepted),
      before: share(weekBefore.undelivered / weekBefore.accepted),
      ...targetOf({ country, senderId }),
      undelivered: whole(lastDay.undelivered),
      accepted: whole(lastDay.accepted),
    });
}

/** Returns the function that names the country or the sender that a finding is about; empty for neither. */
function useTarget(senders: HealthView['senders']): (of: {
  country?: string | undefined;
  senderId?: string | undefined;
}) => {
  country: string;
  sender: string;
} {
  const countryName = useCountryName();
  return ({ country, senderId }) => ({
    country: country === undefined ? '' : countryName(country),
    sender: senders?.find(({ id }) => id === senderId)?.number ?? senderId ?? '',
  });
}

/** Returns the function that gives how many senders cannot send because of a finding; empty if all can. */
export function useBlockedSenders(
  all: HealthView['senders'],
): (finding: FindingView, hasEnded?: boolean) => string {
  const { t } = useTranslation('health');
  const { whole } = useNumbers();
  return ({ account, blocked = 0, senders = 0 }, hasEnded = false) => {
    if (blocked === 0) return '';
    const numbers = { count: blocked, number: whole(blocked), all: whole(senders) };
    if (hasEnded) return t('blocked.were', numbers);
    if (account !== undefined) return t('blocked.own', numbers);
    // The tile counts the accounts' own senders too.
    return t(all?.some((sender) => sender.account !== null) ? 'blocked.shared' : 'blocked.some', numbers);
  };
}
