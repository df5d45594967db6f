const PAUSE_MS = 15;

/**
 * Waits until `look` answers something other than `undefined`, `null` or `false`, and returns that.
 *
 * @param what is waited for: completes the error's sentence "… did not come within 15000 ms"
 * @throws when nothing came within `deadlineMs`, or what `look` throws
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
