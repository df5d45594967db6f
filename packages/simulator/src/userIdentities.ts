import { createHash } from 'node:crypto';
import { faultsOf, refuseFaults, text } from './input.js';

const PHONE = text(/^\+[1-9]\d{6,14}$/, 'a phone number in E.164 form, with +');

/** The identity of the person behind each phone number: the same hash until the number changes hands. */
export class UserIdentities {
  /** How often a number has changed hands. */
  readonly #owners = new Map<string, number>();

  /** `to` is E.164 with `+`. Meta's form: 8 bytes in base64. */
  hashOf(to: string): string {
    const owner = `${to} ${this.#owners.get(to) ?? 0}`;
    return createHash('sha256').update(owner).digest().subarray(0, 8).toString('base64');
  }

  /** The number belongs to somebody else from now on; its new hash. @throws {InvalidInput} */
  changeHands(to: string): string {
    refuseFaults(faultsOf({ recipient: to }, { recipient: PHONE }));
    this.#owners.set(to, (this.#owners.get(to) ?? 0) + 1);
    return this.hashOf(to);
  }

  reset(): void {
    this.#owners.clear();
  }
}
