import {
  countEvents,
  describeFinding,
  HEALTH_CHECKS,
  startOf,
  subjectOf,
  type Finding,
  type HealthCheck,
  type Severity,
} from '@onecode/domain';
import type { Incident } from '@onecode/store/operations';
import type { Explanation } from '@onecode/whatsapp';
import type { Json } from '../../http/json.js';
import { explainBlock } from '../senders/view.js';
import type { ConsoleHealthStatistics } from './statistics.js';

/** A finding with its check and its texts in each language. `explanation` explains the Meta error that caused it. */
export type FindingView = Finding & ReturnType<typeof describeFinding> & { explanation: Explanation | null };

/** The current problems and the statistics behind them; null for a statistic that could not be read in time. */
export type HealthView = Json<ReturnType<typeof healthView>>;

/** A current problem. */
export type IncidentView = HealthView['findings'][number];

export function healthView(statistics: ConsoleHealthStatistics, now: Date) {
  const { traffic, deliveries: _, senders, findings: found, incidents, ...rest } = statistics;
  const current = found.map((finding) => latestIncident(finding, incidents ?? []));
  const findings = found.map((finding, index) => ({
    ...findingView(finding),
    /** Null until the finding is recorded. */
    incidentId: current[index]?.id ?? null,
    since: current[index]?.beganAt.toISOString() ?? startOf(finding) ?? now.toISOString(),
    acknowledged: current[index]?.acknowledged ?? null,
  }));
  const states = Object.fromEntries(HEALTH_CHECKS.map((check) => [check, 'ok'])) as Record<
    HealthCheck,
    Severity | 'ok'
  >;
  for (const severity of ['degraded', 'failing'] as const)
    for (const finding of findings)
      if (finding.severity === severity)
        for (const check of checksOf(finding, statistics)) states[check] = severity;
  return {
    ...rest,
    at: now,
    /** Worst first. */
    findings,
    /** Problems of the last day that have ended, latest first. */
    history: (incidents ?? [])
      .filter(
        (incident) =>
          !current.includes(incident) &&
          incident.seenAt.getTime() - incident.beganAt.getTime() >= WORTH_REPORTING_MS,
      )
      .map(({ id, finding, beganAt, seenAt, acknowledged }) => ({
        id,
        finding: findingView(finding),
        beganAt,
        endedAt: seenAt,
        acknowledged,
      })),
    /** The state of each check: the severity of its worst finding. */
    states,
    senders:
      senders?.map(({ blocks, ...sender }) => ({
        ...sender,
        blocks: blocks.map((block) => ({ ...block, explanation: explainBlock(block) })),
      })) ?? null,
    /** Of the last five minutes, like `provider` and `webhooks`. */
    ended: traffic && {
      delivered: countEvents(traffic.fiveMinutes, 'delivered'),
      failed: countEvents(traffic.fiveMinutes, 'failed'),
    },
    webhooks: traffic && {
      accepted: countEvents(traffic.fiveMinutes, 'webhook', 'accepted'),
      rejected: countEvents(traffic.fiveMinutes, 'webhook', 'invalid_signature'),
    },
  };
}

/** Shorter problems, such as during a process start, are not listed. */
const WORTH_REPORTING_MS = 1_000;

const isSame = (one: Finding, other: Finding): boolean =>
  one.name === other.name && subjectOf(one) === subjectOf(other);

function findingView(finding: Finding): FindingView {
  const fault = finding.blocks?.find(({ errorCode }) => errorCode !== null);
  const explanation = fault === undefined ? null : explainBlock(fault);
  return { ...finding, ...describeFinding(finding), explanation };
}

/** The checks that show a finding: its own, the backlog that it delays, and the calls that it has refused. */
function checksOf(
  { name, check, holdsUp, account }: FindingView,
  { waiting, ownWaiting, provider }: ConsoleHealthStatistics,
): HealthCheck[] {
  const own = ownWaiting?.find((one) => one.account.id === account?.id)?.waiting.count;
  const count = holdsUp === undefined ? 0 : account === undefined ? waiting?.[holdsUp].count : own;
  const isHeldUp = holdsUp !== undefined && holdsUp !== 'underWay' && (count ?? 0) > 0;
  const isRefused = name === 'sender_misconfigured' && (provider?.config ?? 0) + (provider?.sender ?? 0) > 0;
  return [check, ...(isHeldUp ? [holdsUp] : []), ...(isRefused ? (['attempts'] as const) : [])];
}

/** Returns the incident of a current finding: the one that was seen most recently. */
function latestIncident(finding: Finding, incidents: readonly Incident[]): Incident | undefined {
  const same = incidents.filter((incident) => isSame(incident.finding, finding));
  return same.toSorted((a, b) => b.seenAt.getTime() - a.seenAt.getTime())[0];
}
