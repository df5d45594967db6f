import {
  FINDINGS,
  HEALTH_CHECKS,
  healthFindings,
  sumOf,
  WEBHOOK_RESULTS,
  type Finding,
  type FindingName,
  type HealthCheck,
  type QueueStatistics,
  type RecentTraffic,
  type RedisRefusal,
  type Severity,
  type StoppedTemplate,
  type WebhookResult,
} from '@onecode/domain';
import type {
  AttemptMinute,
  LoopName,
  ProviderAnswers,
  ReceiptStatistics,
  SenderStatistics,
  WaitingSends,
} from '@onecode/store';
import type { ConsoleHealthStatistics } from './statistics.js';

export type { HealthCheck };

/** A finding with its check and, in English, its sentence and remedy; the pages translate them by its name. */
export type FindingView = Finding & Pick<(typeof FINDINGS)[FindingName], 'check' | 'sentence' | 'remedy'>;

/** What is wrong, and the statistics behind it; null where one could not be read in time. */
export interface HealthView {
  at: string;
  /** The worst first. */
  findings: FindingView[];
  /** The state of each check: the severity of its worst finding. */
  states: Record<HealthCheck, Severity | 'ok'>;
  postgresqlMs: number | null;
  redisMs: number | null;
  redisRefusal: RedisRefusal | null;
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
  senders: SenderStatistics[] | null;
  /** Of the last five minutes. */
  ended: { delivered: number; failed: number } | null;
  webhooks: Record<WebhookResult, number> | null;
}

export function healthView(statistics: ConsoleHealthStatistics, now: Date): HealthView {
  const findings = healthFindings(statistics).map((finding) => {
    const { check, sentence, remedy } = FINDINGS[finding.name];
    return { ...finding, check, sentence, remedy };
  });
  const states = Object.fromEntries(HEALTH_CHECKS.map((check) => [check, 'ok'])) as HealthView['states'];
  for (const { check, severity } of findings.toReversed()) states[check] = severity;
  const { attempts, traffic, ...rest } = statistics;
  return {
    at: now.toISOString(),
    findings,
    states,
    ...rest,
    attempts: attempts?.map(({ minute, outcomes }) => ({ minute: minute.toISOString(), outcomes })) ?? null,
    ended: traffic && {
      delivered: sumOf(traffic.fiveMinutes, ({ event }) => event === 'delivered'),
      failed: sumOf(traffic.fiveMinutes, ({ event }) => event === 'failed'),
    },
    webhooks: traffic && webhooksOf(traffic),
  };
}

function webhooksOf({ fiveMinutes }: RecentTraffic): Record<WebhookResult, number> {
  const counted = (result: WebhookResult): number =>
    sumOf(fiveMinutes, ({ event, reason }) => event === 'webhook' && reason === result);
  return Object.fromEntries(WEBHOOK_RESULTS.map((result) => [result, counted(result)])) as Record<
    WebhookResult,
    number
  >;
}
