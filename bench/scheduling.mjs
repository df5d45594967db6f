/**
 * Makes things in so many lanes at once, each lane one after the other.
 * @template T
 * @param {number} count
 * @param {number} lanes
 * @param {(index: number) => Promise<T>} make
 * @returns {Promise<T[]>} in the order of their index
 */
export async function inLanes(count, lanes, make) {
  /** @type {T[]} */
  const made = [];
  let begun = 0;
  const lane = async () => {
    while (begun < count) {
      const index = begun++;
      made[index] = await make(index);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return made;
}
