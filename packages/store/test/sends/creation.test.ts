import {
  AccountBusy,
  createSend,
  limitApplication,
  revokeApiKey,
  suspendAccount,
  type Creation,
} from '@onecode/store';
import { buildCaller, newSend, TEST_ACTOR, until, useTestDatabase, type TestCaller } from '@onecode/testing';
import fc from 'fast-check';

const store = useTestDatabase();

describe('rate windows', () => {
  const LIMITS = ['account', 'application', 'recipient'] as const;
  type Counts = Record<(typeof LIMITS)[number], number>;
  const create = (caller: TestCaller, recipient?: string) =>
    createSend(store.database, newSend(caller, recipient === undefined ? {} : { recipient }));

  beforeAll(() => store.sql('update settings set guess_budget = null'));

  /** Moves the time of all that an account has sent. */
  async function shift(accountId: string, by: string): Promise<void> {
    await store.sql(
      `update sends set created_at = created_at + $2::interval, expires_at = expires_at + $2::interval where account_id = $1`,
      [accountId, by],
    );
    for (const [table, column] of [
      ['accounts', 'id'],
      ['applications', 'account_id'],
    ])
      await store.sql(
        `update ${table} set minute_times = array(select at + $2::interval from unnest(minute_times) at) where ${column} = $1`,
        [accountId, by],
      );
  }

  const clock = async (): Promise<Date> =>
    (await store.sql<{ at: Date }>('select clock_timestamp() as at'))[0]!.at;

  /** How many sends each limit of a request counts at a time, as far back as a minute or an hour, and some seconds more. */
  async function countAll(caller: TestCaller, recipient: string, at: Date, more = 0): Promise<Counts> {
    const [counts] = await store.sql<Counts>(
      `select (count(*) filter (where is_of_minute))::integer as account,
         (count(*) filter (where is_of_minute and application_id = $2))::integer as application,
         (count(*) filter (where is_of_hour and application_id = $2 and recipient = $3))::integer as recipient
       from (
         select *, created_at > $4::timestamptz - make_interval(secs => 60 + $5::float8) as is_of_minute,
           created_at > $4::timestamptz - make_interval(secs => 3600 + $5::float8) as is_of_hour
         from sends where account_id = $1
       ) s`,
      [caller.accountId, caller.applicationId, recipient, at, more],
    );
    return counts!;
  }

  /** Creates in one call, and holds its answers against a count of all sends. */
  async function createTogether(
    requests: readonly { caller: TestCaller; recipient: string }[],
  ): Promise<void> {
    const begun = await clock();
    const ends = await Promise.all(requests.map(({ caller, recipient }) => create(caller, recipient)));
    const ended = await clock();
    const remainders: string[] = [];
    for (const [nth, { caller, recipient }] of requests.entries()) {
      const end = ends[nth]!;
      if (end.outcome !== 'created' && end.outcome !== 'rate_limited') throw new Error(end.outcome);
      // All sends of a second leave a minute together, with the last of them.
      const most = await countAll(caller, recipient, begun, 1.01);
      const least = await countAll(caller, recipient, ended);
      const cause = end.outcome === 'rate_limited' ? end.cause : null;
      for (const limit of LIMITS) {
        const window = end.windows[limit];
        if (window === null) continue;
        expect(window.left).toBeGreaterThanOrEqual(Math.max(0, window.quota - most[limit]));
        if (cause === `${limit}_rate`) {
          expect(window.left).toBe(0);
          expect(most[limit]).toBeGreaterThanOrEqual(window.quota);
        }
        if (cause !== null) continue;
        expect(least[limit]).toBeLessThanOrEqual(window.quota);
        const { accountId, applicationId } = caller;
        const scope = {
          account: accountId,
          application: applicationId,
          recipient: applicationId + recipient,
        };
        remainders.push(`${limit} ${scope[limit]} ${window.left}`);
      }
    }
    expect(new Set(remainders).size).toBe(remainders.length);
  }

  it('are exact to a second by a count of all sends, whatever limits and times change between', async () => {
    const orNull = (values: readonly number[]) => fc.constantFrom<number | null>(null, ...values);
    const request = fc.record({ caller: fc.nat(2), recipient: fc.nat(2) });
    const limits = { perMinute: orNull([1, 2, 4, 7]), perRecipientHour: orNull([1, 2, 3]) };
    const step = fc.oneof(
      { weight: 6, arbitrary: fc.record({ create: fc.array(request, { minLength: 1, maxLength: 9 }) }) },
      { weight: 4, arbitrary: fc.record({ ageMs: fc.integer({ min: 1_000, max: 61_000 }) }) },
      { weight: 1, arbitrary: fc.record({ ageMs: fc.integer({ min: 600_000, max: 3_601_000 }) }) },
      { weight: 2, arbitrary: fc.record({ accountRate: orNull([1, 2, 3, 5, 8, 13]) }) },
      { weight: 3, arbitrary: fc.record({ of: fc.nat(2), limits: fc.record(limits) }) },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 40 }), async (steps) => {
        const live = await buildCaller(store.database, 'live', { freeQuota: 10_000 });
        const test = await buildCaller(store.database, 'test', { id: live.accountId });
        const stranger = await buildCaller(store.database, 'test');
        const callers = [live, test, stranger];
        for (const one of steps) {
          if ('create' in one)
            await createTogether(
              one.create.map(({ caller, recipient }) => ({
                caller: callers[caller]!,
                recipient: `+551198765000${recipient}`,
              })),
            );
          else if ('ageMs' in one)
            for (const { accountId } of [live, stranger])
              await shift(accountId, `-${one.ageMs} milliseconds`);
          else if ('accountRate' in one)
            await store.sql('update accounts set rate_per_minute = $2 where id = $1', [
              live.accountId,
              one.accountRate,
            ]);
          else {
            const { applicationId } = callers[one.of]!;
            await limitApplication(store.database, TEST_ACTOR, applicationId, one.limits);
          }
        }
      }),
      // Bounds the search for a smaller counterexample.
      { numRuns: 10, interruptAfterTimeLimit: 30_000 },
    );
  }, 60_000);

  it('are kept in at most 62 counters, and a refusal writes nothing', async () => {
    const caller = await buildCaller(store.database, 'test', { ratePerMinute: 70 });
    interface Row {
      times: Date[];
      totals: string[];
      xmin: string;
    }
    const rowOf = async (): Promise<Row> =>
      (
        await store.sql<Row>(
          'select minute_times as times, minute_totals as totals, xmin::text from accounts where id = $1',
          [caller.accountId],
        )
      )[0]!;
    for (let second = 0; second < 70; second++) {
      expect(await create(caller)).toMatchObject({ outcome: 'created' });
      await shift(caller.accountId, '-1 second');
    }
    const { times, totals } = await rowOf();
    expect(times.length).toBeLessThanOrEqual(62);
    expect(times.length).toBeGreaterThan(55);
    expect(totals).toHaveLength(times.length);
    await store.sql('update accounts set rate_per_minute = 1 where id = $1', [caller.accountId]);
    const before = await rowOf();
    expect(await create(caller)).toMatchObject({ outcome: 'rate_limited', cause: 'account_rate' });
    expect(await rowOf()).toEqual(before);
  });

  it('are not held by a clock that stepped back for longer than two of them', async () => {
    const caller = await buildCaller(store.database, 'test', { ratePerMinute: 3 });
    const limits = { perMinute: 2, perRecipientHour: 2 };
    await limitApplication(store.database, TEST_ACTOR, caller.applicationId, limits);
    const again = () => create(caller, '+5511987650001');
    for (const outcome of ['created', 'created', 'rate_limited'])
      expect(await again()).toMatchObject({ outcome });
    // The clock steps back: what is there is from so much later.
    await shift(caller.accountId, '30 seconds');
    const soon = await again();
    if (soon.outcome !== 'rate_limited') throw new Error(soon.outcome);
    expect(soon.windows.application!.secondsToMore).toBeLessThanOrEqual(60);
    await shift(caller.accountId, '3 hours');
    for (const outcome of ['created', 'created', 'rate_limited'])
      expect(await again()).toMatchObject({ outcome });
    expect(await again()).toMatchObject({ windows: { account: { quota: 3, left: 1 } } });
  });
});

describe('busy accounts', () => {
  const unlimited = { freeQuota: 10_000, ratePerMinute: 100_000 };
  const create = (caller: TestCaller): Promise<Creation> => createSend(store.database, newSend(caller));

  /** Holds rows by a transaction that stays open until `release`. */
  async function holding(statement: string, values: unknown[]): Promise<{ release: () => Promise<void> }> {
    const client = await store.connect();
    await client.query('begin');
    await client.query(statement, values);
    return {
      async release() {
        await client.query('rollback');
        await client.end();
      },
    };
  }

  describe.each([
    ['account', 'select from accounts where id = $1 for update', (by: TestCaller) => by.accountId],
    [
      'application',
      'select from applications where id = $1 for update',
      (by: TestCaller) => by.applicationId,
    ],
  ] as const)('while somebody holds the row of an %s', (_, statement, idOf) => {
    it('the creations of all others go on, and its own follow when the lock is released', async () => {
      const held = await buildCaller(store.database, 'live', unlimited);
      const others = await Promise.all([1, 2, 3].map(() => buildCaller(store.database, 'live', unlimited)));
      const hold = await holding(statement, [idOf(held)]);
      const own = [held, held, held].map(create);
      await until('its creations wait', async () => (await store.countLockWaits()) > 0);
      // All in one call with creations of the one that is held: none waits for it.
      for (let round = 0; round < 3; round++) {
        const mixed = await Promise.all(others.map(create));
        own.push(create(held));
        expect(mixed.map(({ outcome }) => outcome)).toEqual(['created', 'created', 'created']);
      }
      // Still held: had anybody waited for it, we would not be here.
      expect(await store.countLockWaits()).toBeGreaterThan(0);
      await hold.release();
      const made = await Promise.all(own);
      expect(new Set(made.map(({ outcome }) => outcome))).toEqual(new Set(['created']));
    });

    it('its creations give up after some seconds, and leave nothing behind', async () => {
      const held = await buildCaller(store.database, 'live', unlimited);
      const hold = await holding(statement, [idOf(held)]);
      const ends = await Promise.allSettled(Array.from({ length: 60 }, () => create(held)));
      await hold.release();
      for (const end of ends)
        expect(end).toMatchObject({ status: 'rejected', reason: expect.any(AccountBusy) });
      expect(await store.sql('select from sends where account_id = $1', [held.accountId])).toEqual([]);
      expect((await create(held)).outcome).toBe('created');
    });
  });

  it('more accounts that are held than calls may wait hold up nobody else', async () => {
    const held = await Promise.all(
      Array.from({ length: 8 }, () => buildCaller(store.database, 'live', unlimited)),
    );
    const other = await buildCaller(store.database, 'live', unlimited);
    const hold = await holding('select from accounts where id = any($1) for update', [
      held.map(({ accountId }) => accountId),
    ]);
    const own = held.map(create);
    await until('as many wait as may', async () => (await store.countLockWaits()) >= 4);
    expect((await create(other)).outcome).toBe('created');
    expect(await store.countLockWaits()).toBeLessThanOrEqual(4);
    await hold.release();
    expect(new Set((await Promise.all(own)).map(({ outcome }) => outcome))).toEqual(new Set(['created']));
  });

  describe('a creation that waited for its account', () => {
    it.each([
      [
        'its key was revoked',
        'revoked',
        (by: TestCaller) => revokeApiKey(store.database, TEST_ACTOR, by.keyId),
      ],
      [
        'its account was suspended',
        'suspended',
        (by: TestCaller) => suspendAccount(store.database, TEST_ACTOR, by.accountId, 'a test'),
      ],
    ] as const)('is refused when %s meanwhile', async (_, cause, change) => {
      const caller = await buildCaller(store.database, 'live', unlimited);
      const hold = await holding('select from applications where id = $1 for update', [caller.applicationId]);
      const waiting = create(caller);
      await until('it waits', async () => (await store.countLockWaits()) > 0);
      const changed = change(caller);
      const landed = await until('the change has landed, or waits too', async () => {
        const rows = await store.sql(
          `select from api_keys k join applications p on p.id = k.application_id join accounts a on a.id = p.account_id
           where k.id = $1 and (k.revoked_at is not null or a.suspended_at is not null)`,
          [caller.keyId],
        );
        return rows.length === 1 || ((await store.countLockWaits()) > 1 && 'waits');
      });
      await hold.release();
      await changed;
      const end = await waiting;
      // Whoever had the account's lock first: the change, and then the creation is refused, or the creation, before the change.
      expect(end).toEqual(landed === 'waits' ? expect.anything() : { outcome: 'key_refused', cause });
      expect(await create(caller)).toEqual({ outcome: 'key_refused', cause });
    });
  });
});
