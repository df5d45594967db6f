/** An error that the person at the keyboard can fix: reported as its message alone, without a stack. */
export class UserError extends Error {
  /** @override */
  name = 'UserError';
}

/**
 * Writes an error to standard error.
 * @param {unknown} error
 */
export function reportError(error) {
  console.error(error instanceof UserError ? error.message : error);
}
