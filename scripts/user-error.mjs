/** A fault that the person at the keyboard can mend: shown as its message alone, without a stack. */
export class Refusal extends Error {
  /** @override */
  name = 'Refusal';
}
