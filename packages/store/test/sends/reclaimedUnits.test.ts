import { failure } from '@onecode/domain';
import { findAccount, grantCredits } from '@onecode/store/accounts';
import { closeDatabase, newId, openDatabase } from '@onecode/store/client';
import { listLedger, overview, readStatement, verifyLedger } from '@onecode/store/reports';
import { changeSend, createSend, verifySend } from '@onecode/store/sends';
import {
  buildCaller,
  buildSend,
  buildSender,
  judgementOf,
  newSend,
  TEST_ACTOR,
  useTestDatabase,
  type TestCaller,
} from '@onecode/testing';
import { accepted, CODE, guessOf, sendActions, workerActions } from './sendActions.js';

const UNKNOWN = { kind: 'unknown', errorCode: null, reason: 'no answer' } as const;
const REFUSED = { kind: 'recipient', errorCode: 131026, reason: 'undeliverable' } as const;

const store = useTestDatabase();
const { verify, fail } = sendActions(store);
let sender: Awaited<ReturnType<typeof buildSender>>;
beforeAll(async () => {
  sender = await buildSender(store.database);
});
const { claimSend, settleSend } = workerActions(store, () => sender);

let recipients = 0;

/** A send with a message that the provider accepted. */
async function sent(caller: TestCaller): Promise<string> {
  const recipient = `+5511986${String(recipients++).padStart(6, '0')}`;
  const id = await buildSend(store.database, caller, { code: CODE, recipient });
  await claimSend(id);
  await settleSend(id, 1, accepted(`wamid.${newId()}`));
  return id;
}

/** A send with a message that the provider accepted and then reported as failed. */
async function failed(caller: TestCaller): Promise<string> {
  const id = await sent(caller);
  await fail(id);
  return id;
}

async function failedSends(caller: TestCaller, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let made = 0; made < count; made++) ids.push(await failed(caller));
  return ids;
}

const balance = async ({ accountId }: TestCaller): Promise<[freeQuota: number, credits: number]> => {
  const { freeQuota, credits } = (await findAccount(store.database, accountId))!;
  return [freeQuota, credits];
};
const create = async (caller: TestCaller) => (await createSend(store.database, newSend(caller))).outcome;
const entriesOf = (id: string) =>
  store.sql('select kind, bucket, units from ledger_entries where send_id = $1 order by id', [id]);

afterEach(async () => {
  const { faults } = await verifyLedger(store.database, 10);
  if (faults.length > 0) throw new Error(`the ledger has faults: ${JSON.stringify(faults)}`);
});

describe('the unit of a failed send', () => {
  it('is reclaimed once when the code is verified, while the send stays failed', async () => {
    const caller = await buildCaller(store.database, 'live', { freeQuota: 1, credits: 0 });
    const id = await failed(caller);
    expect(await balance(caller)).toEqual([1, 0]);

    expect(await verify(caller, id, CODE)).toEqual({
      valid: true,
      verification: 'verified',
      attemptsLeft: 0,
    });
    expect(await verify(caller, id, CODE)).toMatchObject({ valid: false, verification: 'verified' });

    expect(await balance(caller)).toEqual([0, 0]);
    expect(await store.sql('select status from sends where id = $1', [id])).toEqual([{ status: 'failed' }]);
    expect(await entriesOf(id)).toEqual(
      ['reserved', 'returned', 'reclaimed'].map((kind) => ({ kind, bucket: 'free_quota', units: 1 })),
    );
    expect(await create(caller)).toBe('insufficient_credits');
  });

  it('is reclaimed without a delay of other accounts’ guesses while its account is locked', async () => {
    const [held, other] = [
      await buildCaller(store.database, 'live'),
      await buildCaller(store.database, 'live'),
    ];
    const heldId = await failed(held);
    const otherId = await buildSend(store.database, other, { code: CODE });
    const client = await store.connect();
    await client.query('begin');
    await client.query('select from accounts where id = $1 for no key update', [held.accountId]);
    // The guess of the locked account comes first, so that both would be in one batch.
    const reclaiming = verify(held, heldId, CODE);
    expect((await verify(other, otherId, CODE)).valid).toBe(true);
    expect(await store.countLockWaits()).toBe(1);
    await client.query('rollback');
    await client.end();
    expect((await reclaiming).valid).toBe(true);
    expect((await entriesOf(heldId)).at(-1)).toMatchObject({ kind: 'reclaimed' });
  });

  it('stays refunded after wrong codes', async () => {
    const caller = await buildCaller(store.database, 'live', { freeQuota: 1, credits: 0 });
    const id = await failed(caller);
    for (let guess = 0; guess < 5; guess++) await verify(caller, id, '999999');
    expect(await verify(caller, id, CODE)).toMatchObject({ valid: false, verification: 'locked' });
    expect(await balance(caller)).toEqual([1, 0]);
  });

  it('stays refunded if WhatsApp rejected every call, because a caller that chose the code also knows it', async () => {
    const caller = await buildCaller(store.database, 'live', { freeQuota: 1, credits: 0 });
    const id = await buildSend(store.database, caller, { code: CODE });
    await claimSend(id);
    await settleSend(id, 1, REFUSED);
    expect(await verify(caller, id, CODE)).toMatchObject({ valid: true });
    expect(await balance(caller)).toEqual([1, 0]);
  });

  it('is reclaimed from the other bucket if its own is empty', async () => {
    const caller = await buildCaller(store.database, 'live', { freeQuota: 1, credits: 1 });
    const id = await failed(caller);
    await sent(caller);
    expect(await balance(caller)).toEqual([0, 1]);
    await verify(caller, id, CODE);
    expect(await balance(caller)).toEqual([0, 0]);
  });

  it('is owed if the account has no units, so that false failures do not make sends free', async () => {
    const caller = await buildCaller(store.database, 'live', { freeQuota: 3, credits: 0 });
    const first = await failedSends(caller, 3);
    const second = await failedSends(caller, 3);
    for (let made = 0; made < 2; made++) await sent(caller);
    for (const id of [...first, ...second]) expect((await verify(caller, id, CODE)).valid).toBe(true);

    expect(await balance(caller)).toEqual([-5, 0]);
    expect(await create(caller)).toBe('insufficient_credits');
    await grantCredits(store.database, TEST_ACTOR, caller.accountId, 5, 'pays what it owes');
    expect(await create(caller)).toBe('insufficient_credits');
    await grantCredits(store.database, TEST_ACTOR, caller.accountId, 2, 'two more');
    expect([await create(caller), await create(caller), await create(caller)]).toEqual([
      'created',
      'created',
      'insufficient_credits',
    ]);
  });

  it('is not refunded if the code was verified before the failure and a message may have arrived', async () => {
    const caller = await buildCaller(store.database, 'live', { freeQuota: 1, credits: 0 });
    const id = await buildSend(store.database, caller, { code: CODE });
    await claimSend(id);
    await settleSend(id, 1, UNKNOWN);
    await verify(caller, id, CODE);
    await fail(id);
    expect(await balance(caller)).toEqual([0, 0]);
    expect(await entriesOf(id)).toEqual([{ kind: 'reserved', bucket: 'free_quota', units: 1 }]);
  });

  it('is refunded if the code was verified before any message was sent', async () => {
    const caller = await buildCaller(store.database, 'live', { freeQuota: 1, credits: 0 });
    const id = await buildSend(store.database, caller, { code: CODE });
    await verify(caller, id, CODE);
    await fail(id);
    expect(await balance(caller)).toEqual([1, 0]);
  });

  it('is charged exactly once for concurrent verifications and failures', async () => {
    const callers = [
      await buildCaller(store.database, 'live', { freeQuota: 20, credits: 20 }),
      await buildCaller(store.database, 'live', { freeQuota: 20, credits: 20 }),
    ];
    const sends: { caller: TestCaller; id: string; isFailed: boolean }[] = [];
    for (let made = 0; made < 40; made++) {
      const caller = callers[made % 2]!;
      const isFailed = made % 3 === 0;
      sends.push({ caller, id: await (isFailed ? failed(caller) : sent(caller)), isFailed });
    }
    const before = await Promise.all(callers.map(balance));
    const processes = Array.from({ length: 3 }, () => openDatabase(store.url, { connectionsMax: 4 }));
    const guess = async ({ caller, id }: (typeof sends)[number], n: number) =>
      judgementOf(await verifySend(processes[n % 3]!, guessOf(caller, id, CODE)));

    const ends = await Promise.all(
      sends.flatMap((one) => [
        ...(one.isFailed
          ? []
          : [
              changeSend(processes[0]!, { id: one.id }, (send, now) =>
                send.status === 'failed'
                  ? { result: null }
                  : { result: null, change: failure('attempts_exhausted', now) },
              ),
            ]),
        ...[0, 1, 2].map((n) => guess(one, n)),
      ]),
    );

    await Promise.all(processes.map(closeDatabase));
    expect(ends.filter((end) => end !== null && end.valid)).toHaveLength(sends.length);
    const charged = sends.filter(({ isFailed }) => isFailed).length;
    const sum = (all: number[][]): number => all.flat().reduce((total, units) => total + units, 0);
    // Every code was verified, so every send holds its unit, whether it failed before or after the verification.
    expect(sum(await Promise.all(callers.map(balance)))).toBe(sum(before) - charged);
  });

  it('is listed as reclaimed in the ledger and in the statement, and counted in the overview', async () => {
    const caller = await buildCaller(store.database, 'live', { freeQuota: 1, credits: 0 });
    await verify(caller, await failed(caller), CODE);
    const { entries } = await listLedger(store.database, caller.accountId, { limit: 1 });
    expect(entries).toMatchObject([{ kind: 'reclaimed', change: -1, balance: { freeQuota: 0, credits: 0 } }]);
    const hour = 3_600_000;
    const [from, to] = [new Date(Date.now() - hour), new Date(Date.now() + hour)];
    expect(await readStatement(store.database, caller.accountId, from, to)).toMatchObject({
      reserved: { free_quota: 1 },
      returned: { free_quota: 1 },
      reclaimed: { free_quota: 1 },
      closing: { free_quota: 0 },
    });
    const span = { from, to, bucket: 'hour', timeZone: 'UTC' } as const;
    expect(await overview(store.database, caller.accountId, span)).toMatchObject({
      totals: { failed: 1, verified: 1 },
      failedVerified: 1,
    });
  });
});
