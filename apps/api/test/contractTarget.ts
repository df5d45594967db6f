import { unseal } from '@onecode/domain';
import { createApiKey, findAccount, limitApplication, revokeApiKey } from '@onecode/store';
import { buildCaller, TEST_ACTOR, TEST_SECRET_KEY, type TestCaller } from '@onecode/testing';
import type { ContractTarget } from '@onecode/testing/contract-tests';
import { bringTo, expire, simulateDelivery } from './deliveries.js';
import type { TestApi } from './testApi.js';

/** The API, over its PostgreSQL and Redis, as a target of the contract tests. */
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
      await limitApplication(database, TEST_ACTOR, callerOf(caller).applicationId, limits);
    },
    async unitsOf(caller) {
      const account = await findAccount(database, callerOf(caller).accountId);
      if (account === null) throw new Error('no such account');
      return account;
    },
    /** Moves the account's sends into the past, so that their windows open sooner. */
    async age(caller, seconds) {
      await db.sql(
        'update sends set created_at = created_at - make_interval(secs => $2) where account_id = $1',
        [callerOf(caller).accountId, seconds],
      );
    },
    deliver: (id, status) => bringTo(db, id, status),
    simulateDelivery: (id) => simulateDelivery(db, id),
    expire: (id) => expire(db, id),
    codeOf: async (id) => unseal(TEST_SECRET_KEY, id, await columnOf<Buffer>(id, 'sealed_code')),
    recipientOf: (id) => columnOf(id, 'recipient'),
    idempotencyKeyOf: async (id) =>
      (await columnOf<Buffer | null>(id, 'idempotency_key'))?.toString('latin1') ?? null,
  };
}
