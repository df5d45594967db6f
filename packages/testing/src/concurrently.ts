/** Runs `work` on every item, on at most `concurrency` items at a time. @throws the first error of `work` */
export async function concurrently<T>(
  items: Iterable<T>,
  concurrency: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const next = items[Symbol.iterator]();
  const worker = async (): Promise<void> => {
    for (let { done, value } = next.next(); done !== true; { done, value } = next.next())
      await work(value as T);
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
}
