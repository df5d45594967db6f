/** What was enqueued counts half after each of these times: a job from a minute ago says little about what still waits. */
const HALF_LIFE_MS = 10_000;
/** BullMQ's last priority. */
const PRIORITY_MAX = 2_097_151;
/** Accounts that are remembered. */
const ACCOUNTS_MAX = 10_000;

/**
 * Gives an account's next job its priority at a time in milliseconds: 1 is first, and each job of an account comes after the one before.
 * So while the workers cannot keep up, a quiet account's job stands before another's flood. Each process counts what it enqueues itself,
 * so that nobody has to be asked.
 */
export type JobPriorities = (accountId: string, now: number) => number;

export function createJobPriorities(): JobPriorities {
  /** By account, the latest last: how many jobs it had lately, as of its last one. */
  const accounts = new Map<string, { jobs: number; at: number }>();
  return (accountId, now) => {
    const before = accounts.get(accountId);
    const jobs = before === undefined ? 0 : before.jobs * 0.5 ** ((now - before.at) / HALF_LIFE_MS);
    accounts.delete(accountId);
    accounts.set(accountId, { jobs: jobs + 1, at: now });
    const [oldest] = accounts.keys();
    if (accounts.size > ACCOUNTS_MAX && oldest !== undefined) accounts.delete(oldest);
    return Math.min(1 + Math.round(jobs), PRIORITY_MAX);
  };
}
