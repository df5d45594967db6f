import type { SendDetails } from '@onecode/store';

/** What a send waits for, and until when at the longest; null where nobody can say. */
export interface WaitingView {
  kind: 'worker' | 'sender' | 'release' | 'answer' | 'next_attempt' | 'receipt' | 'code';
  until: string | null;
}

/** What is still to come for a send: of its delivery first, then of its code. */
export function waitingOf(send: SendDetails, isHeld: boolean): WaitingView[] {
  const delivery = deliveryOf(send, isHeld);
  return [
    ...(delivery === null ? [] : [delivery]),
    ...(send.verification === 'pending'
      ? [{ kind: 'code' as const, until: send.expiresAt.toISOString() }]
      : []),
  ];
}

function deliveryOf(send: SendDetails, isHeld: boolean): WaitingView | null {
  const { status, awaitingSender, dueAt, expiresAt, verification, attempts } = send;
  if (status === 'sent') return verification === 'pending' ? { kind: 'receipt', until: null } : null;
  if (status !== 'queued' && status !== 'sending') return null;
  if (isHeld && !isUnderWay(send)) return { kind: 'release', until: expiresAt.toISOString() };
  if (awaitingSender) return { kind: 'sender', until: expiresAt.toISOString() };
  if (status === 'queued') return { kind: 'worker', until: null };
  if (isUnderWay(send)) return { kind: 'answer', until: null };
  const until = dueAt?.toISOString() ?? null;
  return attempts.at(-1)?.outcome === 'unknown'
    ? { kind: 'receipt', until }
    : { kind: 'next_attempt', until };
}

/** Whether a call to the provider has no end yet. */
export const isUnderWay = ({ attempts }: Pick<SendDetails, 'attempts'>): boolean =>
  attempts.some(({ finishedAt }) => finishedAt === null);
