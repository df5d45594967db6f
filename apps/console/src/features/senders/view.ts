import {
  isToldByProvider,
  SENDER_PATTERNS,
  SENDER_TEMPLATE_INITIAL,
  SENDER_THROUGHPUT,
  senderState,
  type AttemptOutcome,
  type SenderState,
} from '@onecode/domain';
import type { BlockedCountry, Sender, SenderActivity } from '@onecode/store';
import { explainError, type Explanation } from '@onecode/whatsapp';
import type { ProviderView } from './providerView.js';

export type { FactView, ProviderView, TemplateView } from './providerView.js';

/** Failed calls of a sender in the last hour, by outcome and error code. */
export interface SenderErrorView {
  outcome: Exclude<AttemptOutcome, 'accepted'>;
  /** The provider's code; null where it gave none. */
  errorCode: number | null;
  times: number;
  lastAt: string;
  /** What the code means and what an operator can do. */
  explanation: Explanation;
}

/** A sender; its access token never leaves the store. */
export interface SenderView {
  id: string;
  phoneNumberId: string;
  /** E.164. */
  number: string;
  businessAccountId: string | null;
  template: string;
  englishTemplateLanguage: 'en' | 'en_US';
  throughput: number;
  /** Consecutive failures. */
  consecutiveFailures: number;
  /** `paused` by an operator, or `cooling_down` after a failure until `pausedUntil`. */
  state: SenderState;
  pausedAt: string | null;
  pausedUntil: string | null;
  pauseReason: string | null;
  /** How we know that it cannot send; null while it can. */
  pauseSource: Sender['pauseSource'];
  isStoppedByProvider: boolean;
  createdAt: string;
  blockedCountries: { country: string; until: string; errorCode: number | null }[];
  /** Calls of the last hour by outcome. */
  outcomes: Partial<Record<AttemptOutcome, number>>;
  errors: SenderErrorView[];
  /** What Meta said of it. */
  provider: ProviderView;
}

export interface SendersView {
  /** Oldest first. */
  senders: SenderView[];
  rules: SenderRulesView;
}

/** The rules of the fields of a sender, for the forms. */
export interface SenderRulesView {
  /** Messages a second. */
  throughput: { min: number; max: number; initial: number };
  templateInitial: string;
  /** Regular expressions. */
  patterns: { phoneNumberId: string; businessAccountId: string; template: string; token: string };
}

export const SENDER_RULES: SenderRulesView = {
  throughput: SENDER_THROUGHPUT,
  templateInitial: SENDER_TEMPLATE_INITIAL,
  patterns: {
    phoneNumberId: SENDER_PATTERNS.phoneNumberId.source,
    businessAccountId: SENDER_PATTERNS.businessAccountId.source,
    template: SENDER_PATTERNS.template.source,
    token: SENDER_PATTERNS.token.source,
  },
};

export function senderView(
  sender: Sender,
  activity: SenderActivity | undefined,
  blocked: readonly BlockedCountry[],
  provider: ProviderView,
  now: Date,
): SenderView {
  const { pausedAt, pausedUntil, pauseReason, pauseSource, createdAt, ...rest } = sender;
  const state = senderState(sender, now);
  const isStopped = state !== 'active';
  return {
    ...rest,
    state,
    pausedAt: isStopped ? (pausedAt?.toISOString() ?? null) : null,
    pausedUntil: isStopped ? (pausedUntil?.toISOString() ?? null) : null,
    pauseReason: isStopped ? pauseReason : null,
    pauseSource: isStopped ? pauseSource : null,
    isStoppedByProvider: isStopped && isToldByProvider(pauseSource),
    createdAt: createdAt.toISOString(),
    blockedCountries: blocked
      .filter(({ senderId }) => senderId === sender.id)
      .map(({ country, blockedUntil, errorCode }) => ({
        country,
        until: blockedUntil.toISOString(),
        errorCode,
      })),
    provider,
    outcomes: activity?.outcomes ?? {},
    errors: (activity?.errors ?? []).map(({ lastAt, ...error }) => ({
      ...error,
      lastAt: lastAt.toISOString(),
      explanation: explainError(error.errorCode, error.outcome),
    })),
  };
}
