import type { BacklogName } from './healthStatistics.js';

/** Who has to act. `held`: operators stopped something on purpose. */
export type Owner = 'us' | 'redis' | 'postgresql' | 'meta' | 'held';
export type Severity = 'degraded' | 'failing';

/** The checks of the health page. A check is well as long as it has no finding. */
export const HEALTH_CHECKS = [
  'postgresql',
  'redis',
  'loops',
  'queues',
  'due',
  'forSender',
  'held',
  'senders',
  'attempts',
  'latency',
  'receipts',
  'receiptsDue',
  'ended',
  'webhooks',
  'mail',
] as const;
export type HealthCheck = (typeof HEALTH_CHECKS)[number];

interface FindingKind {
  /** The check that finds it. */
  check: HealthCheck;
  /** More than one where the reason of most failures decides. */
  owners: readonly [Owner, ...Owner[]];
  /** The sends that wait because of it. */
  holdsUp?: BacklogName;
  severities: readonly Severity[];
  sentence: string;
  /** What to do first. The finding's heading in docs/runbooks.md has the steps. */
  remedy: string;
}

const EITHER = ['degraded', 'failing'] as const;
const POSTGRESQL = { check: 'postgresql', owners: ['postgresql'], holdsUp: 'due' } as const;
const REDIS = { check: 'redis', owners: ['redis'], holdsUp: 'due' } as const;
const SENDERS = { check: 'senders', holdsUp: 'forSender' } as const;
const ENDED = { check: 'ended', owners: ['meta', 'us'] } as const;

const KINDS = {
  postgresql_away: {
    ...POSTGRESQL,
    severities: ['failing'],
    sentence: 'PostgreSQL does not respond, or refuses our password.',
    remedy:
      'Nothing can be sent or verified until it responds. Check the database server: is it up, is its disk full, is it reachable? The processes’ logs name the reason. Restart them only where DATABASE_URL changes: they recover by themselves.',
  },
  postgresql_slow: {
    ...POSTGRESQL,
    severities: EITHER,
    sentence: 'PostgreSQL responds slowly.',
    remedy:
      'Check the load and disk of the database server, and look for long statements in pg_stat_activity: a backup, a report, or a lock that is not released.',
  },
  postgresql_full: {
    ...POSTGRESQL,
    severities: EITHER,
    sentence: 'PostgreSQL is running out of connections.',
    remedy:
      'Check in pg_stat_activity who holds them. Stop what does not belong there, or raise max_connections. Do not start more processes.',
  },
  redis_away: {
    ...REDIS,
    severities: ['failing'],
    sentence: 'Redis does not respond.',
    remedy:
      'Sends are accepted and go out all the same, a moment later: workers take them from the database. Bring Redis back, empty if need be: nothing in it has to be kept.',
  },
  redis_refuses_writes: {
    ...REDIS,
    severities: ['failing'],
    sentence: 'Redis answers, but refuses writes.',
    remedy:
      'Sends are accepted and go out all the same, a moment later. Give Redis memory or disk space, or make it a master again: nothing needs a restart.',
  },
  redis_unfit: {
    ...REDIS,
    severities: ['failing'],
    sentence: 'Redis cannot be used as it is configured.',
    remedy:
      'The processes’ logs name the reason in one line, and the operations page says what to do. Workers that run deliver all the same, a moment later; none can start.',
  },
  redis_slow: {
    ...REDIS,
    severities: EITHER,
    sentence: 'Redis responds slowly.',
    remedy:
      'Check its memory and load, and whether something else uses it. You can restart it, even empty: the workers take every send without a job.',
  },
  no_worker: {
    check: 'loops',
    owners: ['us'],
    holdsUp: 'due',
    severities: ['failing'],
    sentence: 'No worker is running.',
    remedy:
      'Start the workers, and check their last log lines for why they stopped. Until then, sends wait in the database.',
  },
  sweeper_stopped: {
    check: 'loops',
    owners: ['us'],
    holdsUp: 'due',
    severities: EITHER,
    sentence: 'Workers are running, and have stopped sweeping.',
    remedy:
      'Check whether a worker process still runs and what it logs. If it hangs, restart it: the sends it was working on are taken over within seconds.',
  },
  queue_paused: {
    check: 'queues',
    owners: ['us'],
    holdsUp: 'due',
    severities: ['failing'],
    sentence: 'A queue is paused in Redis.',
    remedy:
      'Sends wait, and fail when their codes expire. An operator can resume the queue on the queue board. To stop delivery, use holds instead.',
  },
  configuration_fault: {
    ...SENDERS,
    owners: ['us'],
    severities: EITHER,
    sentence: 'Meta refuses our account, token or template.',
    remedy:
      'Check under Senders which one and why. Give the sender a new token, or fix it in Meta Business Manager and resume the sender.',
  },
  no_senders: {
    ...SENDERS,
    owners: ['us'],
    severities: EITHER,
    sentence: 'Sends are waiting, and there is no sender.',
    remedy: 'An operator has to add a sender under Senders.',
  },
  senders_stopped: {
    ...SENDERS,
    owners: ['meta'],
    severities: EITHER,
    sentence: 'Meta has stopped senders.',
    remedy:
      'Check under Senders what Meta says and when. Do what WhatsApp Manager asks for; they start again by themselves once Meta says so.',
  },
  senders_cooling_down: {
    ...SENDERS,
    owners: ['meta'],
    severities: EITHER,
    sentence: 'Senders are cooling down after errors from Meta.',
    remedy:
      'Check under Senders which error it is and until when. They resume by themselves. To send again sooner, fix the cause and resume them.',
  },
  senders_paused: {
    ...SENDERS,
    owners: ['held'],
    severities: EITHER,
    sentence: 'Operators have paused senders.',
    remedy:
      'Check under Senders who paused them and why. Sends without another sender wait until one is resumed, or fail when their codes expire.',
  },
  template_stopped: {
    ...SENDERS,
    owners: ['meta'],
    severities: ['degraded'],
    sentence: 'Meta has stopped a template.',
    remedy:
      'Check under Senders which template and why. Codes in this language go out from the other senders. It starts again by itself once Meta approves it.',
  },
  template_stopped_everywhere: {
    ...SENDERS,
    owners: ['meta'],
    severities: EITHER,
    sentence: 'Meta has stopped a template, and no sender serves its language.',
    remedy:
      'Codes in this language wait and fail when they expire. Check under Senders why, fix the template in WhatsApp Manager, or add a sender with another template.',
  },
  senders_flagged: {
    check: 'senders',
    owners: ['us'],
    severities: ['degraded'],
    sentence: 'Meta says that the quality of a number is low: people block or report it.',
    remedy:
      'Send less from it, and look at who is written to: an account whose people do not expect codes, or traffic that somebody pumps. Meta may limit the number next.',
  },
  provider_failing: {
    check: 'attempts',
    owners: ['meta'],
    holdsUp: 'underWay',
    severities: EITHER,
    sentence: 'Calls to Meta fail.',
    remedy:
      'Check Meta’s status page. Sends are retried automatically, and the units of those that fail are returned. If it lasts, hold live delivery rather than let codes expire.',
  },
  provider_slow: {
    check: 'latency',
    owners: ['meta'],
    holdsUp: 'underWay',
    severities: EITHER,
    sentence: 'Meta responds slowly.',
    remedy:
      'Check Meta’s status page, and whether our network reaches other hosts quickly. Nothing is lost; codes arrive later.',
  },
  webhooks_rejected: {
    check: 'webhooks',
    owners: ['us'],
    severities: EITHER,
    sentence: 'Webhooks come with a wrong signature.',
    remedy:
      'Compare WHATSAPP_APP_SECRET of every API process with the app secret at Meta. Meta repeats what was refused for seven days. If other webhooks come through, somebody else may be posting to the address.',
  },
  receipts_missing: {
    check: 'receipts',
    owners: ['meta'],
    severities: EITHER,
    sentence: 'Messages are accepted, but receipts do not come in.',
    remedy:
      'Check the webhook in Meta’s app settings, Meta’s status page, and whether the API answers /webhooks/whatsapp from outside. Codes still go out; only their status stays at sent.',
  },
  receipts_late: {
    check: 'receiptsDue',
    owners: ['us'],
    severities: EITHER,
    sentence: 'Receipts are stored but not applied.',
    remedy:
      'Check the workers’ logs for errors with receipts. Nothing is lost: receipts are applied as soon as the workers can.',
  },
  retention_behind: {
    check: 'loops',
    owners: ['us'],
    severities: ['degraded'],
    sentence: 'Old sends are kept longer than the settings say.',
    remedy:
      'Check the workers’ logs for errors of retention. If there is none, it is only slow: the command “retention run” does all at once, best at a quiet hour.',
  },
  sends_failing: {
    ...ENDED,
    severities: EITHER,
    sentence: 'Sends fail.',
    remedy:
      'Look at failed sends in the console: Meta’s code on their timelines says why. Units of failed sends are returned.',
  },
  reason_failing: {
    ...ENDED,
    severities: EITHER,
    sentence: 'Sends fail for a reason that is not their recipients’.',
    remedy:
      'Expired: check workers, senders and holds. Attempts used up: check the calls to Meta and Meta’s status page.',
  },
  country_failing: {
    ...ENDED,
    severities: EITHER,
    sentence: 'Sends to a country fail.',
    remedy:
      'Look at failed sends to that country: Meta’s code says why. Check Meta’s status page, and hold the country rather than let codes fail.',
  },
  sender_failing: {
    ...ENDED,
    severities: EITHER,
    sentence: 'Sends of one sender fail.',
    remedy: 'Check under Senders what Meta says of it. Pause it: the other senders take over.',
  },
  sends_late: {
    check: 'due',
    owners: ['us'],
    holdsUp: 'due',
    severities: EITHER,
    sentence: 'Sends are waiting, and no worker takes them.',
    remedy: 'Check whether the workers run and what they log. If they are only busy, start another one.',
  },
  senders_busy: {
    check: 'forSender',
    owners: ['us'],
    holdsUp: 'forSender',
    severities: EITHER,
    sentence: 'The senders cannot keep up.',
    remedy:
      'More sends come in than their throughput allows. Raise it if Meta allows more, add a sender, or limit the account that sends so much.',
  },
  sends_held: {
    check: 'held',
    owners: ['held'],
    holdsUp: 'held',
    severities: ['degraded'],
    sentence: 'Sends are on hold.',
    remedy:
      'Check under Holds who set the holds and why. Waiting sends go out as soon as a hold is released, or fail when their codes expire.',
  },
  mail_not_sent: {
    check: 'mail',
    owners: ['us'],
    severities: ['degraded'],
    sentence: 'Mails do not go out.',
    remedy:
      'Check what the SMTP server answers the workers, and whether SMTP_URL is still valid. Nothing else depends on it: codes go out, and each mail is tried for a day.',
  },
} as const satisfies Record<string, FindingKind>;

export type FindingName = keyof typeof KINDS;

/** What `healthFindings` may find, causes before their consequences. */
export const FINDINGS: Readonly<Record<FindingName, FindingKind>> = KINDS;

/** Each finding with each owner and severity that it can have. Those who watch metrics see each, found or not. */
export const KNOWN_FINDINGS: readonly { name: FindingName; owner: Owner; severity: Severity }[] = (
  Object.entries(FINDINGS) as [FindingName, FindingKind][]
).flatMap(([name, { owners, severities }]) =>
  owners.flatMap((owner) => severities.map((severity) => ({ name, owner, severity }))),
);

/** Where a finding's steps stand. */
export const runbookOf = (name: FindingName): string => `docs/runbooks.md#${name}`;
