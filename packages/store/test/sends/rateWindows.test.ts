import { decideCreations, type CreationDecision, type NewSend, type RateWindow } from '@onecode/domain';
import { changeApplication } from '@onecode/store/accounts';
import type { Creation } from '@onecode/store/sends';
import {
  buildCaller,
  earlierMinute,
  newSend,
  TEST_ACTOR,
  useTestDatabase,
  type TestCaller,
} from '@onecode/testing';
import fc from 'fast-check';
import { readCreations } from '../../src/sends/readCreations.js';
import { writeCreations } from '../../src/sends/writeCreations.js';

const store = useTestDatabase();

const MINUTE = 60_000_000n;
const HOUR = 60n * MINUTE;
const DEFAULT_RATE = 600;

type Window = [quota: number, left: number, seconds: number];

/** How one request ended. */
interface Result {
  outcome: Creation['outcome'];
  cause: string | null;
  retryAfterSeconds: number | null;
  account: Window | null;
  application: Window | null;
  recipient: Window | null;
}

const windowOf = (windows: readonly RateWindow[], limit: RateWindow['limit']): Window | null => {
  const window = windows.find((one) => one.limit === limit);
  return window === undefined
    ? null
    : [window.quota, Math.max(window.left, 0), Math.ceil(window.opensInMs / 1000)];
};

const resultOf = (decision: CreationDecision): Result => {
  const windows = 'windows' in decision ? decision.windows : [];
  return {
    outcome: decision.outcome,
    cause: 'cause' in decision ? decision.cause : null,
    retryAfterSeconds: 'retryAfterSeconds' in decision ? decision.retryAfterSeconds : null,
    account: windowOf(windows, 'account'),
    application: windowOf(windows, 'application'),
    recipient: windowOf(windows, 'recipient'),
  };
};

/** Creates these sends in one batch. @returns the results, and the database's clock in microseconds */
async function createTogether(sends: readonly NewSend[]): Promise<{ results: Result[]; now: bigint }> {
  const states = await readCreations(store.database, sends);
  const { decisions, created } = decideCreations(sends, states);
  expect((await writeCreations(store.database, created)).size).toBe(0);
  return { results: decisions.map(resultOf), now: BigInt(states[0]!.now) * 1000n };
}

interface Answers {
  given: Result[];
  answers: Result[];
}

/** A send that the model has created. */
interface Made {
  applicationId: string;
  recipient: string;
  key: string | null;
  /** The hash of the body; null without a key. */
  hash: string | null;
  at: bigint;
  /** The counters of its account and of its application. */
  counters: [Counter, Counter];
}

/** All sends of one second share a counter. It has the time of the last of them, and they leave the window together. */
interface Counter {
  at: bigint;
}

interface Account {
  /** Null for the default rate. */
  rate: number | null;
  units: number;
  sends: Made[];
}

interface Limits {
  perMinute: number | null;
  perRecipientHour: number | null;
}

const seconds = (microseconds: bigint): number => Number((microseconds + 999_999n) / 1_000_000n);

/** Returns the state of a limit at a time, by counting all sends. */
function counted(quota: number, length: bigint, times: readonly bigint[], now: bigint) {
  const inside = times.filter((at) => at + length > now);
  const left = Math.max(0, quota - inside.length);
  const leaves = inside.toSorted((a, b) => (a < b ? -1 : 1)).at(left > 0 ? 0 : -quota) ?? now;
  const opensAt = leaves + length;
  const windowAfter = (taken: number): Window => [quota, left - taken, seconds(opensAt - now)];
  return { opensAt, isFull: left === 0, windowAfter };
}

const SECOND = 1_000_000n;
/** Lets a new send share the counter of the previous one if both are in the same second. */
function shareCounter(made: Made, which: 0 | 1, before: Made | undefined, now: bigint): void {
  const last = before?.counters[which];
  if (last === undefined || last.at + MINUTE <= now || last.at / SECOND !== now / SECOND) return;
  last.at = now;
  made.counters[which] = last;
}

/** Returns the expected result of one request. A created send counts for later requests. */
function expected(account: Account, limits: Limits, mode: string, send: NewSend, now: bigint): Result {
  const { applicationId, recipient } = send;
  const key = send.idempotency === null ? null : Buffer.from(send.idempotency.key, 'hex').toString();
  const nothing = { cause: null, retryAfterSeconds: null };
  const own = account.sends.filter((one) => one.applicationId === applicationId);
  const hash = send.idempotency?.bodyHashes[0] ?? null;
  const known = key === null ? undefined : own.find((one) => one.key === key);
  if (known !== undefined)
    return {
      outcome: known.hash === hash ? 'existing' : 'reused',
      ...nothing,
      account: null,
      application: null,
      recipient: null,
    };
  const toRecipient = own.filter((one) => one.recipient === recipient);
  const windows = {
    account: counted(
      account.rate ?? DEFAULT_RATE,
      MINUTE,
      account.sends.map(({ counters: [{ at }] }) => at),
      now,
    ),
    application:
      limits.perMinute === null
        ? null
        : counted(
            limits.perMinute,
            MINUTE,
            own.map(({ counters: [, { at }] }) => at),
            now,
          ),
    recipient:
      limits.perRecipientHour === null
        ? null
        : counted(
            limits.perRecipientHour,
            HOUR,
            toRecipient.map(({ at }) => at),
            now,
          ),
  };
  let opensAt = now;
  let cause: string | null = null;
  for (const [name, window] of Object.entries(windows))
    if (window?.isFull === true && window.opensAt > opensAt) {
      ({ opensAt } = window);
      cause = `${name}_rate`;
    }
  const hasUnit = mode === 'test' || account.units > 0;
  const outcome = cause !== null ? 'rate_limited' : hasUnit ? 'created' : 'insufficient_credits';
  const taken = outcome === 'created' ? 1 : 0;
  if (taken === 1) {
    const counters: Made['counters'] = [{ at: now }, { at: now }];
    const made: Made = { applicationId, recipient, key, hash, at: now, counters };
    const before = [account.sends.at(-1), own.at(-1)] as const;
    for (const which of [0, 1] as const) shareCounter(made, which, before[which], now);
    account.sends.push(made);
    if (mode === 'live') account.units -= 1;
  }
  return {
    outcome,
    cause,
    retryAfterSeconds: cause === null ? null : seconds(opensAt - now),
    account: windows.account.windowAfter(taken),
    application: windows.application?.windowAfter(taken) ?? null,
    recipient: windows.recipient?.windowAfter(taken) ?? null,
  };
}

/** Two accounts, each with an application in each mode, and the model's state of them. */
class Model {
  private constructor(
    private readonly callers: readonly TestCaller[],
    private readonly accounts: ReadonlyMap<string, Account>,
    private readonly limits: Map<string, Limits>,
  ) {}

  static async make(): Promise<Model> {
    const callers: TestCaller[] = [];
    const accounts = new Map<string, Account>();
    for (const units of [1_000, 12]) {
      const test = await buildCaller(store.database, 'test', { freeQuota: units });
      const live = await buildCaller(store.database, 'live', { id: test.accountId });
      callers.push(test, live);
      accounts.set(test.accountId, { rate: null, units, sends: [] });
    }
    const off = { perMinute: null, perRecipientHour: null };
    return new Model(
      callers,
      accounts,
      new Map(callers.map(({ applicationId }) => [applicationId, { ...off }])),
    );
  }

  /** Creates sends in one batch. @returns the actual results, and those of the model */
  async create(
    requests: readonly { caller: number; recipient: number; key: number | null; body: string }[],
  ): Promise<Answers> {
    const sends = requests.map(({ caller, recipient, key, body }) =>
      newSend(this.callers[caller]!, {
        recipient: `+551198765000${recipient}`,
        ...(key !== null && { idempotencyKey: `key ${key}`, body }),
      }),
    );
    const { results, now } = await createTogether(sends);
    const answers = sends.map((send, index) => {
      const account = this.accounts.get(send.accountId)!;
      const limits = this.limits.get(send.applicationId)!;
      return expected(account, limits, this.callers[requests[index]!.caller]!.mode, send, now);
    });
    return { given: results, answers };
  }

  async limitAccount(which: number, rate: number | null): Promise<void> {
    const [id, account] = [...this.accounts][which]!;
    await store.sql('update accounts set rate_per_minute = $2 where id = $1', [id, rate]);
    account.rate = rate;
  }

  async limitApplication(which: number, limits: Limits): Promise<void> {
    const { applicationId } = this.callers[which]!;
    await changeApplication(store.database, TEST_ACTOR, applicationId, limits);
    this.limits.set(applicationId, limits);
  }

  /** Makes all sends older by this time, in whole milliseconds, because the columns have no finer resolution. */
  async age(microseconds: number): Promise<void> {
    await store.sql(
      `update sends set created_at = created_at - make_interval(secs => $2::double precision / 1000000) where account_id = any ($1)`,
      [[...this.accounts.keys()], microseconds],
    );
    for (const [table, column] of [
      ['accounts', 'id'],
      ['applications', 'account_id'],
    ])
      await store.sql(
        `update ${table} set minute_sends = ${earlierMinute('$2::double precision / 1000000')} where ${column} = any ($1)`,
        [[...this.accounts.keys()], microseconds],
      );
    for (const { sends } of this.accounts.values()) {
      for (const send of sends) send.at -= BigInt(microseconds);
      for (const counter of new Set(sends.flatMap(({ counters }) => counters)))
        counter.at -= BigInt(microseconds);
    }
  }
}

const orNull = (values: readonly number[]) => fc.constantFrom<number | null>(null, ...values);
const request = fc.record({
  caller: fc.nat(3),
  recipient: fc.nat(2),
  key: fc.oneof({ weight: 4, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: fc.nat(4) }),
  body: fc.constantFrom('{}', '{}', '{ }'),
});
type Step = (model: Model) => Promise<Answers | void>;
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.array(request, { minLength: 1, maxLength: 9 }).map(
      (requests): Step =>
        (model) =>
          model.create(requests),
    ),
  },
  {
    weight: 4,
    arbitrary: fc.integer({ min: 1, max: 61_000 }).map(
      (time): Step =>
        (model) =>
          model.age(time * 1_000),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.integer({ min: 600_000, max: 3_601_000 }).map(
      (time): Step =>
        (model) =>
          model.age(time * 1_000),
    ),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(fc.nat(1), orNull([1, 2, 3, 5, 8, 13])).map(
      ([which, rate]): Step =>
        (model) =>
          model.limitAccount(which, rate),
    ),
  },
  {
    weight: 3,
    arbitrary: fc.tuple(fc.nat(3), orNull([1, 2, 4, 7]), orNull([1, 2, 3])).map(
      ([which, perMinute, perRecipientHour]): Step =>
        (model) =>
          model.limitApplication(which, { perMinute, perRecipientHour }),
    ),
  },
);

describe('rate windows', () => {
  beforeAll(() => store.sql('update settings set guess_budget = null'));

  it('lead to the same results as a count of all sends, for any change of limits and times', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 40 }), async (steps) => {
        const model = await Model.make();
        for (const run of steps) {
          const outcome = await run(model);
          if (outcome !== undefined) expect(outcome.given).toEqual(outcome.answers);
        }
      }),
      // Limits the time of the search for a smaller counterexample.
      { numRuns: 10, interruptAfterTimeLimit: 30_000 },
    );
  }, 60_000);

  it('have at most 62 entries, and a refusal writes nothing', async () => {
    const caller = await buildCaller(store.database, 'test', { ratePerMinute: 70 });
    const readRow = async (): Promise<{ times: [number, number][]; xmin: string }> => {
      const [row] = await store.sql<{ times: [number, number][]; xmin: string }>(
        'select minute_sends as times, xmin::text from accounts where id = $1',
        [caller.accountId],
      );
      return row!;
    };
    for (let second = 0; second < 70; second++) {
      expect((await createTogether([newSend(caller)])).results).toMatchObject([{ outcome: 'created' }]);
      await store.sql(`update accounts set minute_sends = ${earlierMinute('1')} where id = $1`, [
        caller.accountId,
      ]);
    }
    const { times } = await readRow();
    expect(times.length).toBeLessThanOrEqual(62);
    expect(times.length).toBeGreaterThan(55);
    await store.sql('update accounts set rate_per_minute = 1 where id = $1', [caller.accountId]);
    const before = await readRow();
    const [refused] = (await createTogether([newSend(caller)])).results;
    expect(refused).toMatchObject({ outcome: 'rate_limited', cause: 'account_rate' });
    expect(refused!.retryAfterSeconds).toBeLessThanOrEqual(60);
    expect(await readRow()).toEqual(before);
  });

  it('block for at most two windows after the clock stepped back', async () => {
    const caller = await buildCaller(store.database, 'test', { ratePerMinute: 3 });
    await changeApplication(store.database, TEST_ACTOR, caller.applicationId, {
      perMinute: 2,
      perRecipientHour: 2,
    });
    const create = async (): Promise<Result> =>
      (await createTogether([newSend(caller, { recipient: '+5511987650001' })])).results[0]!;
    /** Simulates a clock that steps back: all stored times are later by this interval. */
    const stepBack = async (length: string): Promise<void> => {
      await store.sql(
        `update sends set created_at = created_at + $2::interval, expires_at = expires_at + $2::interval where account_id = $1`,
        [caller.accountId, length],
      );
      for (const [table, column] of [
        ['accounts', 'id'],
        ['applications', 'account_id'],
      ])
        await store.sql(
          `update ${table} set minute_sends = ${earlierMinute("-date_part('epoch', $2::interval)")} where ${column} = $1`,
          [caller.accountId, length],
        );
    };
    for (const outcome of ['created', 'created', 'rate_limited'])
      expect(await create()).toMatchObject({ outcome });
    await stepBack('30 seconds');
    const soon = await create();
    expect(soon).toMatchObject({ outcome: 'rate_limited', application: [2, 0, expect.any(Number)] });
    expect(soon.application![2]).toBeLessThanOrEqual(60);
    await stepBack('3 hours');
    for (const outcome of ['created', 'created', 'rate_limited'])
      expect(await create()).toMatchObject({ outcome });
    expect((await create()).account).toEqual([3, 1, expect.any(Number)]);
  });
});
