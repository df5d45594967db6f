/** JSON from outside that cannot be used; `faults` says what is wrong, one sentence each. */
export class InvalidInput extends Error {
  override readonly name = 'InvalidInput';
  constructor(readonly faults: readonly string[]) {
    super(faults.join('; '));
  }
}

/** What one member of a JSON object may be. */
export interface Member {
  fits: (value: unknown) => boolean;
  /** What it must be, in words. */
  wanted: string;
}

export const integer = (least: number, most: number): Member => ({
  fits: (value) => Number.isInteger(value) && (value as number) >= least && (value as number) <= most,
  wanted: `an integer from ${least} to ${most}`,
});

export const oneOf = (...values: readonly unknown[]): Member => ({
  fits: (value) => values.includes(value),
  wanted: values.length === 1 ? String(values[0]) : `one of ${values.join(', ')}`,
});

export const text = (pattern: RegExp, wanted: string): Member => ({
  fits: (value) => typeof value === 'string' && pattern.test(value),
  wanted,
});

export const orNull = ({ fits, wanted }: Member): Member => ({
  fits: (value) => value === null || fits(value),
  wanted: `null or ${wanted}`,
});

export const object: Member = { fits: isObject, wanted: 'a JSON object' };

/** What is wrong with an object's members: one sentence for each that is unknown or does not fit. */
export function faultsOf(value: unknown, members: Readonly<Record<string, Member>>, prefix = ''): string[] {
  if (!isObject(value)) return ['a JSON object is expected'];
  return Object.entries(value).flatMap(([key, found]) => {
    const member = Object.hasOwn(members, key) ? members[key] : undefined;
    if (!member) return [`${prefix}${key} is not known`];
    return member.fits(found) ? [] : [`${prefix}${key} must be ${member.wanted}`];
  });
}

/** @throws {InvalidInput} when there is any fault. */
export function refuseFaults(faults: readonly string[]): void {
  if (faults.length > 0) throw new InvalidInput(faults);
}

/** The id of a number, account or portfolio. */
export const digits = text(/^\d{1,32}$/, 'an id (digits)');

/** The named members of a change, checked: what is left out stays as it is. @throws {InvalidInput} */
export function changeOf<T>(
  values: unknown,
  members: Readonly<Record<keyof T & string, Member>>,
): Partial<T> {
  refuseFaults(faultsOf(values, members));
  return values as Partial<T>;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
