import type { Signal } from './fetch.js';

/** Ends a race when its time is over or the caller's signal is aborted, even if the work ignores `signal`. */
export interface TimeLimit {
  signal: AbortSignal;
  race<T>(work: () => Promise<T>): Promise<T>;
  /** Whether the time is over. */
  isOver(): boolean;
  /** Stops the clock, and aborts the work that still uses `signal`. */
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

/** Waits, or rejects with the signal's reason when the signal is aborted. */
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

/** The callbacks of each signal's single listener: a signal of a whole server could exceed the ten at which Node 20 warns. */
const watches = new WeakMap<Signal, { acts: Set<() => void>; run: () => void }>();

/** Calls back when the signal is aborted. @returns a function that cancels this, to be called once */
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
