import {
  CODE_CATEGORY,
  maySend,
  parseMessagingLimit,
  preflight,
  templateLanguages,
  type SenderKnowledge,
} from '@onecode/domain';

/** Returns Meta's reports about a sender. */
export function providerView(knowledge: SenderKnowledge, codeValiditySeconds: number, now: Date) {
  const languages = templateLanguages(knowledge.englishTemplateLanguage);
  const { triedAt, readAt, recipients24h } = knowledge;
  const results = preflight({ ...knowledge, codeValiditySeconds, now });
  return {
    facts: factViews(knowledge),
    templates: templateViews(knowledge, Object.values(languages)),
    checks: triedAt === null ? [] : results,
    /** Whether these checks allow the activation of the sender. */
    maySend: maySend(results),
    /** The number of people who got messages in the last 24 hours from all numbers that share the messaging limit; null before the first read. */
    recipients24h,
    /** The messaging limit; null while unknown or unlimited. */
    recipientsMax: recipientsMax(knowledge),
    recipientsLeft: recipientsLeft(knowledge),
    /** The last attempt to read, and the last one that succeeded. */
    triedAt,
    readAt,
  };
}

/** Returns how many more people it may write to under the messaging limit; null while unknown or unlimited. */
function recipientsLeft(knowledge: SenderKnowledge): number | null {
  const { recipients24h } = knowledge;
  const most = recipientsMax(knowledge);
  return recipients24h === null || most === null ? null : Math.max(0, most - recipients24h);
}

function recipientsMax({ number }: SenderKnowledge): number | null {
  const most = parseMessagingLimit(number.messagingLimit?.value);
  return most === Infinity ? null : most;
}

/** Returns the facts that Meta reported about a sender, in Meta's values. */
function factViews({ number, businessAccount, alerts }: SenderKnowledge) {
  const { canSend } = number;
  const reported = [
    ['quality', number.quality],
    ['status', number.status],
    ['messagingLimit', number.messagingLimit],
    ['throughputLevel', number.throughputLevel],
    ['verification', businessAccount.verification],
  ] as const;
  return [
    ...reported.flatMap(([name, fact]) => (fact === undefined ? [] : [{ name, ...fact, sentence: null }])),
    ...alerts.slice(0, ALERTS_SHOWN).map(alertView),
    ...(canSend === undefined ? [] : [canSendView(canSend)]),
  ];
}

function canSendView({ value: { can, why }, ...times }: NonNullable<SenderKnowledge['number']['canSend']>) {
  return {
    name: 'canSend' as const,
    value: why === null ? can : `${can}: ${why}`,
    ...times,
    sentence: null,
  };
}

/** The command line shows all other facts. */
const ALERTS_SHOWN = 5;

/** Alerts with a sentence, which the page shows instead of the type. */
const EXPLAINED_ALERTS = ['AUTH_INTL_PRICE_ELIGIBILITY_UPDATE', 'VOLUME_BASED_PRICING_TIER_UPDATE'] as const;

function alertView({ type, severity, detail, at }: SenderKnowledge['alerts'][number]) {
  const sentence = EXPLAINED_ALERTS.find((explained) => explained === type) ?? null;
  const words = severity === null ? type : `${type} (${severity})`;
  const described = detail === null ? words : `${words}: ${detail}`;
  const value = sentence === null ? described : (detail ?? '');
  return { name: 'alert' as const, value, sentence, at, since: null };
}

/** The languages of a sender's template, in Meta's words. */
function templateViews({ templates }: SenderKnowledge, languages: readonly string[]) {
  return templates
    .filter(({ language }) => languages.includes(language))
    .map(({ language, facts }) => ({
      language,
      status: facts.status?.value ?? null,
      category: facts.category?.value ?? null,
      quality: facts.quality?.value ?? null,
      reason: facts.reason?.value ?? null,
      ttlSeconds: facts.ttlSeconds?.value ?? null,
      codeExpirationMinutes: facts.codeExpirationMinutes?.value ?? null,
      isUsable: facts.status?.value === 'APPROVED' && facts.category?.value === CODE_CATEGORY,
      /** When its status began. */
      since: facts.status?.since ?? null,
    }));
}
