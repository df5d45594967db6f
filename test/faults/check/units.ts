import { groupBy, ofEachSend, sum, type Invariants, type SendFacts } from './facts.js';
import type { LedgerRow } from '../evidence.js';

const BUCKETS = ['free_quota', 'credit'] as const;

/** Whether the entries are exactly one unit of this bucket and account. */
function isOne(entries: readonly LedgerRow[], accountId: string, bucket: string | null): boolean {
  const [entry] = entries;
  return (
    entries.length === 1 && entry?.units === 1 && entry.bucket === bucket && entry.accountId === accountId
  );
}

/** Returns whether a send keeps its unit even if it failed: its code was verified and one of its messages may have arrived. */
const isVerifiedMessage = ({ row, attempts }: Pick<SendFacts, 'row' | 'attempts'>): boolean =>
  row.verification === 'verified' &&
  attempts.some(
    ({ messageId, outcome }) => messageId !== null || outcome === 'accepted' || outcome === 'unknown',
  );

/** The bucket of the unit that a live send holds; null for none. */
function heldBucket({ row, attempts, ledger }: SendFacts): string | null {
  if (row.status !== 'failed') return row.chargedFrom;
  if (!isVerifiedMessage({ row, attempts })) return null;
  return ledger.find(({ kind }) => kind === 'reclaimed')?.bucket ?? row.chargedFrom;
}

export const UNITS: Invariants = {
  /** Units granted = units left + units that live sends hold, in each bucket of each account. */
  'units-add-up': ({ rows, sends }) => {
    const grants = groupBy(
      rows.ledger.filter(({ kind }) => kind === 'granted'),
      ({ accountId }) => accountId,
    );
    const holding = groupBy(sends, ({ row: { accountId } }) => accountId);
    return rows.accounts.flatMap((account) =>
      BUCKETS.flatMap((bucket) => {
        const of = (entry: LedgerRow): number => (entry.bucket === bucket ? entry.units : 0);
        const given = sum((grants.get(account.id) ?? []).map(of));
        const left = bucket === 'free_quota' ? account.freeQuota : account.credits;
        const held = (holding.get(account.id) ?? []).filter((send) => heldBucket(send) === bucket).length;
        return given === left + held
          ? []
          : [`account ${account.id}: ${bucket} granted ${given}, left ${left}, on sends ${held}`];
      }),
    );
  },
  /** A live send reserved exactly one unit, from the bucket that its row names. */
  'reserved-once': ofEachSend(({ row, ledger }) => {
    const reserved = ledger.filter(({ kind }) => kind === 'reserved');
    return [
      row.mode === 'live' &&
        !isOne(reserved, row.accountId, row.chargedFrom) &&
        `${reserved.length} reservations, row says ${row.chargedFrom}`,
    ];
  }),
  /**
   * A failed live send returned its unit exactly once, to its bucket; no other send did. The unit was reclaimed, or never returned, if the
   * code was verified and a message may have arrived.
   */
  'returned-once': ofEachSend(({ row, attempts, ledger }) => {
    const returned = ledger.filter(({ kind }) => kind === 'returned');
    const reclaimed = ledger.filter(({ kind }) => kind === 'reclaimed').length;
    const isReturned = isOne(returned, row.accountId, row.chargedFrom);
    const isExpected =
      row.status !== 'failed'
        ? returned.length + reclaimed === 0
        : isVerifiedMessage({ row, attempts })
          ? (isReturned && reclaimed === 1) || returned.length + reclaimed === 0
          : isReturned && reclaimed === 0;
    return [
      row.mode === 'live' &&
        !isExpected &&
        `${row.status} with ${returned.length} returns, row says ${row.chargedFrom}`,
    ];
  }),
  /** A test send takes no unit, and is never refused for lack of one. */
  'test-is-free': ({ sends, creations }) => [
    ...sends
      .filter(({ row, ledger }) => row.mode === 'test' && (row.chargedFrom !== null || ledger.length > 0))
      .map(({ row }) => `test send ${row.id} has a unit`),
    ...creations
      .filter(({ mode, reply }) => mode === 'test' && reply.kind === 'problem' && reply.status === 402)
      .map(({ applicationId }) => `test application ${applicationId} was refused with 402`),
  ],
  /**
   * A live send is refused with 402 only when its account has used up the units that it was granted. All units are granted
   * before a run begins. In an empty account, each granted unit is on a different live send, so the account has at least as many
   * live sends as granted units.
   */
  'refused-only-without-units': ({ rows, creations }) => {
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
