import { groupBy, ofEachSend, sum, type Invariant } from './facts.js';
import type { LedgerRow } from '../evidence.js';

const BUCKETS = ['free_quota', 'credit'] as const;

const unitsAddUp: Invariant = {
  name: 'units-add-up',
  promise:
    'Units granted = units left + units on live sends that did not fail, in each bucket of each account.',
  find({ rows, sends }) {
    const grants = groupBy(
      rows.ledger.filter(({ kind }) => kind === 'granted'),
      ({ accountId }) => accountId,
    );
    const holding = groupBy(
      sends.map(({ row }) => row).filter(({ status }) => status !== 'failed'),
      ({ accountId }) => accountId,
    );
    return rows.accounts.flatMap((account) =>
      BUCKETS.flatMap((bucket) => {
        const of = (entry: LedgerRow): number => (entry.bucket === bucket ? entry.units : 0);
        const given = sum((grants.get(account.id) ?? []).map(of));
        const left = bucket === 'free_quota' ? account.freeQuota : account.credits;
        const held = (holding.get(account.id) ?? []).filter(
          ({ chargedFrom }) => chargedFrom === bucket,
        ).length;
        return given === left + held
          ? []
          : [`account ${account.id}: ${bucket} granted ${given}, left ${left}, on sends ${held}`];
      }),
    );
  },
};

/** Whether the entries are exactly one unit of this bucket and account. */
function isOne(entries: readonly LedgerRow[], accountId: string, bucket: string | null): boolean {
  const [entry] = entries;
  return (
    entries.length === 1 && entry?.units === 1 && entry.bucket === bucket && entry.accountId === accountId
  );
}

const reservedOnce = ofEachSend(
  'reserved-once',
  'A live send reserved exactly one unit, from the bucket that its row names.',
  ({ row, ledger }) => {
    const reserved = ledger.filter(({ kind }) => kind === 'reserved');
    return [
      row.mode === 'live' &&
        !isOne(reserved, row.accountId, row.chargedFrom) &&
        `${reserved.length} reservations, row says ${row.chargedFrom}`,
    ];
  },
);

const returnedOnce = ofEachSend(
  'returned-once',
  'A failed live send gave its unit back exactly once, to its bucket; no other send did.',
  ({ row, ledger }) => {
    const returned = ledger.filter(({ kind }) => kind === 'returned');
    const isExpected =
      row.status === 'failed' ? isOne(returned, row.accountId, row.chargedFrom) : returned.length === 0;
    return [
      row.mode === 'live' &&
        !isExpected &&
        `${row.status} with ${returned.length} returns, row says ${row.chargedFrom}`,
    ];
  },
);

const testIsFree: Invariant = {
  name: 'test-is-free',
  promise: 'A test send takes no unit, and is never refused for lack of one.',
  find: ({ sends, creations }) => [
    ...sends
      .filter(({ row, ledger }) => row.mode === 'test' && (row.chargedFrom !== null || ledger.length > 0))
      .map(({ row }) => `test send ${row.id} has a unit`),
    ...creations
      .filter(({ mode, reply }) => mode === 'test' && reply.kind === 'problem' && reply.status === 402)
      .map(({ applicationId }) => `test application ${applicationId} was refused with 402`),
  ],
};

/**
 * All units are granted before a run begins. In an empty account, each granted unit is on a different live send, so the account has
 * at least as many live sends as granted units.
 */
const refusedOnlyWhenEmpty: Invariant = {
  name: 'refused-only-when-empty',
  promise: 'A live send is refused with 402 only when its account has used up the units that it was granted.',
  find({ rows, creations }) {
    const refused = new Set(
      creations
        .filter(({ mode, reply }) => mode === 'live' && reply.kind === 'problem' && reply.status === 402)
        .map(({ accountId }) => accountId),
    );
    return [...refused].flatMap((id) => {
      const given = sum(
        rows.ledger.map((entry) => (entry.accountId === id && entry.kind === 'granted' ? entry.units : 0)),
      );
      const made = rows.sends.filter(({ accountId, mode }) => accountId === id && mode === 'live').length;
      return made < given ? [`account ${id}: 402 after ${made} sends with ${given} units`] : [];
    });
  },
};

export const UNITS = [unitsAddUp, reservedOnce, returnedOnce, testIsFree, refusedOnlyWhenEmpty];
