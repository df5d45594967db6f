/** How many turns an account may have for one of another; the first is what it has unless an operator sets more. */
export const WEIGHT_BOUNDS = { min: 1, max: 100 } as const;

/** An account whose sends wait for a sender. Times are virtual: one second is one turn of each waiting account with weight 1. */
export interface WaitingAccount {
  accountId: string;
  /** How many turns it gets for one of an account with weight 1; at least 1. */
  weight: number;
  /** When its latest turn ends; null when it had none lately. */
  busyUntil: number | null;
}

/** The right of an account to be given the next send slot. */
export interface Turn {
  accountId: string;
  /** Virtual times. */
  startsAt: number;
  endsAt: number;
}

/**
 * The next turns of accounts whose sends wait, in order, by start-time fair queueing (Goyal, Vin, Cheng 1996): a turn starts when the
 * account's previous one ends, or now if that is over; it lasts `1 / weight`; the turn that starts first is next, of equals that of the
 * account with the lesser id. So an account that was quiet is next, whatever the others have waiting, and none saves turns up.
 *
 * @param now the virtual time: when the latest turn that was given started
 * @param count of turns at the most
 */
export function nextTurns(accounts: readonly WaitingAccount[], now: number, count: number): Turn[] {
  const next = accounts.map(({ accountId, weight, busyUntil }) => ({
    accountId,
    lasts: 1 / weight,
    startsAt: Math.max(now, busyUntil ?? now),
  }));
  const turns: Turn[] = [];
  while (turns.length < count && next.length > 0) {
    const first = next.reduce((one, other) => (isBefore(other, one) ? other : one));
    const { accountId, startsAt, lasts } = first;
    first.startsAt += lasts;
    turns.push({ accountId, startsAt, endsAt: first.startsAt });
  }
  return turns;
}

type Next = Pick<Turn, 'accountId' | 'startsAt'>;

const isBefore = (one: Next, other: Next): boolean =>
  one.startsAt < other.startsAt || (one.startsAt === other.startsAt && one.accountId < other.accountId);
