/**
 * The one whose turn it is, when those of a list take turns.
 * @template T
 * @param {readonly T[]} list that is not empty
 * @param {number} place counted from 0 without end
 * @returns {T}
 */
export function inTurn(list, place) {
  const one = list[place % list.length];
  if (one === undefined) throw new Error('Nobody is there to take turns.');
  return one;
}
