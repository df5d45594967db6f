import {
  HEALTH_CHECKS,
  healthFindings,
  healthVerdict,
  type Finding,
  type HealthCheck,
  type Severity,
  type StoppedTemplate,
  type Verdict,
} from '@onecode/domain';
import type {
  AttemptMinute,
  LoopName,
  ProviderAnswers,
  ReceiptStatistics,
  WaitingSends,
} from '@onecode/store';
import type { ConsoleHealthStatistics, QueueStatistics, SenderStatistics } from './statistics.js';

export type { HealthCheck, Severity };

/** The verdict, the findings behind it, and the statistics; null where one could not be read in time. */
export interface HealthView {
  at: string;
  verdict: Verdict;
  /** The worst first: the verdict's. */
  findings: Finding[];
  /** The state of each check: the severity of its worst finding. */
  states: Record<HealthCheck, Severity>;
  postgresqlMs: number | null;
  redisMs: number | null;
  connections: { used: number; most: number } | null;
  queues: QueueStatistics[] | null;
  waiting: WaitingSends | null;
  /** The last half hour, oldest minute first; the last minute is not over. */
  attempts: (Omit<AttemptMinute, 'minute'> & { minute: string })[] | null;
  /** Of the last five minutes. */
  provider: ProviderAnswers | null;
  receipts: ReceiptStatistics | null;
  loops: { loop: LoopName; workerId: string; secondsAgo: number }[] | null;
  stoppedTemplates: StoppedTemplate[] | null;
  senders: (Omit<SenderStatistics, 'pausedUntil'> & { pausedUntil: string | null })[] | null;
}

export function healthView(statistics: ConsoleHealthStatistics, now: Date): HealthView {
  const findings = healthFindings(statistics);
  const states = Object.fromEntries(HEALTH_CHECKS.map((check) => [check, 'ok'])) as HealthView['states'];
  for (const { check, severity } of findings.toReversed()) states[check] = severity;
  const { attempts, senders, ...rest } = statistics;
  return {
    at: now.toISOString(),
    verdict: healthVerdict(findings),
    findings,
    states,
    ...rest,
    attempts: attempts?.map(({ minute, outcomes }) => ({ minute: minute.toISOString(), outcomes })) ?? null,
    senders:
      senders?.map((sender) => ({ ...sender, pausedUntil: sender.pausedUntil?.toISOString() ?? null })) ??
      null,
  };
}
