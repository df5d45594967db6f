import {
  isToldByProvider,
  maskRecipient,
  senderState,
  templateLanguages,
  type Locale,
  type SenderState,
  type StoppedTemplate,
} from '@onecode/domain';
import { QUEUE_NAMES, type QueueName, type Queues } from '@onecode/runtime';
import {
  listHeartbeats,
  listLanguageStops,
  listSenderKnowledge,
  listSenders,
  pingDatabase,
  readAttemptMinutes,
  readConnectionStatistics,
  readProviderAnswers,
  readReceiptStatistics,
  readWaitingSends,
  type AttemptMinute,
  type Database,
  type Heartbeat,
  type ProviderAnswers,
  type ReceiptStatistics,
  type WaitingSends,
} from '@onecode/store';

/** The jobs of a queue, by state. */
export interface QueueStatistics {
  name: QueueName;
  isPaused: boolean;
  waiting: number;
  active: number;
  delayed: number;
  /** Kept for a week. */
  failed: number;
}

/** A sender's state. */
export interface SenderStatistics {
  id: string;
  /** Masked: the calling code and the last digits. */
  number: string;
  state: SenderState;
  pausedUntil: Date | null;
  pauseReason: string | null;
  consecutiveFailures: number;
  /** Whether Meta's own word stopped it. */
  isStoppedByProvider: boolean;
}

/** The statistics of the health page. Null means that a source did not answer in time. */
export interface ConsoleHealthStatistics {
  /** Milliseconds to an answer. */
  postgresqlMs: number | null;
  redisMs: number | null;
  connections: { used: number; most: number } | null;
  queues: QueueStatistics[] | null;
  waiting: WaitingSends | null;
  attempts: AttemptMinute[] | null;
  provider: ProviderAnswers | null;
  receipts: ReceiptStatistics | null;
  loops: Heartbeat[] | null;
  senders: SenderStatistics[] | null;
  stoppedTemplates: StoppedTemplate[] | null;
}

/** How long a source may take to answer. */
const SOURCE_MS_MAX = 2_000;
/** How long an answer is shared with later readers. */
const SHARED_MS = 1_000;
const CHART_MINUTES = 30;
const PROVIDER_MINUTES = 5;

/** Returns a function that reads all statistics concurrently. People who watch the page at the same time share the answers. */
export function createHealthReader({
  database,
  queues,
}: {
  database: Database;
  queues: Queues;
}): () => Promise<ConsoleHealthStatistics> {
  const sources: { [Name in keyof ConsoleHealthStatistics]: () => Promise<ConsoleHealthStatistics[Name]> } = {
    postgresqlMs: source(() => millisecondsOf(() => pingDatabase(database))),
    redisMs: source(() => millisecondsOf(() => queues.ping())),
    connections: source(() => readConnectionStatistics(database)),
    queues: source(() => readQueues(queues)),
    waiting: source(() => readWaitingSends(database)),
    attempts: source(() => readAttemptMinutes(database, CHART_MINUTES)),
    provider: source(() => readProviderAnswers(database, PROVIDER_MINUTES)),
    receipts: source(() => readReceiptStatistics(database)),
    loops: source(() => listHeartbeats(database)),
    senders: source(() => readSenders(database)),
    stoppedTemplates: source(() => readStoppedTemplates(database)),
  };
  return async () => {
    const read = Object.entries(sources).map(async ([name, ask]) => [name, await ask()]);
    return Object.fromEntries(await Promise.all(read)) as ConsoleHealthStatistics;
  };
}

/**
 * Returns a function that reads one source, or null when it does not answer in time. While an answer is outstanding, the source is not
 * read again: the health page must not take the last connections of a slow database.
 */
function source<T>(read: () => Promise<T>): () => Promise<T | null> {
  let last: { value: Promise<T | null>; isFresh: () => boolean } | undefined;
  const ask = (): NonNullable<typeof last> => {
    let endedAt = Infinity;
    const value = read()
      .catch(() => null)
      .finally(() => {
        endedAt = performance.now();
      });
    return { value, isFresh: () => performance.now() - endedAt <= SHARED_MS };
  };
  return () => {
    if (last?.isFresh() !== true) last = ask();
    return inTime(last.value);
  };
}

async function millisecondsOf(ask: () => Promise<void>): Promise<number> {
  const startedAt = performance.now();
  await ask();
  return performance.now() - startedAt;
}

async function readQueues(queues: Queues): Promise<QueueStatistics[]> {
  if (!queues.isReady()) throw new Error('Redis is not connected');
  return Promise.all(
    QUEUE_NAMES.map(async (name) => {
      const queue = queues.of(name);
      const [isPaused, counts] = await Promise.all([
        queue.isPaused(),
        queue.getJobCounts('waiting', 'prioritized', 'active', 'delayed', 'failed'),
      ]);
      const count = (state: string): number => counts[state] ?? 0;
      return {
        name,
        isPaused,
        waiting: count('waiting') + count('prioritized'),
        active: count('active'),
        delayed: count('delayed'),
        failed: count('failed'),
      };
    }),
  );
}

async function readSenders(database: Database): Promise<SenderStatistics[]> {
  const now = new Date();
  return (await listSenders(database)).map((sender) => {
    const state = senderState(sender, now);
    const isStopped = state !== 'active';
    return {
      id: sender.id,
      number: maskRecipient(sender.number),
      state,
      pausedUntil: isStopped ? sender.pausedUntil : null,
      pauseReason: isStopped ? sender.pauseReason : null,
      consecutiveFailures: sender.consecutiveFailures,
      isStoppedByProvider: isStopped && isToldByProvider(sender.pauseSource),
    };
  });
}

/** The templates that stopped senders for their languages, each once, with the senders that serve the language all the same. */
async function readStoppedTemplates(database: Database): Promise<StoppedTemplate[]> {
  const stops = await listLanguageStops(database);
  if (stops.length === 0) return [];
  const [senders, knowledge] = await Promise.all([listSenders(database), listSenderKnowledge(database)]);
  const now = new Date();
  const serving = (locale: Locale): number =>
    senders.filter(
      (sender) =>
        senderState(sender, now) === 'active' &&
        !stops.some((stop) => stop.senderId === sender.id && stop.locale === locale),
    ).length;
  const templates = stops.flatMap(({ senderId, locale, source, stoppedAt }): StoppedTemplate[] => {
    const sender = senders.find(({ id }) => id === senderId);
    if (sender === undefined) return [];
    const language = templateLanguages(sender.englishTemplateLanguage)[locale];
    const facts = knowledge
      .find((known) => known.senderId === senderId)
      ?.templates.find((template) => template.language === language)?.facts;
    const isTold = isToldByProvider(source);
    const status =
      isTold && facts?.status !== undefined && facts.status.value !== 'APPROVED' ? facts.status : undefined;
    return [
      {
        template: sender.template,
        language,
        status: status?.value ?? (isTold ? 'RECATEGORIZED' : 'REFUSED'),
        at: status?.at ?? stoppedAt.toISOString(),
        serving: serving(locale),
      },
    ];
  });
  return [...new Map(templates.map((one) => [`${one.template} ${one.language}`, one])).values()];
}

/** Returns the answer, or null when it takes too long. */
async function inTime<T>(answer: Promise<T>): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), SOURCE_MS_MAX);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}
