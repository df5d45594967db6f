/**
 * Returns a new id: UUID version 7 in lower case, so that rows created together are close in their index. 42 of its bits are random.
 * Another 31 are random for the first id of a process in a millisecond, and count up in its further ids.
 */
export { v7 as newId } from 'uuid';

/** The maximum difference between the database's clock and the clock of the process that makes an id. */
export const CLOCKS_APART_MS = 120_000;

/** Returns when an id was made, by the clock of its process. */
export function readIdTime(id: string): Date {
  return new Date(Number.parseInt(id.replace('-', '').slice(0, 12), 16));
}

/** Returns whether the text has the exact form of our ids. Other text cannot be an id, and must not reach the database. */
export function isId(text: string): boolean {
  return /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/.test(text);
}
