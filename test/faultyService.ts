import { buildCaller, ProcessStack, until, type TestCaller } from '@onecode/testing';
import { HOST, RedisServers, type RedisServer } from './redis/redisServers.js';

/** The API reads the findings every 15 seconds. */
export const FOUND_MS_MAX = 60_000;

const BRAZIL = '+5511987';
const MEXICO = '+525512';
const numberOf = (prefix: string, nth: number): string => `${prefix}${String(nth).padStart(6, '0')}`;

/** Two APIs and a worker with one sender and a separate Redis, and functions that inject faults. */
export class FaultyService {
  #sent = 0;

  private constructor(
    private readonly servers: RedisServers,
    readonly redis: RedisServer,
    readonly stack: ProcessStack,
    readonly caller: TestCaller,
  ) {}

  static async start(name: string, env: Record<string, string> = {}): Promise<FaultyService> {
    const servers = new RedisServers();
    const redis = await servers.start(name);
    const url = `redis://:${servers.password}@${HOST}:${redis.port}`;
    const stack = await ProcessStack.start({ apis: 2, env: { REDIS_URL: url, ...env } });
    await stack.addSender();
    const caller = await buildCaller(stack.db.database, 'live', { credits: 10_000 });
    return new FaultyService(servers, redis, stack, caller);
  }

  async close(): Promise<void> {
    await this.stack.stop();
    await this.servers.close();
  }

  /** Creates this many sends, each to a different number. @returns their ids */
  send(count: number, prefix = BRAZIL): Promise<string[]> {
    return Promise.all(
      Array.from({ length: count }, async () => {
        this.#sent += 1;
        const to = numberOf(prefix, this.#sent);
        return (await this.stack.create(this.caller.key, { to })).id;
      }),
    );
  }

  /** Creates sends to Mexico that fail with a receipt. @returns their ids */
  async sendAndFailInMexico(count: number): Promise<string[]> {
    for (let nth = 1; nth <= count; nth++)
      await this.stack.simulator.addRule({
        recipient: numberOf(MEXICO, this.#sent + nth),
        fault: { lateFailure: 131026 },
      });
    return this.send(count, MEXICO);
  }

  /** Waits until each send is delivered or failed. */
  async untilFinished(ids: readonly string[]): Promise<void> {
    await until('finished sends', async () => {
      const open = await this.stack.db.sql(
        "select from sends where id = any($1::uuid[]) and status not in ('delivered', 'read', 'failed')",
        [ids],
      );
      return open.length === 0;
    });
  }

  /**
   * Posts six webhooks with a wrong signature three minutes after a message, and forgets those that were counted as accepted until
   * `isSeen`.
   */
  async rejectWebhooks(isSeen: () => Promise<boolean>): Promise<void> {
    const post = (): Promise<unknown> =>
      this.stack.request('POST', '/webhooks/whatsapp', {
        headers: { 'x-hub-signature-256': `sha256=${'0'.repeat(64)}` },
        body: { object: 'whatsapp_business_account', entry: [] },
      });
    await Promise.all(Array.from({ length: 6 }, post));
    await this.stack.db.sql(
      `insert into traffic_counts (began_at, event, country, sender_id, reason, count)
       values (now() - interval '3 minutes', 'accepted', 'BR', '', '', 1)`,
    );
    await until(
      'rejected webhooks alone',
      async () => {
        await this.stack.db.sql("delete from traffic_counts where event = 'webhook' and reason = 'accepted'");
        return isSeen();
      },
      FOUND_MS_MAX,
    );
  }
}
