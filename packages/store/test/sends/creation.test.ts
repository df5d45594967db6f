import { randomUUID } from 'node:crypto';
import { decideCreations, type NewSend } from '@onecode/domain';
import { createApiKey, revokeApiKey, setSuspension } from '@onecode/store/accounts';
import { closeDatabase, openDatabase, type Database } from '@onecode/store/client';
import { createSend, type Creation } from '@onecode/store/sends';
import { buildCaller, newSend, TEST_ACTOR, until, useTestDatabase, type TestCaller } from '@onecode/testing';
import { OVERLAPPING_BATCHES_MAX } from '../../src/client/batcher.js';
import { readCreations } from '../../src/sends/readCreations.js';
import { writeCreations } from '../../src/sends/writeCreations.js';

const store = useTestDatabase();

const expireKey = ({ keyId }: TestCaller): Promise<unknown> =>
  store.sql(`update api_keys set expires_at = clock_timestamp() - interval '1 second' where id = $1`, [
    keyId,
  ]);

describe('creations of locked accounts', () => {
  const unlimited = { freeQuota: 10_000, ratePerMinute: 100_000 };
  const create = (caller: TestCaller): Promise<Creation> => createSend(store.database, newSend(caller));

  /** Locks accounts in a transaction that stays open until `release`. */
  async function lockAccounts(callers: readonly TestCaller[]): Promise<{ release: () => Promise<void> }> {
    const client = await store.connect();
    await client.query('begin');
    const ids = callers.map(({ accountId }) => accountId);
    await client.query('select from accounts where id = any($1) for update', [ids]);
    return {
      async release() {
        await client.query('rollback');
        await client.end();
      },
    };
  }

  /** Returns the database with a count of its reads. */
  function countReads() {
    const reads = { count: 0, active: 0, activeMax: 0 };
    const { sql } = store.database;
    const read = (async (...statement: Parameters<typeof sql.read>) => {
      reads.count += 1;
      reads.active += 1;
      reads.activeMax = Math.max(reads.activeMax, reads.active);
      return sql.read(...statement).finally(() => (reads.active -= 1));
    }) as typeof sql.read;
    return { reads, database: { ...store.database, sql: { ...sql, read } } };
  }

  it('continue for other accounts, and for a locked account after the release', async () => {
    const held = await Promise.all([1, 2, 3].map(() => buildCaller(store.database, 'live', unlimited)));
    const others = await Promise.all([1, 2, 3].map(() => buildCaller(store.database, 'live', unlimited)));
    const hold = await lockAccounts(held);
    let ended = 0;
    const own = [...held, ...held].map((caller) => create(caller).finally(() => (ended += 1)));
    // Each batch also has creations of locked accounts, and no other account waits for them.
    for (let round = 0; round < 3; round++) {
      const mixed = await Promise.all(others.map(create));
      expect(mixed.map(({ outcome }) => outcome)).toEqual(['created', 'created', 'created']);
    }
    expect(ended).toBe(0);
    await hold.release();
    const made = await Promise.all(own);
    expect(new Set(made.map(({ outcome }) => outcome))).toEqual(new Set(['created']));
  });

  it('fail for an account that stays locked, and store nothing', async () => {
    const held = await buildCaller(store.database, 'live', unlimited);
    const hold = await lockAccounts([held]);
    const { database, reads } = countReads();
    const ends = await Promise.allSettled(
      Array.from({ length: 50 }, () => createSend(database, newSend(held))),
    );
    await hold.release();
    // The pauses grow, so there are about 40. Pauses of the first length would allow 300.
    expect(reads.count).toBeLessThan(120);
    const message = 'could not create sends: other transactions keep the account locked';
    for (const end of ends) expect(end).toMatchObject({ status: 'rejected', reason: { message } });
    expect(await store.sql('select from sends where account_id = $1', [held.accountId])).toEqual([]);
    expect((await create(held)).outcome).toBe('created');
  });

  it('share batches when they are repeated for many locked accounts', async () => {
    const held = await Promise.all(
      Array.from({ length: 30 }, () => buildCaller(store.database, 'live', unlimited)),
    );
    const hold = await lockAccounts(held);
    const { database, reads } = countReads();
    const creations = held.map((caller) => createSend(database, newSend(caller)));
    await until('repeated creations', async () => reads.count > 30);
    await hold.release();
    for (const { outcome } of await Promise.all(creations)) expect(outcome).toBe('created');
    expect(reads.activeMax).toBeLessThanOrEqual(OVERLAPPING_BATCHES_MAX);
  });

  it('refuse a key that was revoked while they waited for the account', async () => {
    const [caller, other] = [
      await buildCaller(store.database, 'live', unlimited),
      await buildCaller(store.database, 'live', unlimited),
    ];
    const hold = await lockAccounts([caller]);
    const waiting = create(caller);
    // The creations share a batch, so the first one has been read.
    await create(other);
    await revokeApiKey(store.database, TEST_ACTOR, caller.keyId);
    await hold.release();
    expect(await waiting).toEqual({ outcome: 'key_refused', cause: 'revoked' });
  });
});

describe('concurrent processes that create sends of one account', () => {
  const PROCESSES = 4;
  const EACH = 25;
  let processes: Database[];
  beforeAll(() => {
    processes = Array.from({ length: PROCESSES }, () =>
      openDatabase(store.url, { connectionsMax: 6, byIndexOnly: true }),
    );
  });
  afterAll(() => Promise.all(processes.map(closeDatabase)));

  /** Creates sends in all processes. @returns how many had each result */
  async function createInAll(make: (n: number) => NewSend): Promise<Record<string, number>> {
    const creations = await Promise.all(
      processes.flatMap((database) => Array.from({ length: EACH }, (_, n) => createSend(database, make(n)))),
    );
    const counts: Record<string, number> = {};
    for (const one of creations) {
      const name = 'cause' in one ? one.cause : one.outcome;
      counts[name] = (counts[name] ?? 0) + 1;
    }
    return counts;
  }

  it('keep the rate limit of the account exactly', async () => {
    const caller = await buildCaller(store.database, 'test', { ratePerMinute: 37 });
    expect(await createInAll(() => newSend(caller))).toEqual({ created: 37, account_rate: 63 });
    expect(
      await store.sql('select sends_created::integer as sends from accounts where id = $1', [
        caller.accountId,
      ]),
    ).toEqual([{ sends: 37 }]);
    const numbers = await store.sql<{ n: number }>(
      'select application_number::integer as n from sends where account_id = $1 order by 1',
      [caller.accountId],
    );
    expect(numbers.map(({ n }) => n)).toEqual(Array.from({ length: 37 }, (_, n) => n + 1));
  });

  it('charge exactly the units of the account while units are refunded', async () => {
    const caller = await buildCaller(store.database, 'live', {
      freeQuota: 11,
      credits: 20,
      ratePerMinute: 10_000,
    });
    const refunds = Promise.all(
      Array.from({ length: 20 }, () =>
        store.sql('update accounts set free_quota = free_quota + 1 where id = $1', [caller.accountId]),
      ),
    );
    const { created = 0 } = await createInAll(() => newSend(caller));
    await refunds;
    const [row] = await store.sql<{ left: number; entries: number }>(
      `select free_quota + credits as left, (
         select count(*)::integer from ledger_entries where account_id = $1 and kind = 'reserved'
       ) as entries from accounts where id = $1`,
      [caller.accountId],
    );
    expect(row).toEqual({ left: 51 - created, entries: created });
    expect(created).toBeGreaterThanOrEqual(31);
    expect(created).toBeLessThanOrEqual(51);
  });

  it('create one send for each idempotency key', async () => {
    const caller = await buildCaller(store.database, 'test', { ratePerMinute: 10_000 });
    expect(await createInAll((n) => newSend(caller, { idempotencyKey: `key ${n % 5}` }))).toEqual({
      created: 5,
      existing: PROCESSES * EACH - 5,
    });
  });

  it('share the trial sends of a day exactly', async () => {
    const callers = await Promise.all(
      Array.from({ length: 5 }, () =>
        buildCaller(store.database, 'live', { freeQuota: 100, ratePerMinute: 10_000 }),
      ),
    );
    await store.sql(`update accounts set trial_countries = '{BR}' where id = any($1)`, [
      callers.map(({ accountId }) => accountId),
    ]);
    await store.sql(
      'update settings set trial_sends_per_day = 42, trial_account_sends_per_day = 1000, trial_sends_of_day = 0',
    );
    const counts = await createInAll((n) => newSend(callers[n % 5]!));
    expect(counts).toEqual({ created: 42, trial_ceiling: PROCESSES * EACH - 42 });
    expect(await store.sql('select trial_sends_of_day as sends from settings')).toEqual([{ sends: 42 }]);
  });
});

describe('a batch', () => {
  it.each([
    ['has a revoked key', async (by: TestCaller) => revokeApiKey(store.database, TEST_ACTOR, by.keyId)],
    ['is of a deleted application', async (by: TestCaller) => void (by.applicationId = randomUUID())],
  ])('keeps the limits of the account and of the application if its first request %s', async (_, refuse) => {
    const caller = await buildCaller(store.database, 'live', { freeQuota: 100, ratePerMinute: 5 });
    const first = {
      ...caller,
      keyId: (await createApiKey(store.database, TEST_ACTOR, caller.applicationId))!.id,
    };
    await store.sql('update applications set per_minute = 4 where id = $1', [caller.applicationId]);
    for (let made = 0; made < 4; made++) await createSend(store.database, newSend(caller));
    await refuse(first);
    const ends = await Promise.all(
      [first, ...Array.from({ length: 12 }, () => caller)].map((by) =>
        createSend(store.database, newSend(by)),
      ),
    );
    expect(ends.map(({ outcome }) => outcome)).toEqual([
      'key_refused',
      ...Array.from({ length: 12 }, () => 'rate_limited'),
    ]);
    await store.sql('update applications set per_minute = null where id = $1', [caller.applicationId]);
    const more = await Promise.all(
      [first, caller, caller].map((by) => createSend(store.database, newSend(by))),
    );
    expect(more.map(({ outcome }) => outcome)).toEqual(['key_refused', 'created', 'rate_limited']);
  });
});

describe('writeCreations', () => {
  it.each([
    ['the key was revoked', (by: TestCaller) => revokeApiKey(store.database, TEST_ACTOR, by.keyId)],
    ['the key expired', (by: TestCaller) => expireKey(by)],
    [
      'the account was suspended',
      (by: TestCaller) => setSuspension(store.database, TEST_ACTOR, by.accountId, 'a test'),
    ],
    ['another send was created', (by: TestCaller) => createSend(store.database, newSend(by))],
    [
      'the units were taken',
      (by: TestCaller) => store.sql('update accounts set free_quota = 0 where id = $1', [by.accountId]),
    ],
  ])(
    'writes nothing for an account if %s after the read, and writes the creations of other accounts',
    async (_, change) => {
      const [caller, other] = [
        await buildCaller(store.database, 'live', { freeQuota: 2 }),
        await buildCaller(store.database, 'live', { freeQuota: 2 }),
      ];
      const sends = [newSend(caller), newSend(other)];
      const states = await readCreations(store.database, sends);
      const { decisions, created } = decideCreations(sends, states);
      expect(decisions.map(({ outcome }) => outcome)).toEqual(['created', 'created']);
      await change(caller);
      const lost = await writeCreations(store.database, created);
      expect([...lost]).toEqual([caller.accountId]);
      expect(await store.sql('select id from sends where id = any($1)', [sends.map(({ id }) => id)])).toEqual(
        [{ id: sends[1]!.id }],
      );
    },
  );
});
