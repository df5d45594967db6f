/** One page of a list that is read by cursor. */
export interface Page {
  limit: number;
  /** The `next` of the previous page. */
  before?: string;
}

/** The text is not a cursor that the list could have returned. */
export class InvalidCursor extends Error {
  constructor() {
    super('not a cursor of this list');
  }
}

/** Returns a cursor: whole numbers as one opaque text. */
export function encodeCursor(...numbers: (bigint | number)[]): string {
  return Buffer.from(numbers.join('.')).toString('base64url');
}

/** Returns the numbers of a cursor. @throws InvalidCursor unless it has `count` of them */
export function decodeCursor(cursor: string, count: number): bigint[] {
  const parts = Buffer.from(cursor, 'base64url').toString('latin1').split('.');
  if (parts.length !== count || !parts.every((part) => /^-?[0-9]{1,18}$/.test(part)))
    throw new InvalidCursor();
  return parts.map(BigInt);
}
