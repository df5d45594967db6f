import { createRequire } from 'node:module';
import { Tinypool } from 'tinypool';
import type { PasswordFault, WantedPassword } from '@onecode/store';
import { ConsoleProblem } from '../http/problem.js';

/** A judgement takes some 40 ms. */
const WAITING_MAX = 50;
const IDLE_MS = 60_000;

let thread: Tinypool | undefined;

/** One thread, begun when somebody chooses a password and ended when nobody does: its dictionaries take 60 MB and half a second. */
const startThread = (): Tinypool =>
  new Tinypool({
    filename: createRequire(import.meta.url).resolve('@onecode/store/passwords'),
    name: 'passwordFault',
    minThreads: 0,
    maxThreads: 1,
    idleTimeout: IDLE_MS,
  });

/**
 * Why a password will not do, or null. It is judged in a thread of its own: everybody else is served meanwhile.
 *
 * @throws ConsoleProblem `rate_limited` when too many wait already
 */
export async function judgePassword(wanted: WantedPassword): Promise<PasswordFault | null> {
  thread ??= startThread();
  if (thread.queueSize >= WAITING_MAX) throw new ConsoleProblem('rate_limited');
  return (await thread.run(wanted)) as PasswordFault | null;
}
