/** Repeats work until stopped, with a pause between its runs. Runs never overlap. */
export interface Loop {
  stop(): Promise<void>;
}

/**
 * Starts a loop, which continues after a failed run. `wake` ends the current pause, and does nothing during a run.
 *
 * @param pauseMs between the end of a run and the start of the next
 */
export function startLoop(
  run: () => Promise<void>,
  pauseMs: number | (() => number),
  onError: (error: unknown) => void,
): Loop & { wake(): void } {
  let stopped = false;
  let wake = (): void => {};
  const ended = (async () => {
    while (!stopped) {
      try {
        await run();
      } catch (error) {
        onError(error);
      }
      if (stopped) break;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, typeof pauseMs === 'number' ? pauseMs : pauseMs());
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  })();
  return {
    wake: () => wake(),
    async stop() {
      stopped = true;
      wake();
      await ended;
    },
  };
}
