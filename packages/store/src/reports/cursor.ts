/** A cursor that this list never gave out. */
export class InvalidCursor extends Error {
  constructor() {
    super('this is no cursor of the list');
  }
}

/** Whole numbers as one opaque text. */
export function cursorOf(...numbers: (bigint | number)[]): string {
  return Buffer.from(numbers.join('.')).toString('base64url');
}

/** The numbers of a cursor. @throws InvalidCursor unless it holds so many */
export function readCursor(cursor: string, count: number): bigint[] {
  const parts = Buffer.from(cursor, 'base64url').toString('latin1').split('.');
  if (parts.length !== count || !parts.every((part) => /^-?[0-9]{1,18}$/.test(part)))
    throw new InvalidCursor();
  return parts.map(BigInt);
}
