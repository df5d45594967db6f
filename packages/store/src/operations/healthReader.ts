import {
  isNew,
  hasLowQuality,
  maskRecipient,
  NO_HELD_MESSAGES,
  senderState,
  activeBlock,
  isBlocking,
  templateLanguages,
  type Block,
  type BlockedTemplate,
  type DeliveryCount,
  type OwnBacklog,
  type RecentTraffic,
  type RedisHealth,
  type SenderBlock,
  type SenderKnowledge,
  type SenderStatistics,
} from '@onecode/domain';
import { pingDatabase, type Database } from '../client/database.js';
import { readMailStatistics, type MailStatistics } from '../mails/outbox.js';
import { readDeliveries } from '../reports/deliveryHours.js';
import { countHeldMessages } from '../reports/heldMessages.js';
import { listSenderKnowledge } from '../senders/providerFacts.js';
import { listSenders, type ListedSender } from '../senders/senders.js';
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
import { countWorkers, listHeartbeats, type Heartbeat } from './processes.js';
import { readTraffic, type TrafficTotal } from './traffic.js';

/** PostgreSQL's facts about the whole service. Null means that the statement did not finish in time. */
interface StoreHealth {
  connections: { used: number; most: number } | null;
  waiting: WaitingSends | null;
  ownWaiting: OwnBacklog[] | null;
  provider: ProviderAnswers | null;
  receipts: ReceiptStatistics | null;
  retention: { seconds: number | null } | null;
  traffic: (RecentTraffic & { totals: readonly TrafficTotal[] }) | null;
  deliveries: DeliveryCount[] | null;
  loops: Heartbeat[] | null;
  workers: number | null;
  senders: SenderStatistics[] | null;
  mails: MailStatistics | null;
}

/** One reading of the whole service, for `healthFindings`. */
export interface ServiceHealth extends StoreHealth, RedisHealth {
  postgresqlMs: number | null;
}

/** How long a source may take to respond. */
const SOURCE_MS_MAX = 2_000;
/** How long later readers in the same process get the same reading. */
const SHARED_MS = 1_000;
const PROVIDER_MINUTES = 5;

/** Returns a function that reads the whole service, all sources concurrently. Concurrent calls share a reading. */
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
    return { postgresqlMs, ...(redis ?? { redisMs: null, queues: null }), ...store };
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
    deliveries: source(() => readDeliveries(database)),
    loops: source(() => listHeartbeats(database)),
    workers: source(() => countWorkers(database)),
    senders: source(() => readSenders(database)),
    mails: source(() => readMailStatistics(database)),
  };
  return async () => {
    const read = Object.entries(sources).map(async ([name, ask]) => [name, await ask()]);
    return Object.fromEntries(await Promise.all(read)) as StoreHealth;
  };
}

/** Returns a function that reads one source, or returns null when that takes too long. It never runs two reads at a time. */
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

/** Returns the senders that were activated. */
async function readSenders(database: Database): Promise<SenderStatistics[]> {
  const [senders, knowledge, held] = await Promise.all([
    listSenders(database),
    listSenderKnowledge(database),
    countHeldMessages(database),
  ]);
  const now = new Date();
  return senders
    .filter(({ blocks }) => !isNew(blocks))
    .map((sender) => {
      const { id, accountId, accountName, number, blocks } = sender;
      const known = knowledge.find(({ senderId }) => senderId === id);
      return {
        id,
        account: accountId === null ? null : { id: accountId, name: accountName ?? '' },
        number: maskRecipient(number),
        state: senderState(blocks, now),
        blocks: currentBlocks(blocks, now).map((block) => blockStatistics(block, sender, known)),
        hasLowQuality: hasLowQuality(known?.number ?? {}),
        heldMessages: held.find(({ senderId }) => senderId === id) ?? NO_HELD_MESSAGES,
      };
    });
}

/**
 * Returns the blocks that keep a sender from sending, a complete block first. A fault of its business account or portfolio, which also
 * blocks the sender, is listed once.
 */
function currentBlocks(blocks: readonly Block[], now: Date): Block[] {
  const main = activeBlock(blocks, now);
  const current = blocks.filter(
    (block) => block.cause !== 'limit' && (isBlocking(block, now) || block.isConfiguration),
  );
  const byName = new Map<string, Block>();
  for (const block of main === null ? current : [main, ...current]) {
    const name = `${block.cause} ${block.onlyFor} ${block.reason}`;
    if (!byName.has(name)) byName.set(name, block);
  }
  return [...byName.values()];
}

function blockStatistics(
  { cause, onlyFor, errorCode, reason, isConfiguration, since, until }: Block,
  sender: ListedSender,
  known: SenderKnowledge | undefined,
): SenderBlock {
  return {
    cause,
    onlyFor,
    errorCode,
    reason,
    isConfiguration,
    since: since.toISOString(),
    until: until?.toISOString() ?? null,
    template: cause === 'provider' ? blockedTemplate(onlyFor, since, sender, known) : null,
  };
}

/** Returns the template that a provider's block is about; null if it is not about one language. */
function blockedTemplate(
  onlyFor: string,
  since: Date,
  { template, englishTemplateLanguage }: ListedSender,
  known: SenderKnowledge | undefined,
): BlockedTemplate | null {
  const languages: Readonly<Record<string, string>> = templateLanguages(englishTemplateLanguage);
  const language = languages[onlyFor];
  if (language === undefined) return null;
  const status = known?.templates.find((one) => one.language === language)?.facts.status;
  // A template in another category cannot be used either, whatever its status.
  return status === undefined || status.value === 'APPROVED'
    ? { template, language, status: 'RECATEGORIZED', at: since.toISOString() }
    : { template, language, status: status.value, at: status.since };
}

/** Returns the value, or null when it takes too long. */
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
