const PAUSE_MS = 15;

/**
 * Waits until `look` returns a value other than `undefined`, `null` or `false`, and returns that value.
 *
 * @param what names the value in the error "… did not come within 15000 ms"
 * @throws Error after `deadlineMs`, or the error of `look`
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
