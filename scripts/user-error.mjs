/** An error that the user can fix: reported as its message, without a stack. */
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
