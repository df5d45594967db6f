import type { AttemptOutcome } from '@onecode/domain';
import type { BlockedCountry, Sender, SenderActivity } from '@onecode/store';
import { explanations, type ExplanationsView } from '../sends/explanations.js';

/** A way in which calls of a sender failed in the last hour. */
export interface SenderErrorView {
  outcome: Exclude<AttemptOutcome, 'accepted'>;
  /** The provider's code, where it gave one. */
  errorCode: number | null;
  times: number;
  lastAt: string;
  /** What the code means and what an operator can do, in each language. */
  explanations: ExplanationsView;
}

/** A sender; its access token never leaves the store. */
export interface SenderView {
  id: string;
  phoneNumberId: string;
  /** E.164. */
  number: string;
  template: string;
  english: 'en' | 'en_US';
  throughput: number;
  /** Faults in a row. */
  faults: number;
  /** `paused` by an operator; `resting` after a fault, until a time. */
  state: 'active' | 'resting' | 'paused';
  pausedAt: string | null;
  pausedUntil: string | null;
  pauseReason: string | null;
  createdAt: string;
  blockedCountries: { country: string; until: string; errorCode: number | null }[];
  /** Calls of the last hour by what they came to. */
  outcomes: Partial<Record<AttemptOutcome, number>>;
  errors: SenderErrorView[];
}

export interface SendersView {
  /** Oldest first. */
  senders: SenderView[];
  /** Messages a second that a sender may be given. */
  throughputBounds: { min: number; max: number };
}

/** A rest that is over has left its marks in the row until the next send; the sender is active all the same. */
export function senderState({ pausedAt, pausedUntil }: Sender, now: Date): SenderView['state'] {
  if (pausedAt === null) return 'active';
  if (pausedUntil === null) return 'paused';
  return pausedUntil > now ? 'resting' : 'active';
}

export function senderView(
  sender: Sender,
  activity: SenderActivity | undefined,
  blocked: readonly BlockedCountry[],
  now: Date,
): SenderView {
  const { pausedAt, pausedUntil, pauseReason, createdAt, ...rest } = sender;
  const state = senderState(sender, now);
  const isStopped = state !== 'active';
  return {
    ...rest,
    state,
    pausedAt: isStopped ? (pausedAt?.toISOString() ?? null) : null,
    pausedUntil: isStopped ? (pausedUntil?.toISOString() ?? null) : null,
    pauseReason: isStopped ? pauseReason : null,
    createdAt: createdAt.toISOString(),
    blockedCountries: blocked
      .filter(({ senderId }) => senderId === sender.id)
      .map(({ country, blockedUntil, errorCode }) => ({
        country,
        until: blockedUntil.toISOString(),
        errorCode,
      })),
    outcomes: activity?.outcomes ?? {},
    errors: (activity?.errors ?? []).map(({ lastAt, ...error }) => ({
      ...error,
      lastAt: lastAt.toISOString(),
      explanations: explanations(error.errorCode, error.outcome),
    })),
  };
}
