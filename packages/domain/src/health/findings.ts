import type { BacklogName } from './healthStatistics.js';

/** Who has to act. `held`: operators placed a hold or a pause on purpose. */
export type Owner = 'us' | 'redis' | 'postgresql' | 'meta' | 'held';
export type Severity = 'degraded' | 'failing';

/** The checks of the health page. A check is OK while it has no finding. */
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

interface FindingCause {
  /** The check that shows it. */
  check: HealthCheck;
  /** The sends that wait because of it. */
  holdsUp?: BacklogName;
  sentence: string;
}

interface FindingKind {
  /** More than one if the most frequent failure reason decides who has to act. */
  owners: readonly [Owner, ...Owner[]];
  severities: readonly Severity[];
  causes: Readonly<Record<string, FindingCause>>;
  /** What to do first. The finding's heading in docs/runbooks.md has the steps. */
  remedy: string;
  /** Set if the console allows this only to operators, so that on-call engineers have to ask one. */
  needsOperator?: true;
}

const EITHER = ['degraded', 'failing'] as const;
const POSTGRESQL = { check: 'postgresql', holdsUp: 'due' } as const;
const REDIS = { check: 'redis', holdsUp: 'due' } as const;
const SENDERS = { check: 'senders', holdsUp: 'forSender' } as const;

const KINDS = {
  postgresql_unavailable: {
    owners: ['postgresql'],
    severities: ['failing'],
    causes: {
      unavailable: { ...POSTGRESQL, sentence: 'PostgreSQL is unavailable or rejects the password.' },
    },
    remedy:
      'Nothing can be sent or verified until PostgreSQL responds. Check whether the server runs, has disk space and can be reached; the processes log the reason. They recover without a restart, unless DATABASE_URL changes.',
  },
  postgresql_overloaded: {
    owners: ['postgresql'],
    severities: EITHER,
    causes: {
      slow: { ...POSTGRESQL, sentence: 'PostgreSQL responds slowly.' },
      connections: { ...POSTGRESQL, sentence: 'PostgreSQL is running out of connections.' },
    },
    remedy:
      'Check pg_stat_activity for long statements, locks and unexpected connections, and end them. Check the load and the disk of the server.',
  },
  redis_unhealthy: {
    owners: ['redis'],
    severities: ['degraded'],
    causes: {
      unavailable: { ...REDIS, sentence: 'Redis is unavailable or rejects commands.' },
      slow: { ...REDIS, sentence: 'Redis responds slowly.' },
    },
    remedy:
      'Codes are still sent, a moment later: workers read due sends from the database. The processes log the reason. Repair Redis, or replace it with an empty one.',
  },
  no_workers: {
    owners: ['us'],
    severities: ['failing'],
    causes: { none: { check: 'loops', holdsUp: 'due', sentence: 'No worker is running.' } },
    remedy:
      'Start the workers; their last log lines show why they stopped. Sends wait in the database until then.',
  },
  workers_behind: {
    owners: ['us'],
    severities: EITHER,
    causes: {
      loops: { check: 'loops', holdsUp: 'due', sentence: 'Workers run, but their loops are stuck.' },
      sends: { check: 'due', holdsUp: 'due', sentence: 'Sends wait for a worker.' },
      receipts: { check: 'receiptsDue', sentence: 'Receipts are stored but not applied.' },
      retention: { check: 'loops', sentence: 'Daily statistics or retention are more than a day late.' },
    },
    remedy:
      'Check the workers’ log for errors. Restart a worker that hangs; if the workers are only busy, start another one.',
  },
  sender_misconfigured: {
    owners: ['us'],
    severities: EITHER,
    causes: { refused: { ...SENDERS, sentence: 'Meta rejects our account, token or template.' } },
    remedy:
      'The Senders page shows the sender and the reason. Set a new token, or correct the setting in Meta Business Manager and resume the sender.',
    needsOperator: true,
  },
  insufficient_senders: {
    owners: ['us'],
    severities: EITHER,
    causes: {
      none: { ...SENDERS, sentence: 'Sends are waiting, and there is no sender.' },
      busy: {
        check: 'forSender',
        holdsUp: 'forSender',
        sentence: 'More sends arrive than the senders can send.',
      },
    },
    remedy:
      'Add a sender, or raise the throughput of the existing ones if Meta allows it. Or limit the account that sends the most.',
    needsOperator: true,
  },
  senders_blocked: {
    owners: ['meta'],
    severities: EITHER,
    causes: {
      provider: { ...SENDERS, sentence: 'Meta has blocked senders.' },
      fault: { ...SENDERS, sentence: 'Senders are cooling down after errors from Meta.' },
      template: { ...SENDERS, sentence: 'Meta has blocked a template.' },
    },
    remedy:
      'The Senders page shows what Meta reports, and until when. Do what WhatsApp Manager asks for. The block ends when Meta lifts it, a cool-down ends by itself.',
  },
  sender_quality_low: {
    owners: ['us'],
    severities: ['degraded'],
    causes: {
      quality: {
        check: 'senders',
        sentence: 'Meta rates the quality of a number as low: people block or report it.',
      },
    },
    remedy:
      'Send less from the number. Look for an account that sends codes which recipients do not expect, or for traffic pumping. Meta may limit the number next.',
  },
  messages_held: {
    owners: ['meta'],
    severities: ['degraded'],
    causes: {
      held: {
        check: 'senders',
        sentence: 'Meta accepts messages and holds them, so codes arrive late or never.',
      },
    },
    remedy:
      'Open WhatsApp Manager: a new or unverified business portfolio has to be verified, or a pause lifted. If another portfolio has senders, pause the sender until then.',
  },
  paused_by_operator: {
    owners: ['held'],
    severities: EITHER,
    causes: {
      hold: { check: 'held', holdsUp: 'held', sentence: 'Sends are on hold.' },
      senders: { ...SENDERS, sentence: 'Operators have paused senders.' },
      queue: { check: 'queues', holdsUp: 'due', sentence: 'A queue is paused in Redis.' },
    },
    remedy:
      'Ask the operator who did it before you release or resume anything. Held sends, and sends without another sender, fail when their codes expire.',
  },
  provider_unhealthy: {
    owners: ['meta'],
    severities: EITHER,
    causes: {
      errors: { check: 'attempts', holdsUp: 'underWay', sentence: 'Calls to Meta fail.' },
      slow: { check: 'latency', holdsUp: 'underWay', sentence: 'Meta responds slowly.' },
    },
    remedy:
      'Check Meta’s status page, and whether our network reaches other hosts. Sends are retried, and the units of failed sends are refunded. If it lasts, hold live delivery.',
  },
  webhooks_rejected: {
    owners: ['us'],
    severities: EITHER,
    causes: { signature: { check: 'webhooks', sentence: 'Webhooks arrive with a wrong signature.' } },
    remedy:
      'Compare WHATSAPP_APP_SECRET of every API process with the app secret at Meta, which repeats rejected webhooks for seven days. If other webhooks are accepted, the rejected ones may not be Meta’s.',
  },
  receipts_missing: {
    owners: ['meta'],
    severities: EITHER,
    causes: {
      missing: { check: 'receipts', sentence: 'Meta accepts messages, but receipts do not arrive.' },
    },
    remedy:
      'Check the webhook in Meta’s app settings, Meta’s status page, and whether /webhooks/whatsapp can be reached from the internet. Codes are sent; only their status stays at sent.',
  },
  deliveries_missing: {
    owners: ['meta'],
    severities: ['degraded'],
    causes: {
      country: {
        check: 'receipts',
        sentence: 'The share of undelivered messages to a country is higher than in the week before.',
      },
      sender: {
        check: 'receipts',
        sentence: 'The share of undelivered messages from a sender is higher than in the week before.',
      },
    },
    remedy:
      'Open the Senders page and compare the column Never delivered. If one sender stands out, pause it. If it is a country, look in the accounts’ overviews for the account that pumps traffic there.',
  },
  sends_failing: {
    owners: ['meta', 'us'],
    severities: EITHER,
    causes: {
      all: { check: 'ended', sentence: 'Sends fail.' },
      reason: { check: 'ended', sentence: 'Sends fail for a reason that recipients cannot cause.' },
      country: { check: 'ended', sentence: 'Sends to a country fail.' },
      sender: { check: 'ended', sentence: 'Sends from a sender fail.' },
    },
    remedy:
      'Open a failed send: its timeline has Meta’s code. If codes expired, check workers, senders and holds. Pause a failing sender, or hold a failing country. Units are refunded.',
  },
  mail_failing: {
    owners: ['us'],
    severities: ['degraded'],
    causes: { mail: { check: 'mail', sentence: 'Emails are not sent.' } },
    remedy:
      'Check the SMTP server’s last response on the Health page, and whether SMTP_URL is valid. Codes are not affected. Each email is retried for a day.',
  },
} as const satisfies Record<string, FindingKind>;

export type FindingName = keyof typeof KINDS;
export type CauseOf<Name extends FindingName> = Name extends FindingName
  ? keyof (typeof KINDS)[Name]['causes']
  : never;

/** The kinds of finding. */
export const FINDINGS: Readonly<Record<FindingName, FindingKind>> = KINDS;

/** Every combination of finding, owner and severity. Metrics have a series for each, even while there is no such finding. */
export const KNOWN_FINDINGS: readonly { name: FindingName; owner: Owner; severity: Severity }[] = (
  Object.entries(FINDINGS) as [FindingName, FindingKind][]
).flatMap(([name, { owners, severities }]) =>
  owners.flatMap((owner) => severities.map((severity) => ({ name, owner, severity }))),
);

/** Returns the address of a finding's steps. */
export const runbookPath = (name: FindingName): string => `docs/runbooks.md#${name}`;
