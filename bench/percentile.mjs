/**
 * @param {readonly number[]} sorted in ascending order
 * @param {number} part 0.99 for the 99th percentile
 * @returns {number} not a number where there is nothing
 */
export function percentile(sorted, part) {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}

/**
 * @param {readonly number[]} values
 * @returns {number}
 */
export function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1
    ? Number(sorted[middle])
    : (Number(sorted[middle - 1]) + Number(sorted[middle])) / 2;
}
