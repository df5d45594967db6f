const PAUSE_MS = 15;
const PAUSE_MS_MAX = 100;

/**
 * Waits until `look` returns a value other than `undefined`, `null` or `false`, and returns that value. The pauses grow with the time
 * that has passed: a `look` is often a query or a request, and hundreds of them would delay the processes that the test waits for.
 *
 * @param what names the value in the error "… did not come within 15000 ms"
 * @throws Error after `deadlineMs`, or the error of `look`
 */
export async function until<T>(
  what: string,
  look: () => T | Promise<T>,
  deadlineMs = 15_000,
): Promise<Exclude<T, undefined | null | false>> {
  const start = performance.now();
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== null && found !== false)
      return found as Exclude<T, undefined | null | false>;
    const waitedMs = performance.now() - start;
    if (waitedMs > deadlineMs) throw new Error(`${what} did not come within ${deadlineMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, Math.min(PAUSE_MS + waitedMs / 20, PAUSE_MS_MAX)));
  }
}
