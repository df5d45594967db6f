import fc from 'fast-check';
import type { Draft, Kind, Shaped } from './request.js';
import type { World } from './world.js';

/** A number to choose with: fast-check prefers small ones unless it is told not to. */
export const PICK: fc.Arbitrary<number> = fc.noBias(fc.nat(2 ** 31 - 1));

/** One way of changing a good request; `pick` chooses among its variants. */
export interface Rule {
  name: string;
  /** Anything it needs at random. */
  change: (request: Shaped, pick: number, world: World) => Partial<Shaped>;
}

/** Good requests, each changed by one of the rules. */
export function changed(kind: Kind, good: fc.Arbitrary<Draft>, rules: readonly Rule[]): fc.Arbitrary<Draft> {
  return fc.tuple(good, fc.constantFrom(...rules), PICK).map(([draft, rule, pick]): Draft => (world) => {
    const request = draft(world);
    return { ...request, kind, rule: rule.name, ...rule.change(request, pick, world) };
  });
}

/** One of some elements. */
export function oneOf<Element>(elements: readonly Element[], pick: number): Element {
  return elements[pick % elements.length] as Element;
}

/** A body of these bytes, whatever the value was. */
export function bytesOf(text: string | Buffer): { bytes: Buffer } {
  return { bytes: typeof text === 'string' ? Buffer.from(text) : text };
}
