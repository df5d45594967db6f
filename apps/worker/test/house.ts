import { randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Redis } from 'ioredis';
import type { Mode } from '@onecode/domain';
import { openDeliveryQueue, type DeliveryQueue } from '@onecode/runtime';
import { startSimulator, type Simulator } from '@onecode/simulator';
import { storeReceipts, type NewAccount } from '@onecode/store';
import {
  buildCaller,
  buildSend,
  createTestDatabase,
  type SendWishes,
  type TestCaller,
  type TestDatabase,
} from '@onecode/store/testing';
import { parseReceipts, signatureMatches } from '@onecode/whatsapp';
import { startProviderTap, type ProviderTap, type TappedRequest } from '../../../test/harness/providerTap.js';
import { deleteKeys, testRedisUrl } from '../../../test/harness/redisContents.js';
import { until } from '../../../test/harness/until.js';

const APP_SECRET = 'test-app-secret';

export interface AttemptRow {
  id: string;
  sender_id: string | null;
  outcome: string | null;
  error_code: number | null;
  message_id: string | null;
  started_at: Date;
  finished_at: Date | null;
}

export interface SenderRecord {
  consecutive_failures: number;
  paused_at: Date | null;
  paused_until: Date | null;
  pause_reason: string | null;
  pause_seconds: number | null;
}

export interface SendRecord {
  id: string;
  status: string;
  channel: string | null;
  from_number: string | null;
  sender_id: string | null;
  sealed_code: Buffer | null;
  attempts: number;
  attempt_id: string | null;
  receipt_until: Date | null;
  awaiting_sender: boolean;
  due_at: Date | null;
  next_enqueue_at: Date | null;
  created_at: Date;
  expires_at: Date;
  sent_at: Date | null;
  delivered_at: Date | null;
  read_at: Date | null;
  failed_at: Date | null;
  failure_reason: string | null;
  version: number;
}

/**
 * All that stands around a worker: a database and a part of Redis of its own, a provider with a tap on the wire, and what the
 * API does with the provider's webhooks.
 */
export class House {
  readonly #queue: DeliveryQueue;
  readonly #receiver: Server;

  private constructor(
    readonly db: TestDatabase,
    readonly redis: Redis,
    readonly prefix: string,
    readonly simulator: Simulator,
    readonly tap: ProviderTap,
    queue: DeliveryQueue,
    receiver: Server,
  ) {
    this.#queue = queue;
    this.#receiver = receiver;
  }

  /** @param ownAnswer what the tap answers in place of the provider */
  static async open(ownAnswer?: Parameters<typeof startProviderTap>[1]): Promise<House> {
    const prefix = `test-${randomBytes(6).toString('hex')}`;
    const db = await createTestDatabase();
    const queue = openDeliveryQueue({
      redisUrl: testRedisUrl(),
      prefix,
      deliveryAttempts: 5,
      onError: () => {},
    });
    const receiver = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const body = Buffer.concat(chunks);
        const signature = request.headers['x-hub-signature-256'];
        if (typeof signature !== 'string' || !signatureMatches(body, signature, APP_SECRET))
          return void response.writeHead(401).end();
        return void storeReceipts(db.database, parseReceipts(body))
          .then(() => queue.enqueue('receipts'))
          .then(
            () => response.end('ok'),
            () => response.writeHead(500).end(),
          );
      });
    });
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    const simulator = await startSimulator({
      appSecret: APP_SECRET,
      webhookUrl: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`,
      delays: { sentMs: 0, deliveredMs: 0 },
    });
    const tap = await startProviderTap(simulator.url, ownAnswer);
    const redis = new Redis(testRedisUrl());
    await until('a delivery queue', () => queue.isReady());
    return new House(db, redis, prefix, simulator, tap, queue, receiver);
  }

  /** Ends everything. Stop the workers first. */
  async close(): Promise<void> {
    await this.simulator.close();
    await this.tap.close();
    this.#receiver.closeAllConnections();
    await new Promise((resolve) => this.#receiver.close(resolve));
    await this.#queue.close();
    await deleteKeys(this.redis, this.prefix);
    this.redis.disconnect();
    await this.db.drop();
  }

  /** Ends what earlier tests left: their sends, their senders and the provider's faults. */
  async clear(): Promise<void> {
    this.simulator.reset();
    this.tap.requests.length = 0;
    await this.db.sql(
      `update sends set status = 'failed', failed_at = now(), failure_reason = 'attempts_exhausted', sealed_code = null,
         attempt_id = null, awaiting_sender = false, due_at = null, next_enqueue_at = null, version = version + 1
       where status in ('queued', 'sending') and mode = 'live'`,
    );
    await this.db.sql(
      "update senders set paused_at = now(), paused_until = null, pause_reason = 'of an earlier test'",
    );
  }

  caller(mode: Mode = 'live', account: Partial<NewAccount> = {}): Promise<TestCaller> {
    return buildCaller(this.db.database, mode, { freeQuota: 1, credits: 0, ...account });
  }

  /** A send as the API makes it: the row, then the job. */
  async send(caller: TestCaller, wishes: SendWishes = {}): Promise<string> {
    const id = await buildSend(this.db.database, caller, wishes);
    await this.enqueue(caller.mode, id, 0);
    return id;
  }

  async enqueue(mode: Mode, sendId: string, version: number): Promise<void> {
    await this.#queue.enqueue(mode === 'test' ? 'simulate' : 'deliver', [{ sendId, version }]);
  }

  async row(id: string): Promise<SendRecord> {
    const [row] = await this.db.sql<SendRecord>('select * from sends where id = $1', [id]);
    if (row === undefined) throw new Error('no such send');
    return row;
  }

  /** Waits until the send is as wanted: a status, or what a condition says. */
  async until(
    id: string,
    wanted: SendRecord['status'] | ((row: SendRecord) => boolean),
  ): Promise<SendRecord> {
    const fits = typeof wanted === 'string' ? (row: SendRecord) => row.status === wanted : wanted;
    let last: SendRecord | null = null;
    const look = async (): Promise<SendRecord | null> => {
      last = await this.row(id);
      return fits(last) ? last : null;
    };
    try {
      return await until(`a send that is ${typeof wanted === 'string' ? wanted : 'as wanted'}`, look);
    } catch (error) {
      throw new Error(
        `it stayed ${JSON.stringify({ ...(last as SendRecord | null), sealed_code: undefined })}`,
        {
          cause: error,
        },
      );
    }
  }

  /** Makes a send older, as if all that happened to it had happened so long ago. */
  async age(id: string, seconds: number): Promise<void> {
    await this.db.sql(
      `update sends set created_at = created_at - $2::interval, expires_at = expires_at - $2::interval,
         due_at = due_at - $2::interval, next_enqueue_at = next_enqueue_at - $2::interval, sent_at = sent_at - $2::interval where id = $1`,
      [id, `${seconds} seconds`],
    );
  }

  /** Lets what a send waits for come: its back-off, or its lease, is over and its job is due. */
  async makeDue(id: string): Promise<void> {
    await this.db.sql('update sends set due_at = now(), next_enqueue_at = now() where id = $1', [id]);
  }

  async sender(id: string): Promise<SenderRecord> {
    const [sender] = await this.db.sql<SenderRecord>(
      `select consecutive_failures, paused_at, paused_until, pause_reason,
         round(extract(epoch from paused_until - paused_at))::integer as pause_seconds from senders where id = $1`,
      [id],
    );
    if (sender === undefined) throw new Error('no such sender');
    return sender;
  }

  /** The attempts of a send, oldest first. */
  attempts(id: string): Promise<AttemptRow[]> {
    return this.db.sql<AttemptRow>(
      'select id, sender_id, outcome, error_code, message_id, started_at, finished_at from attempts where send_id = $1 order by started_at, id',
      [id],
    );
  }

  /** The requests to the provider that belong to a send. */
  async calls(id: string): Promise<TappedRequest[]> {
    const ids = (await this.attempts(id)).map((attempt) => attempt.id);
    return this.tap.requests.filter(({ body }) => ids.some((one) => body.includes(one)));
  }

  /** What an account has left, and what its sends took and got back. */
  async units(accountId: string): Promise<{ free_quota: number; credits: number; returned: string[] }> {
    const [units] = await this.db.sql<{ free_quota: number; credits: number; returned: string[] }>(
      `select free_quota, credits, array(
         select bucket from ledger_entries where account_id = $1 and kind = 'returned' order by id
       ) as returned from accounts where id = $1`,
      [accountId],
    );
    if (units === undefined) throw new Error('no such account');
    return units;
  }
}
