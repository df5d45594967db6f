import { decrypt, settle, simulateDelivery, type Outcome } from '@onecode/domain';
import { claim } from '@onecode/testing/claim-model';
import { createApiKey, findAccount, changeApplication, revokeApiKey } from '@onecode/store/accounts';
import { listSenders } from '@onecode/store/senders';
import { changeSend } from '@onecode/store/sends';
import {
  applyTestReports,
  buildCaller,
  buildSender,
  earlierMinute,
  TEST_ACTOR,
  TEST_SECRET_KEY,
  type TestCaller,
  type TestDatabase,
} from '@onecode/testing';
import type { ContractTarget, DeliveryStatus } from '@onecode/testing/contract-tests';
import type { TestApi } from './testApi.js';

/** Returns the API, with its PostgreSQL and Redis, as a target of the contract tests. */
export function apiTarget({ port, db }: TestApi): ContractTarget {
  const { database } = db;
  const callers = new Map<string, TestCaller>();
  const known = (caller: TestCaller): TestCaller => {
    callers.set(caller.key, caller);
    return caller;
  };
  const callerOf = ({ key }: { key: string }): TestCaller => {
    const caller = callers.get(key);
    if (caller === undefined) throw new Error('no such caller');
    return caller;
  };
  async function columnOf<T>(id: string, column: string): Promise<T> {
    const [row] = await db.sql<{ value: T }>(`select ${column} as value from sends where id = $1`, [id]);
    if (row === undefined) throw new Error(`no send ${id}`);
    return row.value;
  }

  return {
    port,
    async now() {
      const [row] = await db.sql<{ now: Date }>('select clock_timestamp() as now');
      return row?.now as Date;
    },
    buildCaller: async (mode, { sibling, ...account } = {}) =>
      known(
        await buildCaller(database, mode, {
          ...account,
          ...(sibling && { id: callerOf(sibling).accountId }),
        }),
      ),
    async addKey(caller) {
      const owner = callerOf(caller);
      const made = await createApiKey(database, TEST_ACTOR, owner.applicationId);
      if (made === null) throw new Error('no such application');
      return known({ ...owner, key: made.key, keyId: made.id });
    },
    async revokeKey(caller) {
      await revokeApiKey(database, TEST_ACTOR, callerOf(caller).keyId);
    },
    async limit(caller, limits) {
      await changeApplication(database, TEST_ACTOR, callerOf(caller).applicationId, limits);
    },
    async unitsOf(caller) {
      const account = await findAccount(database, callerOf(caller).accountId);
      if (account === null) throw new Error('no such account');
      return account;
    },
    /** Moves the account's sends into the past, so that its rate limits reopen sooner. */
    async age(caller, seconds) {
      const id = callerOf(caller).accountId;
      await db.sql(
        'update sends set created_at = created_at - make_interval(secs => $2) where account_id = $1',
        [id, seconds],
      );
      for (const [table, column] of [
        ['accounts', 'id'],
        ['applications', 'account_id'],
      ])
        await db.sql(`update ${table} set minute_sends = ${earlierMinute('$2')} where ${column} = $1`, [
          id,
          seconds,
        ]);
    },
    deliver: (id, status) => bringTo(db, id, status),
    simulateDelivery: (id) => simulate(db, id),
    expire: (id) => expire(db, id),
    codeOf: async (id) => decrypt(TEST_SECRET_KEY, id, await columnOf<Buffer>(id, 'encrypted_code')),
    recipientOf: (id) => columnOf(id, 'recipient'),
    idempotencyKeyOf: async (id) =>
      (await columnOf<Buffer | null>(id, 'idempotency_key'))?.toString('latin1') ?? null,
  };
}

const POLICY = { attemptsMax: 5, backoffMs: 1000 };
const REJECTED: Outcome = { kind: 'recipient', errorCode: 131026, reason: 'undeliverable' };

/** The receipts that the provider sends after it has accepted the message. */
const RECEIPTS = { sent: [], failed: [], delivered: ['delivered'], read: ['delivered', 'read'] } as const;

/** Moves a queued live send to this status with the worker's decisions. */
async function bringTo(db: TestDatabase, id: string, status: DeliveryStatus): Promise<void> {
  const { database } = db;
  if (status === 'queued') return;
  const [sender = await buildSender(database)] = await listSenders(database);
  await changeSend(database, { id }, (send, now) =>
    claim(send, now, { leaseMs: 30_000, policy: POLICY, permit: { sender, waitMs: 0 } }),
  );
  if (status === 'sending') return;
  const messageId = `wamid.${id}`;
  const outcome: Outcome = status === 'failed' ? REJECTED : { kind: 'accepted', messageId };
  await changeSend(database, { id }, (send, now) => settle(send, now, 1, outcome, POLICY));
  await applyTestReports(database, {
    receipts: RECEIPTS[status].map((reported) => ({
      messageId,
      attempt: { sendId: id, number: 1 },
      status: reported,
      occurredAt: new Date(),
      failure: null,
    })),
  });
}

/** Simulates the delivery of a test send, as the worker does. */
export async function simulate({ database }: TestDatabase, id: string): Promise<void> {
  await changeSend(database, { id }, simulateDelivery);
}

/** Moves a send into the past, so that its code expired a second ago. */
async function expire(db: TestDatabase, id: string): Promise<void> {
  await db.sql(
    `update sends set created_at = created_at - (expires_at - now()) - interval '1 second',
       expires_at = now() - interval '1 second',
       verified_at = verified_at - (expires_at - now()) - interval '1 second'
     where id = $1`,
    [id],
  );
}
