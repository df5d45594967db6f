import type { HealthFigures } from './statistics.js';

/** Whose matter something is. `held`: somebody stopped it on purpose. */
type Whose = 'nobody' | 'us' | 'redis' | 'postgresql' | 'meta' | 'held';
export type Severity = 'good' | 'odd' | 'bad';

/** The figures of the page, each of which is good as long as nothing is found on it. */
export type FigureName =
  | 'postgresql'
  | 'redis'
  | 'loops'
  | 'queues'
  | 'due'
  | 'forSender'
  | 'held'
  | 'senders'
  | 'attempts'
  | 'latency'
  | 'receipts'
  | 'receiptsDue';

/** Something that the figures show. */
export interface Finding {
  whose: Exclude<Whose, 'nobody'>;
  severity: Exclude<Severity, 'good'>;
  /** Which sentence, and which advice, the page has for it. */
  what: What;
  figure: FigureName;
}

/** What can be found, each with its sentences in the pages' texts. */
type What =
  | 'postgresql_away'
  | 'postgresql_slow'
  | 'postgresql_full'
  | 'redis_away'
  | 'redis_slow'
  | 'no_worker'
  | 'sweeper_stopped'
  | 'queue_paused'
  | 'configuration_fault'
  | 'provider_failing'
  | 'provider_slow'
  | 'senders_paused'
  | 'senders_resting'
  | 'no_senders'
  | 'senders_busy'
  | 'receipts_missing'
  | 'receipts_late'
  | 'sends_late'
  | 'sends_held';

/** The answer to "is it us, Redis, PostgreSQL or Meta?" */
export interface Verdict {
  whose: Whose;
  severity: Severity;
  what: What | 'all_well';
}

/** Milliseconds to an answer: PostgreSQL and Redis take one or two. */
const ANSWER_MS = { odd: 200, bad: 1_000 };
/** Shares of the connections that PostgreSQL has. */
const CONNECTIONS = { odd: 0.8, bad: 0.95 };
/** A worker sweeps about every second. */
const SWEEP_SECONDS = { odd: 10, bad: 20 };
/** A send that is due is enqueued within a second, and again after three. */
const DUE_SECONDS = { odd: 5, bad: 15 };
/** The provider answers in less than a second; after ten we hang up. */
const LATENCY_SECONDS = { odd: 3, bad: 8 };
/** Shares of the calls that the provider fails, and how many it takes to say so. */
const FAILING = { odd: 0.1, bad: 0.5, callsMin: 5 };
const RECEIPT_SECONDS = { odd: 15, bad: 60 };
/** So many accepted messages without a single receipt. */
const ACCEPTED_WITHOUT_RECEIPT = 20;
/** How long a send may wait for a sender that is able. */
const BUSY_SECONDS = { odd: 10, bad: 60 };

type Found = Finding | null;

/** Everything that the figures show: the worst first, and of those alike the one that may explain the others. */
export function findingsOf(figures: HealthFigures): Finding[] {
  const found = LOOKS.map((look) => look(figures));
  const rank = ({ severity }: Finding): number => (severity === 'bad' ? 0 : 1);
  return found.filter((finding) => finding !== null).toSorted((a, b) => rank(a) - rank(b));
}

/** Whose matter it is, in one word, how bad, and what. */
export function diagnose(figures: HealthFigures): Verdict {
  const [worst] = findingsOf(figures);
  if (worst === undefined) return { whose: 'nobody', severity: 'good', what: 'all_well' };
  const { whose, severity, what } = worst;
  return { whose, severity, what };
}

/** How bad a value is that should be low. */
function above(value: number, { odd, bad }: { odd: number; bad: number }): Finding['severity'] | null {
  if (value >= bad) return 'bad';
  return value >= odd ? 'odd' : null;
}

const finding = (
  severity: Finding['severity'] | null,
  whose: Finding['whose'],
  what: What,
  figure: FigureName,
): Found => severity && { whose, severity, what, figure };

function postgresql({ postgresqlMs }: HealthFigures): Found {
  if (postgresqlMs === null) return finding('bad', 'postgresql', 'postgresql_away', 'postgresql');
  return finding(above(postgresqlMs, ANSWER_MS), 'postgresql', 'postgresql_slow', 'postgresql');
}

/** A figure of the database that did not come in time, while the database answers, is a slow one too. */
function connections(figures: HealthFigures): Found {
  const { postgresqlMs, connections: counted, waiting, attempts, provider, receipts } = figures;
  if (postgresqlMs === null || postgresqlMs >= ANSWER_MS.odd) return null;
  if (counted !== null) {
    const share = above(counted.used / counted.most, CONNECTIONS);
    if (share !== null) return finding(share, 'postgresql', 'postgresql_full', 'postgresql');
  }
  const isLate = [counted, waiting, attempts, provider, receipts].includes(null);
  return finding(isLate ? 'odd' : null, 'postgresql', 'postgresql_slow', 'postgresql');
}

function redis({ redisMs, queues }: HealthFigures): Found {
  if (redisMs === null || queues === null) return finding('bad', 'redis', 'redis_away', 'redis');
  return finding(above(redisMs, ANSWER_MS), 'redis', 'redis_slow', 'redis');
}

function sweeper({ loops }: HealthFigures): Found {
  if (loops === null) return null;
  const ages = loops.filter(({ loop }) => loop === 'sweep').map(({ secondsAgo }) => secondsAgo);
  if (ages.length === 0) return finding('bad', 'us', 'no_worker', 'loops');
  return finding(above(Math.min(...ages), SWEEP_SECONDS), 'us', 'sweeper_stopped', 'loops');
}

function queue({ queues }: HealthFigures): Found {
  const isPaused = queues?.some((one) => one.isPaused) ?? false;
  return finding(isPaused ? 'bad' : null, 'us', 'queue_paused', 'queues');
}

/** The provider refuses our account, token or template: it is ours to mend, at the provider's. */
function configuration({ provider }: HealthFigures): Found {
  return finding((provider?.config ?? 0) > 0 ? 'bad' : null, 'us', 'configuration_fault', 'attempts');
}

function senders({ senders: all, waiting }: HealthFigures): Found {
  if (all === null) return null;
  if (all.length === 0)
    return finding((waiting?.forSender.count ?? 0) > 0 ? 'bad' : null, 'us', 'no_senders', 'senders');
  const stopped = all.filter(({ state }) => state !== 'active');
  const severity = stopped.length === all.length ? 'bad' : stopped.length > 0 ? 'odd' : null;
  return stopped.some(({ state }) => state === 'resting')
    ? finding(severity, 'meta', 'senders_resting', 'senders')
    : finding(severity, 'held', 'senders_paused', 'senders');
}

function provider({ provider: answers }: HealthFigures): Found {
  if (answers === null || answers.calls < FAILING.callsMin) return null;
  return finding(above(answers.failing / answers.calls, FAILING), 'meta', 'provider_failing', 'attempts');
}

function latency({ provider: answers }: HealthFigures): Found {
  return finding(above(answers?.secondsP95 ?? 0, LATENCY_SECONDS), 'meta', 'provider_slow', 'latency');
}

function receiptsMissing({ provider: answers, receipts }: HealthFigures): Found {
  const areMissing = (answers?.accepted ?? 0) >= ACCEPTED_WITHOUT_RECEIPT && receipts?.lastTenMinutes === 0;
  return finding(areMissing ? 'bad' : null, 'meta', 'receipts_missing', 'receipts');
}

function receiptsLate({ receipts }: HealthFigures): Found {
  return finding(
    above(receipts?.oldestDueSeconds ?? 0, RECEIPT_SECONDS),
    'us',
    'receipts_late',
    'receiptsDue',
  );
}

function due({ waiting }: HealthFigures): Found {
  return finding(above(waiting?.due.oldestSeconds ?? 0, DUE_SECONDS), 'us', 'sends_late', 'due');
}

/** Senders that are able have too little throughput for what comes. */
function busy({ waiting, senders: all }: HealthFigures): Found {
  const isAnyAble = all?.some(({ state }) => state === 'active') ?? false;
  const seconds = isAnyAble ? (waiting?.forSender.oldestSeconds ?? 0) : 0;
  return finding(above(seconds, BUSY_SECONDS), 'us', 'senders_busy', 'forSender');
}

function held({ waiting }: HealthFigures): Found {
  return finding((waiting?.held.count ?? 0) > 0 ? 'odd' : null, 'held', 'sends_held', 'held');
}

/** Causes before what comes of them. */
const LOOKS: readonly ((figures: HealthFigures) => Found)[] = [
  postgresql,
  connections,
  redis,
  sweeper,
  queue,
  configuration,
  senders,
  provider,
  latency,
  receiptsMissing,
  receiptsLate,
  due,
  busy,
  held,
];
