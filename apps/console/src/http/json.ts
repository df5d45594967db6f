/** The type of a value after a JSON round trip: times are strings (RFC 3339). */
export type Json<T> = T extends Date
  ? string
  : T extends readonly (infer One)[]
    ? Json<One>[]
    : T extends object
      ? { [Name in keyof T]: Json<T[Name]> }
      : T;
