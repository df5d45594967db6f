import type { Signal } from './fetch.js';

/** Ends what it races when its time is over or the caller's signal is aborted, whatever does not listen to `signal`. */
export interface TimeLimit {
  signal: AbortSignal;
  race<T>(work: () => Promise<T>): Promise<T>;
  /** Whether the time is over. */
  isOver(): boolean;
  /** Stops the clock, and what still goes on with `signal`. */
  end(): void;
}

export function startTimeLimit(ms: number, outer: Signal | undefined): TimeLimit {
  const controller = new AbortController();
  const { signal } = controller;
  let isOver = false;
  const stopped = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
  stopped.catch(() => {});
  const timer = setTimeout(() => {
    isOver = true;
    controller.abort();
  }, ms);
  const unwatch = watch(outer, () => controller.abort(outer?.reason));
  return {
    signal,
    race: (work) => Promise.race([work(), stopped]),
    isOver: () => isOver,
    end() {
      clearTimeout(timer);
      unwatch();
      controller.abort();
    },
  };
}

/** @throws the signal's reason */
export function throwIfAborted(signal: Signal | undefined): void {
  if (signal?.aborted === true) throw signal.reason;
}

/** Waits, or rejects with the signal's reason as soon as that is aborted. */
export async function pause(ms: number, signal: Signal | undefined): Promise<void> {
  throwIfAborted(signal);
  await new Promise<void>((resolve, reject) => {
    const unwatch = watch(signal, () => {
      clearTimeout(timer);
      reject(signal?.reason);
    });
    const timer = setTimeout(() => {
      unwatch();
      resolve();
    }, ms);
  });
}

/** What each signal's one listener does: of more than ten, as a signal of a whole server would have, Node 20 warns that they leak. */
const watches = new WeakMap<Signal, { acts: Set<() => void>; run: () => void }>();

/** Does it when the signal is aborted. @returns what ends that, to be called once */
function watch(signal: Signal | undefined, act: () => void): () => void {
  if (signal === undefined) return () => {};
  let found = watches.get(signal);
  if (found === undefined) {
    const acts = new Set<() => void>();
    found = { acts, run: () => acts.forEach((one) => one()) };
    watches.set(signal, found);
    signal.addEventListener('abort', found.run, { once: true });
  }
  const { acts, run } = found;
  acts.add(act);
  return () => {
    acts.delete(act);
    if (acts.size > 0) return;
    watches.delete(signal);
    signal.removeEventListener('abort', run);
  };
}
