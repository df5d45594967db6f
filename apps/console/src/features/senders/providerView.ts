import {
  CODE_CATEGORY,
  messagingLimitOf,
  preflight,
  templateLanguages,
  type PreflightResult,
} from '@onecode/domain';
import type { Sender, SenderKnowledge } from '@onecode/store';

/** Something that Meta said of a sender, in its own words. */
export interface FactView {
  name:
    | 'quality'
    | 'status'
    | 'messagingLimit'
    | 'throughputLevel'
    | 'canSend'
    | 'review'
    | 'verification'
    | 'ban'
    | 'alert';
  value: string;
  at: string;
  source: 'webhook' | 'read';
}

/** One language of a sender's template, in Meta's words. */
export interface TemplateView {
  language: string;
  status: string | null;
  category: string | null;
  quality: string | null;
  reason: string | null;
  ttlSeconds: number | null;
  codeExpirationMinutes: number | null;
  isUsable: boolean;
  /** When Meta last told its status. */
  at: string | null;
}

/** What Meta said of a sender. */
export interface ProviderView {
  facts: FactView[];
  templates: TemplateView[];
  checks: PreflightResult[];
  /** People whom all numbers with the same messaging limit wrote to in the last 24 hours; null before the first read. */
  recipients24h: number | null;
  /** How many more it may write to, by the messaging limit; null while unknown or unlimited. */
  recipientsLeft: number | null;
  /** The last try to read, and the last one that succeeded. */
  triedAt: string | null;
  readAt: string | null;
}

export function providerView(
  sender: Sender,
  knowledge: SenderKnowledge,
  codeValiditySeconds: number,
  now: Date,
): ProviderView {
  const languages = templateLanguages(sender.englishTemplateLanguage);
  const { triedAt, readAt, recipients24h } = knowledge;
  const results = preflight({
    ...knowledge,
    template: sender.template,
    englishTemplateLanguage: sender.englishTemplateLanguage,
    codeValiditySeconds,
    recipients24h: recipients24h ?? 0,
    now,
  });
  return {
    facts: factViews(knowledge),
    templates: templateViews(knowledge, Object.values(languages)),
    checks: triedAt === null ? [] : results,
    recipients24h,
    recipientsLeft: recipientsLeft(knowledge),
    triedAt: triedAt?.toISOString() ?? null,
    readAt: readAt?.toISOString() ?? null,
  };
}

function recipientsLeft({ number, recipients24h }: SenderKnowledge): number | null {
  const most = messagingLimitOf(number.messagingLimit?.value);
  if (recipients24h === null || most === null || most === Infinity) return null;
  return Math.max(0, most - recipients24h);
}

function factViews({ number, businessAccount, alerts }: SenderKnowledge): FactView[] {
  const canSend =
    businessAccount.canSend?.value.can === 'AVAILABLE'
      ? number.canSend
      : (businessAccount.canSend ?? number.canSend);
  const told = [
    ['quality', number.quality],
    ['status', number.status],
    ['messagingLimit', number.messagingLimit],
    ['throughputLevel', number.throughputLevel],
    ['review', businessAccount.review],
    ['verification', businessAccount.verification],
    ['ban', businessAccount.ban],
  ] as const;
  const views: FactView[] = [
    ...told.flatMap(([name, fact]) => (fact === undefined ? [] : [{ name, ...fact }])),
    ...alerts.slice(0, ALERTS_SHOWN).map(alertView),
  ];
  if (canSend === undefined) return views;
  const { value, at, source } = canSend;
  return [
    ...views,
    { name: 'canSend', value: value.why === null ? value.can : `${value.can}: ${value.why}`, at, source },
  ];
}

/** The command line shows the others. */
const ALERTS_SHOWN = 5;

function alertView({ type, severity, detail, at }: SenderKnowledge['alerts'][number]): FactView {
  const words = severity === null ? type : `${type} (${severity})`;
  return { name: 'alert', value: detail === null ? words : `${words}: ${detail}`, at, source: 'webhook' };
}

function templateViews({ templates }: SenderKnowledge, languages: readonly string[]): TemplateView[] {
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
      at: facts.status?.at ?? null,
    }));
}
