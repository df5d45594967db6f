/** For the `ref` of the field that a page or step begins with: whoever types or listens is there at once. */
export const focusAtOnce = (field: HTMLElement | null): void => field?.focus();
