import {
  maskRecipient,
  senderState,
  standingStop,
  stands,
  templateLanguages,
  type Locale,
  type RecentTraffic,
  type RedisHealth,
  type SenderState,
  type Stop,
  type StoppedTemplate,
} from '@onecode/domain';
import { pingDatabase, type Database } from '../client/database.js';
import { listSenderKnowledge } from '../senders/readings.js';
import { listSenders, type Sender } from '../senders/senders.js';
import {
  readConnectionStatistics,
  readProviderAnswers,
  readReceiptStatistics,
  readWaitingSends,
  type ProviderAnswers,
  type ReceiptStatistics,
  type WaitingSends,
} from './health.js';
import { listHeartbeats, type Heartbeat } from './heartbeats.js';
import { countWorkers } from './processes.js';
import { readTraffic, type TrafficTotal } from './traffic.js';

/** A sender's state. */
export interface SenderStatistics {
  id: string;
  /** Masked: the calling code and the last digits. */
  number: string;
  state: SenderState;
  /** RFC 3339, or null. */
  stoppedUntil: string | null;
  stopReason: string | null;
  /** Whether it may not send in a language, or to a country. */
  isRestricted: boolean;
  /** Whether the provider's own word stopped it. */
  isStoppedByProvider: boolean;
}

/** What PostgreSQL tells of the whole service. Null means that it did not answer in time. */
export interface StoreHealth {
  connections: { used: number; most: number } | null;
  waiting: WaitingSends | null;
  provider: ProviderAnswers | null;
  receipts: ReceiptStatistics | null;
  traffic: (RecentTraffic & { totals: readonly TrafficTotal[] }) | null;
  loops: Heartbeat[] | null;
  workers: number | null;
  senders: SenderStatistics[] | null;
  stoppedTemplates: StoppedTemplate[] | null;
}

/** One reading of the whole service: `healthFindings` judges it. */
export interface ServiceHealth extends StoreHealth, RedisHealth {
  /** Milliseconds to an answer. */
  postgresqlMs: number | null;
}

/** How long a source may take to answer. */
const SOURCE_MS_MAX = 2_000;
/** The same with all that PostgreSQL is asked for, whose sources have that time each. */
const STORE_MS_MAX = 3_000;
/** How long an answer is shared with later readers of the same process. */
const SHARED_MS = 1_000;
const PROVIDER_MINUTES = 5;

/** Returns a function that reads the whole service, all sources concurrently. Who reads at the same time shares the answers. */
export function createHealthReader(
  database: Database,
  readRedis: () => Promise<RedisHealth>,
): () => Promise<ServiceHealth> {
  const readStore = createStoreReader(database);
  return combined(database, readRedis, readStore);
}

/**
 * `createHealthReader` for many processes: what PostgreSQL tells is read by one of them every few seconds, and the others take it from
 * there, so that each costs PostgreSQL one look at one row.
 */
export function createSharedHealthReader(
  database: Database,
  readRedis: () => Promise<RedisHealth>,
): () => Promise<ServiceHealth> {
  const readStore = createStoreReader(database);
  const readShared = source(
    async () => (await findFresh(database)) ?? keep(database, await readStore()),
    STORE_MS_MAX,
  );
  return combined(database, readRedis, async () => (await readShared()) ?? NOTHING_KNOWN);
}

function combined(
  database: Database,
  readRedis: () => Promise<RedisHealth>,
  readStore: () => Promise<StoreHealth>,
): () => Promise<ServiceHealth> {
  const ping = source(async () => {
    const startedAt = performance.now();
    await pingDatabase(database);
    return performance.now() - startedAt;
  });
  const ask = source(readRedis);
  return async () => {
    const [postgresqlMs, redis, store] = await Promise.all([ping(), ask(), readStore()]);
    return { postgresqlMs, ...(redis ?? { redisMs: null, redisRefusal: null, queues: null }), ...store };
  };
}

const NOTHING_KNOWN: StoreHealth = {
  connections: null,
  waiting: null,
  provider: null,
  receipts: null,
  traffic: null,
  loops: null,
  workers: null,
  senders: null,
  stoppedTemplates: null,
};

function createStoreReader(database: Database): () => Promise<StoreHealth> {
  const sources: { [Name in keyof StoreHealth]: () => Promise<StoreHealth[Name]> } = {
    connections: source(() => readConnectionStatistics(database)),
    waiting: source(() => readWaitingSends(database)),
    provider: source(() => readProviderAnswers(database, PROVIDER_MINUTES)),
    receipts: source(() => readReceiptStatistics(database)),
    traffic: source(() => readTraffic(database)),
    loops: source(() => listHeartbeats(database)),
    workers: source(() => countWorkers(database)),
    senders: source(() => readSenders(database)),
    stoppedTemplates: source(() => readStoppedTemplates(database)),
  };
  return async () => {
    const read = Object.entries(sources).map(async ([name, ask]) => [name, await ask()]);
    return Object.fromEntries(await Promise.all(read)) as StoreHealth;
  };
}

/** The reading of another process, if it is young and whole. */
async function findFresh(database: Database): Promise<StoreHealth | null> {
  const rows = await database.sql.query<{ reading: StoreHealth }[]>`
    select reading from health_readings where id and read_at > clock_timestamp() - interval '3 seconds'`;
  return rows[0]?.reading ?? null;
}

/** Keeps a reading for the others, unless something in it is missing. */
async function keep(database: Database, reading: StoreHealth): Promise<StoreHealth> {
  if (Object.values(reading).every((value) => value !== null))
    await database.sql.execute`
      insert into health_readings (read_at, reading) values (clock_timestamp(), ${JSON.stringify(reading)}::jsonb)
      on conflict (id) do update set read_at = excluded.read_at, reading = excluded.reading`;
  return reading;
}

/**
 * Returns a function that asks one source, or answers null when that takes too long. While an answer is outstanding, the source is not
 * asked again: a reading must not take the last connections of a slow database.
 */
export function source<T>(read: () => Promise<T>, msMax = SOURCE_MS_MAX): () => Promise<T | null> {
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
    return inTime(last.value, msMax);
  };
}

async function readSenders(database: Database): Promise<SenderStatistics[]> {
  const now = new Date();
  return (await listSenders(database)).map(({ id, number, stops }) => {
    const stop = standingStop(stops, now);
    return {
      id,
      number: maskRecipient(number),
      state: senderState(stops, now),
      stoppedUntil: stop?.until?.toISOString() ?? null,
      stopReason: stop?.reason ?? null,
      isRestricted: stops.some((one) => one.onlyFor !== '' && stands(one, now)),
      isStoppedByProvider: stop?.cause === 'provider',
    };
  });
}

/** The templates that stopped senders for their languages, each once, with the senders that serve the language all the same. */
async function readStoppedTemplates(database: Database): Promise<StoppedTemplate[]> {
  const [senders, knowledge] = await Promise.all([listSenders(database), listSenderKnowledge(database)]);
  const now = new Date();
  const stopOf = ({ stops }: Sender, locale: Locale): Stop | undefined =>
    stops.find((stop) => stop.onlyFor === locale && stands(stop, now));
  const serving = (locale: Locale): number =>
    senders.filter(
      (sender) => senderState(sender.stops, now) === 'active' && stopOf(sender, locale) === undefined,
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
            serving: serving(locale as Locale),
          },
        ];
      },
    ),
  );
  return [...new Map(templates.map((one) => [`${one.template} ${one.language}`, one])).values()];
}

/** Returns the answer, or null when it takes too long. */
async function inTime<T>(answer: Promise<T>, msMax: number): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), msMax);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}
