import type { Operation } from './contract.js';
import type { World } from './world.js';

export const KINDS = ['valid', 'almost valid', 'hostile', 'raw'] as const;
export type Kind = (typeof KINDS)[number];

export type Header = readonly [name: string, value: string];

/** A request as it goes out, and what may come back. Texts are latin1: one byte a character. */
export interface FuzzRequest {
  kind: Kind;
  /** The operation that it was made from. */
  operation: string;
  /** What is special about it. */
  rule: string;
  method: string;
  target: string;
  headers: readonly Header[];
  body: Buffer | null;
  /** The statuses that it may have; whatever the contract allows below 500 where none are given. */
  expected: readonly number[] | null;
  /** A request that must have the same answer to the byte. */
  twin?: FuzzRequest;
  /** Whose request it is, so that ids in its answer can be told apart. */
  caller: string;
}

/** A request that still lacks what only a run knows: keys and ids. */
export type Draft = (world: World) => Shaped;

/** A request whose body can still be changed as a value. */
export interface Shaped extends Omit<FuzzRequest, 'body'> {
  from: Operation;
  /** The value of the body; undefined where there is none. */
  value: unknown;
  /** The body's bytes, where they are not simply the value's JSON. */
  bytes?: Buffer;
  /** The path parameters as they stand in the target. */
  parameters: Readonly<Record<string, string>>;
}

/** Any answer that says that the request is at fault. */
export const REFUSED: readonly number[] = Array.from({ length: 100 }, (_, index) => 400 + index);

/** Makes the request of a draft. */
export function requestOf({
  from: _from,
  value,
  bytes,
  parameters: _parameters,
  ...rest
}: Shaped): FuzzRequest {
  const body = bytes ?? (value === undefined ? null : Buffer.from(JSON.stringify(value)));
  return { ...rest, body };
}

export function withHeader(headers: readonly Header[], name: string, value: string): Header[] {
  return [...without(headers, name), [name, value]];
}

export function without(headers: readonly Header[], name: string): Header[] {
  return headers.filter(([each]) => each.toLowerCase() !== name.toLowerCase());
}

/** The path of an operation with its parameters filled in. */
export function pathOf(template: string, parameters: Readonly<Record<string, string>>): string {
  return template.replaceAll(/\{(\w+)\}/g, (_, name: string) => parameters[name] ?? '');
}

/** The latin1 text of a text's UTF-8 bytes. */
export function utf8(text: string): string {
  return Buffer.from(text).toString('latin1');
}
