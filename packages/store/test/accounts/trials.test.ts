import { changeSettings, grantCredits, readTrialSends } from '@onecode/store/accounts';
import { closeDatabase, openDatabase } from '@onecode/store/client';
import { changeSend, createSend } from '@onecode/store/sends';
import { decideCreations, failure, type FailureReason } from '@onecode/domain';
import {
  buildCaller,
  buildSend,
  newSend,
  TEST_ACTOR,
  useTestDatabase,
  type TestCaller,
} from '@onecode/testing';
import { readCreations } from '../../src/sends/readCreations.js';
import { writeCreations } from '../../src/sends/writeCreations.js';
import { sendActions } from '../sends/sendActions.js';

const store = useTestDatabase();
const { age } = sendActions(store);

async function trial(freeQuota = 100): Promise<TestCaller> {
  const caller = await buildCaller(store.database, 'live', { freeQuota, ratePerMinute: 10_000 });
  await store.sql(`update accounts set trial_countries = '{BR}' where id = $1`, [caller.accountId]);
  return caller;
}

/** Returns the outcome of a creation, or the cause of its refusal. */
async function create(caller: TestCaller, database = store.database): Promise<string> {
  const end = await createSend(database, newSend(caller));
  return 'cause' in end ? end.cause : end.outcome;
}

const fail = (id: string, reason: FailureReason = 'rejected_by_provider') =>
  changeSend(store.database, { id }, (_send, now) => ({ result: null, change: failure(reason, now) }));

/** Creates rejected sends, more than a minute apart. */
async function createRejected(caller: TestCaller, count: number): Promise<void> {
  for (let made = 0; made < count; made++) {
    const id = await buildSend(store.database, caller);
    await fail(id);
    await age(id, 120);
  }
}

describe('a trial account', () => {
  it('shares the daily pool of sends with all trial accounts, counted exactly', async () => {
    await changeSettings(store.database, TEST_ACTOR, { trialSendsPerDay: 25 });
    await store.sql(`update settings set trial_sends_on = '2026-01-01', trial_sends_of_day = 500`);
    const callers = await Promise.all(Array.from({ length: 4 }, () => trial()));
    const processes = Array.from({ length: 3 }, () => openDatabase(store.url, { connectionsMax: 4 }));

    const ends = await Promise.all(
      Array.from({ length: 60 }, (_, index) =>
        create(callers[index % callers.length]!, processes[index % processes.length]),
      ),
    );

    await Promise.all(processes.map(closeDatabase));
    expect(ends.filter((end) => end === 'created')).toHaveLength(25);
    expect(new Set(ends)).toEqual(new Set(['created', 'trial_ceiling']));
    expect(await readTrialSends(store.database)).toMatchObject({ sends: 25, perDay: 25 });
    const ordinary = await buildCaller(store.database, 'live');
    expect(await create(ordinary)).toBe('created');
    await changeSettings(store.database, TEST_ACTOR, { trialSendsPerDay: 500 });
  });

  it('writes no send of a batch in which the trial accounts exceed the pool together, and all other sends', async () => {
    await store.sql(`update settings set trial_sends_per_day = 1, trial_sends_of_day = 0`);
    const callers = [await trial(), await trial(), await buildCaller(store.database, 'live')];
    const sends = callers.map((caller) => newSend(caller));
    const { created } = decideCreations(sends, await readCreations(store.database, sends));
    expect(created.size).toBe(3);
    const lost = await writeCreations(store.database, created);
    expect([...lost].toSorted()).toEqual([callers[0]!.accountId, callers[1]!.accountId].toSorted());
    const ends = await Promise.all(callers.map((caller) => create(caller)));
    expect(ends.toSorted()).toEqual(['created', 'created', 'trial_ceiling']);
    await changeSettings(store.database, TEST_ACTOR, { trialSendsPerDay: 500 });
  });

  it('creates exactly its daily share of live sends, and leaves the rest of the pool to other accounts', async () => {
    await changeSettings(store.database, TEST_ACTOR, { trialAccountSendsPerDay: 7 });
    const caller = await trial();
    const second = await buildCaller(store.database, 'live', { id: caller.accountId });
    const processes = Array.from({ length: 3 }, () => openDatabase(store.url, { connectionsMax: 4 }));

    const ends = await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        create(index % 2 === 0 ? caller : second, processes[index % processes.length]),
      ),
    );

    await Promise.all(processes.map(closeDatabase));
    expect(ends.filter((end) => end === 'created')).toHaveLength(7);
    expect(new Set(ends)).toEqual(new Set(['created', 'trial_share']));
    expect(await create(await trial())).toBe('created');
    await changeSettings(store.database, TEST_ACTOR, { trialAccountSendsPerDay: 20 });
  });

  it('does not regain its share when sends fail', async () => {
    await changeSettings(store.database, TEST_ACTOR, { trialAccountSendsPerDay: 3 });
    const caller = await trial(1);
    for (let made = 0; made < 3; made++) await fail(await buildSend(store.database, caller));
    expect(await create(caller)).toBe('trial_share');
    await changeSettings(store.database, TEST_ACTOR, { trialAccountSendsPerDay: 20 });
  });

  it('creates one live send per minute after WhatsApp rejected most of its latest sends', async () => {
    const caller = await trial();
    await createRejected(caller, 4);
    expect(await create(caller)).toBe('created');
    const fifth = await buildSend(store.database, caller);
    await fail(fifth);

    const refused = await createSend(store.database, newSend(caller));
    expect(refused).toMatchObject({ outcome: 'rate_limited', cause: 'trial_failures' });
    expect('retryAfterSeconds' in refused && refused.retryAfterSeconds).toBeGreaterThan(50);

    await store.sql(
      `update sends set created_at = created_at - interval '61 seconds' where account_id = $1`,
      [caller.accountId],
    );
    const ends = await Promise.all(Array.from({ length: 5 }, () => create(caller)));
    expect(ends.toSorted()).toEqual(['created', ...Array<string>(4).fill('trial_failures')]);
  });

  it('is not slowed down after sends that expired or exhausted their attempts', async () => {
    const caller = await trial();
    for (const reason of ['expired_before_delivery', 'attempts_exhausted'] as const)
      for (let made = 0; made < 4; made++) await fail(await buildSend(store.database, caller), reason);
    expect(await create(caller)).toBe('created');
  });

  it('has no trial limits after its first credit grant', async () => {
    await changeSettings(store.database, TEST_ACTOR, { trialAccountSendsPerDay: 6 });
    const caller = await trial();
    await createRejected(caller, 5);
    await buildSend(store.database, caller);
    expect(await create(caller)).toBe('trial_share');
    await grantCredits(store.database, TEST_ACTOR, caller.accountId, 5, 'paid');
    expect(await create(caller)).toBe('created');
    await changeSettings(store.database, TEST_ACTOR, { trialAccountSendsPerDay: 20 });
  });
});
