import type {
  AttemptMinute,
  LoopName,
  ProviderAnswers,
  ReceiptStatistics,
  WaitingSends,
} from '@onecode/store';
import {
  diagnose,
  findingsOf,
  type FigureName,
  type Finding,
  type Severity,
  type Verdict,
} from './diagnose.js';
import type { HealthFigures, QueueFigures, SenderFigures } from './statistics.js';

export type { FigureName, Severity };

/** Whose matter it is, and all figures that say so; null where one could not be read in time. */
export interface HealthView {
  at: string;
  verdict: Verdict;
  /** The worst first; the first is the verdict's. */
  findings: Finding[];
  /** The state of each figure: that of the worst finding on it. */
  states: Record<FigureName, Severity>;
  postgresqlMs: number | null;
  redisMs: number | null;
  connections: { used: number; most: number } | null;
  queues: QueueFigures[] | null;
  waiting: WaitingSends | null;
  /** Of the last half an hour, oldest first; the last one is a part. */
  attempts: (Omit<AttemptMinute, 'minute'> & { minute: string })[] | null;
  /** Of the last five minutes. */
  provider: ProviderAnswers | null;
  receipts: ReceiptStatistics | null;
  loops: { loop: LoopName; workerId: string; secondsAgo: number }[] | null;
  senders: (Omit<SenderFigures, 'pausedUntil'> & { pausedUntil: string | null })[] | null;
}

const GOOD: Record<FigureName, Severity> = {
  postgresql: 'good',
  redis: 'good',
  loops: 'good',
  queues: 'good',
  due: 'good',
  forSender: 'good',
  held: 'good',
  senders: 'good',
  attempts: 'good',
  latency: 'good',
  receipts: 'good',
  receiptsDue: 'good',
};

export function healthView(figures: HealthFigures, now: Date): HealthView {
  const findings = findingsOf(figures);
  const states = { ...GOOD };
  for (const { figure, severity } of findings.toReversed()) states[figure] = severity;
  const { attempts, senders, ...rest } = figures;
  return {
    at: now.toISOString(),
    verdict: diagnose(figures),
    findings,
    states,
    ...rest,
    attempts: attempts?.map(({ minute, outcomes }) => ({ minute: minute.toISOString(), outcomes })) ?? null,
    senders:
      senders?.map((sender) => ({ ...sender, pausedUntil: sender.pausedUntil?.toISOString() ?? null })) ??
      null,
  };
}
