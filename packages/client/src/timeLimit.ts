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
  const onAbort = (): void => controller.abort(outer?.reason);
  outer?.addEventListener('abort', onAbort, { once: true });
  return {
    signal,
    race: (work) => Promise.race([work(), stopped]),
    isOver: () => isOver,
    end() {
      clearTimeout(timer);
      outer?.removeEventListener('abort', onAbort);
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
    const onAbort = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    }, ms);
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}
