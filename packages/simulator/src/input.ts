/** Invalid JSON input; `faults` has one sentence for each error. */
export class InvalidInput extends Error {
  override readonly name = 'InvalidInput';
  constructor(readonly faults: readonly string[]) {
    super(faults.join('; '));
  }
}

/** The allowed values of one member of a JSON object. */
export interface Member<T> {
  fits: (value: unknown) => value is T;
  /** The allowed values in words, after "must be". */
  wanted: string;
}

type Members = Readonly<Record<string, Member<unknown>>>;

/** The type of the object that these members describe. */
export type ValuesOf<M extends Members> = {
  [Name in keyof M]: M[Name] extends Member<infer T> ? T : never;
};

export const oneOf = <const T extends readonly unknown[]>(...values: T): Member<T[number]> => ({
  fits: (value): value is T[number] => values.includes(value),
  wanted: values.length === 1 ? String(values[0]) : `one of ${values.join(', ')}`,
});

export const yesOrNo: Member<boolean> = oneOf(true, false);

export const integer = (least: number, most: number): Member<number> => ({
  fits: (value): value is number =>
    Number.isInteger(value) && (value as number) >= least && (value as number) <= most,
  wanted: `an integer from ${least} to ${most}`,
});

export const positive = (most: number): Member<number> => ({
  fits: (value): value is number => typeof value === 'number' && value > 0 && value <= most,
  wanted: `a number above 0, at most ${most}`,
});

export const text = (pattern: RegExp, wanted: string): Member<string> => ({
  fits: (value): value is string => typeof value === 'string' && pattern.test(value),
  wanted,
});

export const either = <A, B>(one: Member<A>, other: Member<B>): Member<A | B> => ({
  fits: (value): value is A | B => one.fits(value) || other.fits(value),
  wanted: `${one.wanted} or ${other.wanted}`,
});

export const orNull = <T>(member: Member<T>): Member<T | null> => either(oneOf(null), member);

/** The id of a number or an account. */
export const id = text(/^\d{1,32}$/, 'an id (digits)');
export const phone = text(/^\+[1-9]\d{6,14}$/, 'a phone number in E.164 form, with +');
export const object: Member<Record<string, unknown>> = { fits: isObject, wanted: 'a JSON object' };

/**
 * Checks the members of an object. Absent members stay absent.
 * @throws {InvalidInput} with one sentence for each member that is unknown, does not fit, or is required and missing
 */
export function read<M extends Members, Name extends keyof M & string = never>(
  value: unknown,
  members: M,
  required: readonly Name[] = [],
): Partial<ValuesOf<M>> & Pick<ValuesOf<M>, Name> {
  if (!isObject(value)) throw new InvalidInput(['must be a JSON object']);
  const faults = Object.entries(value).flatMap(([name, found]) => {
    const member = Object.hasOwn(members, name) ? members[name] : undefined;
    if (!member) return [`${name} is unknown`];
    return member.fits(found) ? [] : [`${name} must be ${member.wanted}`];
  });
  for (const name of required) if (value[name] === undefined) faults.push(`${name} is missing`);
  if (faults.length > 0) throw new InvalidInput(faults);
  return value as Partial<ValuesOf<M>> & Pick<ValuesOf<M>, Name>;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
