import {
  isNew,
  isOfLowQuality,
  maskRecipient,
  senderState,
  standingStop,
  stands,
  templateLanguages,
  type Locale,
  type OwnBacklog,
  type RecentTraffic,
  type RedisHealth,
  type SenderAccount,
  type SenderState,
  type SenderStop,
  type Stop,
  type StoppedTemplate,
} from '@onecode/domain';
import { pingDatabase, type Database } from '../client/database.js';
import { readMailStatistics, type MailStatistics } from '../mails/outbox.js';
import { listSenderKnowledge } from '../senders/readings.js';
import { listSenders, type ListedSender, type Sender } from '../senders/senders.js';
import {
  readConnectionStatistics,
  readProviderAnswers,
  readReceiptStatistics,
  readWaitingSends,
  type ProviderAnswers,
  type ReceiptStatistics,
  type WaitingSends,
} from './health.js';
import { readRetention } from '../sends/retention.js';
import { listHeartbeats, type Heartbeat } from './heartbeats.js';
import { countWorkers } from './processes.js';
import { readTraffic, type TrafficTotal } from './traffic.js';

export interface SenderStatistics {
  id: string;
  account: SenderAccount | null;
  /** Masked: the calling code and the last digits. */
  number: string;
  state: SenderState;
  /** What stops it wholly is first. */
  stops: SenderStop[];
  isFlagged: boolean;
}

/** What PostgreSQL tells of the whole service. Null means that it did not answer in time. */
export interface StoreHealth {
  connections: { used: number; most: number } | null;
  waiting: WaitingSends | null;
  ownWaiting: OwnBacklog[] | null;
  provider: ProviderAnswers | null;
  receipts: ReceiptStatistics | null;
  retention: { seconds: number | null } | null;
  traffic: (RecentTraffic & { totals: readonly TrafficTotal[] }) | null;
  loops: Heartbeat[] | null;
  workers: number | null;
  senders: SenderStatistics[] | null;
  stoppedTemplates: StoppedTemplate[] | null;
  mails: MailStatistics | null;
}

/** One reading of the whole service: `healthFindings` judges it. */
export interface ServiceHealth extends StoreHealth, RedisHealth {
  postgresqlMs: number | null;
}

/** How long a source may take to answer. */
const SOURCE_MS_MAX = 2_000;
/** How long an answer is shared with later readers of the same process. */
const SHARED_MS = 1_000;
const PROVIDER_MINUTES = 5;

/** Returns a function that reads the whole service, all sources concurrently. Who reads at the same time shares the answers. */
export function createHealthReader(
  database: Database,
  readRedis: () => Promise<RedisHealth>,
): () => Promise<ServiceHealth> {
  const ping = source(async () => {
    const startedAt = performance.now();
    await pingDatabase(database);
    return performance.now() - startedAt;
  });
  const ask = source(readRedis);
  const readStore = createStoreReader(database);
  return async () => {
    const [postgresqlMs, redis, store] = await Promise.all([ping(), ask(), readStore()]);
    return { postgresqlMs, ...(redis ?? { redisMs: null, redisRefusal: null, queues: null }), ...store };
  };
}

function createStoreReader(database: Database): () => Promise<StoreHealth> {
  const readWaiting = source(() => readWaitingSends(database));
  const sources: { [Name in keyof StoreHealth]: () => Promise<StoreHealth[Name]> } = {
    connections: source(() => readConnectionStatistics(database)),
    waiting: async () => (await readWaiting())?.waiting ?? null,
    ownWaiting: async () => (await readWaiting())?.own ?? null,
    provider: source(() => readProviderAnswers(database, PROVIDER_MINUTES)),
    receipts: source(() => readReceiptStatistics(database)),
    retention: source(() => readRetention(database)),
    traffic: source(() => readTraffic(database)),
    loops: source(() => listHeartbeats(database)),
    workers: source(() => countWorkers(database)),
    senders: source(() => readSenders(database)),
    stoppedTemplates: source(() => readStoppedTemplates(database)),
    mails: source(() => readMailStatistics(database)),
  };
  return async () => {
    const read = Object.entries(sources).map(async ([name, ask]) => [name, await ask()]);
    return Object.fromEntries(await Promise.all(read)) as StoreHealth;
  };
}

/** Returns a function that asks one source, or answers null when that takes too long. It never asks twice at a time. */
export function source<T>(read: () => Promise<T>): () => Promise<T | null> {
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

async function readSenders(database: Database): Promise<SenderStatistics[]> {
  const [senders, knowledge] = await Promise.all([listSenders(database), listSenderKnowledge(database)]);
  const now = new Date();
  // One that was never activated is not missed.
  return senders
    .filter(({ stops }) => !isNew(stops))
    .map(({ id, number, stops, ...sender }) => ({
      id,
      account: accountOf(sender),
      number: maskRecipient(number),
      state: senderState(stops, now),
      stops: senderStops(stops, now),
      isFlagged: isOfLowQuality(knowledge.find(({ senderId }) => senderId === id)?.number ?? {}),
    }));
}

const accountOf = ({
  accountId: id,
  accountName,
}: Pick<ListedSender, 'accountId' | 'accountName'>): SenderAccount | null =>
  id === null ? null : { id, name: accountName ?? '' };

/** What keeps a sender from sending. A fault of its business account, which stops the sender too, is there once. */
function senderStops(stops: readonly Stop[], now: Date): SenderStop[] {
  const main = standingStop(stops, now);
  const standing = stops.filter(
    (stop) => stop.cause !== 'limit' && (stands(stop, now) || stop.isConfiguration),
  );
  const known = new Map<string, SenderStop>();
  for (const { cause, onlyFor, errorCode, reason, isConfiguration, since, until } of [
    ...(main === null ? [] : [main]),
    ...standing,
  ]) {
    const name = `${cause} ${onlyFor} ${reason}`;
    if (known.has(name)) continue;
    known.set(name, {
      cause,
      onlyFor,
      errorCode,
      reason,
      isConfiguration,
      since: since.toISOString(),
      until: until?.toISOString() ?? null,
    });
  }
  return [...known.values()];
}

/** The templates that stopped senders for their languages, each once, with the senders that serve the language all the same. */
async function readStoppedTemplates(database: Database): Promise<StoppedTemplate[]> {
  const [senders, knowledge] = await Promise.all([listSenders(database), listSenderKnowledge(database)]);
  const now = new Date();
  const stopOf = ({ stops }: Sender, locale: Locale): Stop | undefined => {
    const standing = stops.filter((stop) => stop.onlyFor === locale && stands(stop, now));
    // The provider's word before what calls met of it.
    return standing.find(({ cause }) => cause === 'provider') ?? standing[0];
  };
  const serving = (locale: Locale, owner: string | null): number =>
    senders.filter(
      (sender) =>
        sender.accountId === owner &&
        senderState(sender.stops, now) === 'active' &&
        stopOf(sender, locale) === undefined,
    ).length;
  const templates = senders.flatMap((sender) =>
    Object.entries(templateLanguages(sender.englishTemplateLanguage)).flatMap(
      ([locale, language]): StoppedTemplate[] => {
        const stop = stopOf(sender, locale as Locale);
        if (stop === undefined) return [];
        const facts = knowledge
          .find(({ senderId }) => senderId === sender.id)
          ?.templates.find((template) => template.language === language)?.facts;
        const isTold = stop.cause === 'provider';
        const status =
          isTold && facts?.status !== undefined && facts.status.value !== 'APPROVED'
            ? facts.status
            : undefined;
        return [
          {
            template: sender.template,
            language,
            status: status?.value ?? (isTold ? 'RECATEGORIZED' : 'REFUSED'),
            at: status?.at ?? stop.since.toISOString(),
            account: accountOf(sender),
            serving: serving(locale as Locale, sender.accountId),
          },
        ];
      },
    ),
  );
  const keyOf = ({ template, language, account }: StoppedTemplate): string =>
    `${template} ${language} ${account?.id ?? ''}`;
  return [...new Map(templates.map((one) => [keyOf(one), one])).values()];
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
