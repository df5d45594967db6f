import fc from 'fast-check';
import { expireCredits, grantCredits, GrantIdTaken } from '@onecode/store/accounts';
import { findBalance, listLedger, readStatement, verifyLedger } from '@onecode/store/reports';
import { createSend } from '@onecode/store/sends';
import { buildAccount, buildCaller, buildSend, newSend, TEST_ACTOR, useTestDatabase } from '@onecode/testing';
import { sendActions } from '../sends/sendActions.js';

const store = useTestDatabase();

const NEVER = Number.POSITIVE_INFINITY;
/** The times at which the model's credits expire. */
const TIMES = [1, 2, 3];
const dateOf = (time: number): Date => new Date(Date.UTC(2090, 0, time));

const grant = (accountId: string, amount: number, expiresAt: Date | null = null, reference = 'INV-1') =>
  grantCredits(store.database, TEST_ACTOR, accountId, amount, 'paid', { expiresAt, reference });

/**
 * Expires the credits that are due by a time. It moves their expiry a second into the past, because stored times are rounded to
 * milliseconds and may be rounded up.
 */
async function reach(accountId: string, time: number): Promise<void> {
  await store.sql(
    `update credit_grants set expires_at = expires_at - ($2::timestamptz - clock_timestamp()) - interval '1 second'
     where account_id = $1 and expires_at <= $2`,
    [accountId, dateOf(time)],
  );
  await expireCredits(store.database);
}

const { fail } = sendActions(store);

const creditsOf = async (accountId: string): Promise<number> =>
  (await findBalance(store.database, accountId))!.credits;

const expiringOf = async (accountId: string): Promise<[number, number][]> =>
  (await findBalance(store.database, accountId))!.expiring.map(({ at, units }) => [at.getUTCDate(), units]);

describe('credits that expire', () => {
  it('are used before credits that expire later or never, and expire only if they are unused', async () => {
    const caller = await buildCaller(store.database, 'live', { freeQuota: 0 });
    const { accountId } = caller;
    await grant(accountId, 5);
    await grant(accountId, 4, dateOf(2));
    await grant(accountId, 3, dateOf(1));
    for (let made = 0; made < 4; made++) await buildSend(store.database, caller);
    expect(await expiringOf(accountId)).toEqual([[2, 3]]);
    await reach(accountId, 1);
    expect(await creditsOf(accountId)).toBe(8);
    await reach(accountId, 2);
    expect(await creditsOf(accountId)).toBe(5);

    const { entries } = await listLedger(store.database, accountId, { limit: 20 });
    expect(entries.filter(({ kind }) => kind === 'expired')).toMatchObject([
      { bucket: 'credit', change: -3, reason: null, balance: { credits: 5 } },
    ]);
    expect(entries.find(({ change }) => change === 3)).toMatchObject({
      kind: 'granted',
      reference: 'INV-1',
      expiresAt: dateOf(1),
    });
    const [from, to] = [new Date(Date.now() - 60_000), new Date(Date.now() + 60_000)];
    expect(await readStatement(store.database, accountId, from, to)).toMatchObject({
      opening: { credit: 0 },
      granted: { credit: 12 },
      reserved: { credit: 4 },
      expired: { credit: 3 },
      closing: { credit: 5 },
      grants: [{ expiresAt: dateOf(1) }, { expiresAt: dateOf(2) }, { expiresAt: null }],
    });
  });

  it('are used first even after a refund of credits that never expire', async () => {
    const caller = await buildCaller(store.database, 'live', { freeQuota: 0 });
    const { accountId } = caller;
    await grant(accountId, 2, dateOf(2));
    const id = await buildSend(store.database, caller);
    await grant(accountId, 1, dateOf(3));
    await fail(id);
    await grant(accountId, 1, dateOf(1));
    for (let made = 0; made < 2; made++) await buildSend(store.database, caller);
    expect(await expiringOf(accountId)).toEqual([[3, 1]]);
    await reach(accountId, 3);
    expect(await creditsOf(accountId)).toBe(1);
  });

  it('match a model for any order of grants, uses, refunds and expiries', async () => {
    const step = fc.oneof(
      fc.record({ grant: fc.integer({ min: 1, max: 4 }), at: fc.constantFrom(...TIMES, NEVER) }),
      fc.record({ use: fc.integer({ min: 1, max: 3 }) }),
      fc.constant('return' as const),
      fc.record({ reach: fc.constantFrom(...TIMES) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 14 }), async (steps) => {
        const caller = await buildCaller(store.database, 'live', { freeQuota: 0 });
        const { accountId } = caller;
        const grants = new Map<number, number>();
        const sends: string[] = [];
        let net = 0;
        /** Takes used units from the grants that expire first; a surplus of refunds never expires. */
        const settle = (): void => {
          for (const [time, units] of [...grants].toSorted(([one], [other]) => one - other)) {
            const taken = Math.min(units, Math.max(net, 0));
            grants.set(time, units - taken);
            net -= taken;
          }
          grants.set(NEVER, (grants.get(NEVER) ?? 0) - net);
          net = 0;
        };
        const total = (): number => [...grants.values()].reduce((sum, units) => sum + units, 0) - net;
        for (const one of steps) {
          if (one === 'return') {
            const id = sends.shift();
            if (id === undefined) continue;
            await fail(id);
            net -= 1;
          } else if ('grant' in one) {
            settle();
            grants.set(one.at, (grants.get(one.at) ?? 0) + one.grant);
            await grant(accountId, one.grant, one.at === NEVER ? null : dateOf(one.at));
          } else if ('use' in one) {
            for (let made = 0; made < one.use && total() > 0; made++) {
              sends.push(await buildSend(store.database, caller));
              net += 1;
            }
          } else {
            const due = TIMES.filter((time) => time <= one.reach && grants.has(time));
            if (due.length === 0) continue;
            settle();
            for (const time of due) grants.delete(time);
            await reach(accountId, one.reach);
          }
          expect(await creditsOf(accountId)).toBe(total());
        }
        settle();
        const expiring = TIMES.map((time) => [time, grants.get(time) ?? 0]).filter(
          ([, units]) => units !== 0,
        );
        expect(await expiringOf(accountId)).toEqual(expiring);
      }),
      { numRuns: process.env['ALL_TESTS'] === '1' ? 40 : 15 },
    );
    expect((await verifyLedger(store.database, 10)).faults).toEqual([]);
  });

  it('are counted exactly during concurrent expiries, grants and creations', async () => {
    const caller = await buildCaller(store.database, 'live', { freeQuota: 0, ratePerMinute: 10_000 });
    const { accountId } = caller;
    await grant(accountId, 20);
    await grant(accountId, 20, new Date(Date.now() + 300));
    const ends = await Promise.all(
      Array.from({ length: 60 }, async (_, index) => {
        if (index % 10 === 0) await grant(accountId, 1, new Date(Date.now() + 50));
        if (index % 3 === 0) await expireCredits(store.database);
        return (await createSend(store.database, newSend(caller))).outcome;
      }),
    );
    await store.sql(
      "update credit_grants set expires_at = expires_at - interval '1 hour' where account_id = $1",
      [accountId],
    );
    await Promise.all(Array.from({ length: 5 }, () => expireCredits(store.database)));
    const { entries } = await listLedger(store.database, accountId, { limit: 100 });
    const sum = (kind: string): number =>
      entries.reduce((units, entry) => units + (entry.kind === kind ? entry.change : 0), 0);
    const created = ends.filter((end) => end === 'created').length;
    expect(sum('reserved')).toBe(-created);
    expect(sum('granted')).toBe(46);
    const left = await creditsOf(accountId);
    expect(left).toBe(46 + sum('reserved') + sum('expired'));
    expect(left).toBeLessThanOrEqual(20);
    expect((await verifyLedger(store.database, 10)).faults).toEqual([]);
    const rows = await store.sql('select expires_at from credit_grants where account_id = $1', [accountId]);
    expect(rows).toEqual([{ expires_at: null }]);
  });

  it('are granted once per grant id, and refused with another reference or expiry', async () => {
    const id = await buildAccount(store.database);
    const terms = { grantId: id, reference: 'INV-7', expiresAt: dateOf(1) };
    const granted = (more: object = {}) =>
      grantCredits(store.database, TEST_ACTOR, id, 5, 'paid', { ...terms, ...more });
    expect((await granted())!.credits).toBe(5);
    expect((await granted())!.credits).toBe(5);
    for (const other of [
      { reference: null },
      { reference: 'INV-8' },
      { expiresAt: dateOf(2) },
      { expiresAt: null },
    ])
      await expect(granted(other)).rejects.toBeInstanceOf(GrantIdTaken);
    expect(await expiringOf(id)).toEqual([[1, 5]]);
  });
});
