const PAUSE_MS = 15;

/**
 * Looks until something is there, and answers it. `undefined`, `null` and `false` count as not there.
 *
 * @param what completes the sentence "… did not come" of the error
 */
export async function until<T>(
  what: string,
  look: () => T | Promise<T>,
  deadlineMs = 15_000,
): Promise<Exclude<T, undefined | null | false>> {
  const end = performance.now() + deadlineMs;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== null && found !== false)
      return found as Exclude<T, undefined | null | false>;
    if (performance.now() > end) throw new Error(`${what} did not come within ${deadlineMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}
