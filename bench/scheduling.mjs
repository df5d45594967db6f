/**
 * Runs tasks with a number of workers at a time, each of which takes the next task when it has finished one.
 * @template T
 * @param {number} count of tasks
 * @param {number} workers
 * @param {(index: number) => Promise<T>} task
 * @returns {Promise<T[]>} in the order of their index
 */
export async function runConcurrently(count, workers, task) {
  /** @type {T[]} */
  const results = [];
  let next = 0;
  const work = async () => {
    while (next < count) {
      const index = next++;
      results[index] = await task(index);
    }
  };
  await Promise.all(Array.from({ length: workers }, work));
  return results;
}

/**
 * Returns the item of a list at an index modulo its length.
 * @template T
 * @param {readonly T[]} list not empty
 * @param {number} index from 0, without end
 * @returns {T}
 */
export function roundRobin(list, index) {
  const item = list[index % list.length];
  if (item === undefined) throw new Error('The list is empty.');
  return item;
}
