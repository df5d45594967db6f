import { isBlocking, type Block, type Mode, type Phase } from '@onecode/domain';
import { openQueues, QUEUE_NAMES, type Queues } from '@onecode/runtime';
import { startSimulator, type Simulator } from '@onecode/simulator';
import type { NewAccount } from '@onecode/store/accounts';
import { listSenders } from '@onecode/store/senders';
import { storeReports } from '@onecode/store/sends';
import {
  buildCaller,
  buildSend,
  connectTestRedis,
  createTestDatabase,
  startLocalServer,
  startProviderTap,
  TestEnvironment,
  testRedisUrl,
  until,
  untilQueueReady,
  type AnswerInstead,
  type LocalServer,
  type ProviderTap,
  type SendOptions,
  type TappedRequest,
  type TestCaller,
  TEST_NUMBER_PEPPER,
} from '@onecode/testing';
import { messageIdOf, parseWebhook, signatureMatches } from '@onecode/whatsapp';

const APP_SECRET = 'test-app-secret';

export interface AttemptRow {
  number: number;
  sender_id: string | null;
  outcome: string | null;
  error_code: number | null;
  message_id: string | null;
  started_at: Date;
  finished_at: Date | null;
}

export interface SendRecord {
  id: string;
  status: string;
  phase: Phase;
  channel: string | null;
  from_number: string | null;
  sender_id: string | null;
  encrypted_code: Buffer | null;
  attempts: number;
  claimed_until: Date | null;
  receipt_until: Date | null;
  due_at: Date | null;
  created_at: Date;
  expires_at: Date;
  sent_at: Date | null;
  delivered_at: Date | null;
  read_at: Date | null;
  failed_at: Date | null;
  failure_reason: string | null;
  pricing: object | null;
  version: number;
}

/**
 * The test environment of workers. In addition to the database and Redis, it has a simulated provider, a tap in front of it, and a server
 * that handles the provider's webhooks as the API does.
 */
export class WorkerEnvironment extends TestEnvironment {
  simulator!: Simulator;
  tap!: ProviderTap;
  readonly #deliveryQueue: Queues;
  #webhooks!: LocalServer;

  private constructor(...resources: ConstructorParameters<typeof TestEnvironment>) {
    super(...resources);
    this.#deliveryQueue = openQueues({ REDIS_URL: testRedisUrl(), QUEUE_PREFIX: this.prefix });
  }

  /** Opens an environment. @param answerInstead returns the tap's responses in place of the provider's */
  static async open(answerInstead?: AnswerInstead): Promise<WorkerEnvironment> {
    const environment = new WorkerEnvironment(await createTestDatabase(), await connectTestRedis());
    await environment.#start(answerInstead);
    return environment;
  }

  async #start(answerInstead?: AnswerInstead): Promise<void> {
    this.#webhooks = await startLocalServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const signature = request.headers['x-hub-signature-256'];
        if (typeof signature !== 'string' || !signatureMatches(Buffer.concat(chunks), signature, APP_SECRET))
          return void response.writeHead(401).end();
        const reports = parseWebhook(Buffer.concat(chunks), TEST_NUMBER_PEPPER)!;
        return void storeReports(this.db.database, reports, null)
          .then(() => this.#deliveryQueue.enqueueReports())
          .then(
            () => response.end('ok'),
            () => response.writeHead(500).end(),
          );
      });
    });
    this.simulator = await startSimulator({
      appSecret: APP_SECRET,
      webhookUrl: `${this.#webhooks.url}/`,
      delays: { sentMs: 0, deliveredMs: 0 },
    });
    this.tap = await startProviderTap(this.simulator.url, answerInstead);
    await untilQueueReady(this.#deliveryQueue);
  }

  /** Closes everything. Stop the workers first. */
  override async close(): Promise<void> {
    await this.simulator.close();
    await this.tap.close();
    await this.#webhooks.close();
    await this.#deliveryQueue.close();
    await super.close();
  }

  /** Ends the sends of earlier tests, and removes their senders and the faults of the provider. */
  async reset(): Promise<void> {
    this.simulator.reset();
    this.tap.requests.length = 0;
    await this.endSends();
    await this.db.sql('delete from sender_blocks');
    await this.db.sql(
      "insert into sender_blocks (cause, scope, subject, source, reason) select 'operator', 'sender', id::text, 'operator', 'of an earlier test' from senders",
    );
  }

  /** Fails all live sends, so that no worker starts another delivery of them. */
  endSends = async (): Promise<void> => {
    await this.db.sql(
      `update sends set status = 'failed', phase = 'done', failed_at = now(), failure_reason = 'attempts_exhausted', encrypted_code = null,
         claimed_at = null, claimed_until = null, due_at = null, version = version + 1
       where status in ('queued', 'sending', 'sent') and mode = 'live'`,
    );
  };

  /** Returns whether no worker has a job. */
  isIdle = async (): Promise<boolean> => {
    const active = QUEUE_NAMES.map((queue) => this.redis.llen(`${this.prefix}:${queue}:active`));
    return (await Promise.all(active)).every((count) => count === 0);
  };

  newCaller = (mode: Mode = 'live', account: Partial<NewAccount> = {}): Promise<TestCaller> =>
    buildCaller(this.db.database, mode, { freeQuota: 1, credits: 0, ...account });

  /** Creates a send as the API does: inserts the row, then enqueues a job. @returns its id */
  send = async (caller: TestCaller, options: SendOptions = {}): Promise<string> => {
    const id = await buildSend(this.db.database, caller, options);
    await this.enqueue(caller.mode, id);
    return id;
  };

  /** Enqueues the job of a send. */
  enqueue = async (mode: Mode, sendId: string): Promise<void> => {
    await this.#deliveryQueue.enqueue(mode === 'test' ? 'simulate' : 'deliver', sendId);
  };

  /** Returns the outcomes of a send's finished jobs. */
  jobOutcomes = async (sendId: string): Promise<string[]> => {
    const jobs = await this.#deliveryQueue.of('deliver').getJobs(['completed']);
    return jobs
      .filter(({ data }) => data.sendId === sendId)
      .map(({ returnvalue }) => (returnvalue as { outcome: string }).outcome);
  };

  row = async (id: string): Promise<SendRecord> => {
    const [row] = await this.db.sql<SendRecord>('select * from sends where id = $1', [id]);
    if (row === undefined) throw new Error('no such send');
    return row;
  };

  /** Waits until the send has this status or meets this condition. */
  until = async (
    id: string,
    expected: SendRecord['status'] | ((row: SendRecord) => boolean),
  ): Promise<SendRecord> => {
    const matches = typeof expected === 'string' ? (row: SendRecord) => row.status === expected : expected;
    let last: SendRecord | null = null;
    const look = async (): Promise<SendRecord | null> => {
      last = await this.row(id);
      return matches(last) ? last : null;
    };
    try {
      return await until(`a send that is ${typeof expected === 'string' ? expected : 'as expected'}`, look);
    } catch (error) {
      const stayed = JSON.stringify({ ...(last as SendRecord | null), encrypted_code: undefined });
      throw new Error(`the send stayed ${stayed}`, { cause: error });
    }
  };

  /** Moves all times of a send into the past by some seconds. */
  age = async (id: string, seconds: number): Promise<void> => {
    await this.db.sql(
      `update sends set created_at = created_at - $2::interval, expires_at = expires_at - $2::interval,
         due_at = due_at - $2::interval, sent_at = sent_at - $2::interval where id = $1`,
      [id, `${seconds} seconds`],
    );
  };

  /** Makes a send due now, by ending its back-off or its lease. */
  makeDue = async (id: string): Promise<void> => {
    await this.db.sql(
      `update sends set due_at = now() - interval '1 second', claimed_until = case when claimed_until is not null then now() end where id = $1`,
      [id],
    );
  };

  /** Returns the current blocks of a sender. */
  blocks = async (id: string): Promise<Block[]> => {
    const now = new Date();
    const sender = (await listSenders(this.db.database)).find((one) => one.id === id);
    return (sender?.blocks ?? []).filter((block) => isBlocking(block, now));
  };

  /** Returns the attempts of a send, oldest first. */
  attempts = (id: string): Promise<AttemptRow[]> =>
    this.db.sql<AttemptRow>(
      'select number, sender_id, outcome, error_code, message_id, started_at, finished_at from attempts where send_id = $1 order by number',
      [id],
    );

  /** Returns the provider's id of the first message of a send. */
  messageId = async (id: string): Promise<string> => {
    const [attempt] = await this.attempts(id);
    return this.simulator.messages().find((message) => messageIdOf(message.id) === attempt!.message_id)!.id;
  };

  /** Returns the requests to the provider for this send. */
  calls = (id: string): TappedRequest[] => {
    return this.tap.requests.filter(({ body }) => body.includes(id));
  };

  /** Returns the remaining units of an account, and the bucket of each refund. */
  units = async (accountId: string): Promise<{ free_quota: number; credits: number; returned: string[] }> => {
    const [units] = await this.db.sql<{ free_quota: number; credits: number; returned: string[] }>(
      `select free_quota, credits, array(
         select bucket from ledger_entries where account_id = $1 and kind = 'returned' order by id
       ) as returned from accounts where id = $1`,
      [accountId],
    );
    if (units === undefined) throw new Error('no such account');
    return units;
  };
}
