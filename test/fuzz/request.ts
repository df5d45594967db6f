import fc from 'fast-check';
import type { Operation } from './contract.js';
import type { FuzzContext } from './context.js';

export const KINDS = ['valid', 'almost valid', 'hostile', 'raw'] as const;
export type Kind = (typeof KINDS)[number];

export type Header = readonly [name: string, value: string];

/** A request as it is sent, and the answers that it may get. Texts are latin1: one byte for each character. */
export interface FuzzRequest {
  kind: Kind;
  /** The operation that it was generated from. */
  operation: string;
  /** The rule that changed it. */
  rule: string;
  method: string;
  target: string;
  headers: readonly Header[];
  body: Buffer | null;
  /** The statuses that it may get; null for every status below 500 that the contract allows. */
  expected: readonly number[] | null;
  /** A request that must get exactly the same answer. */
  twin?: FuzzRequest;
  /** The name of the caller, which owns the ids in the answer. */
  caller: string;
}

/** A request without the keys and ids that only a campaign has. */
export type RequestDraft = (context: FuzzContext) => EditableRequest;

/** A request with a body that is not serialized yet. */
export interface EditableRequest extends Omit<FuzzRequest, 'body'> {
  from: Operation;
  /** The value of the body; undefined without a body. */
  value: unknown;
  /** The body's bytes, unless they are the value's JSON. */
  bytes?: Buffer;
  /** The path parameters as in the target. */
  parameters: Readonly<Record<string, string>>;
}

/** Every status that blames the request. */
export const REFUSED: readonly number[] = Array.from({ length: 100 }, (_, index) => 400 + index);

/** The request as it is sent. */
export function requestOf({
  from: _from,
  value,
  bytes,
  parameters: _parameters,
  ...rest
}: EditableRequest): FuzzRequest {
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

/** A number to choose with, without fast-check's preference for small ones. */
export const PICK: fc.Arbitrary<number> = fc.noBias(fc.nat(2 ** 31 - 1));

/** One change of a valid request; `pick` chooses among its variants. */
export interface Rule {
  name: string;
  change: (request: EditableRequest, pick: number, context: FuzzContext) => Partial<EditableRequest>;
}

/** Valid requests, each changed by one of the rules. */
export function changed(
  kind: Kind,
  good: fc.Arbitrary<RequestDraft>,
  rules: readonly Rule[],
): fc.Arbitrary<RequestDraft> {
  return fc
    .tuple(good, fc.constantFrom(...rules), PICK)
    .map(([draft, rule, pick]): RequestDraft => (context) => {
      const request = draft(context);
      return { ...request, kind, rule: rule.name, ...rule.change(request, pick, context) };
    });
}

/** One of some elements. */
export function pickFrom<Element>(elements: readonly Element[], pick: number): Element {
  return elements[pick % elements.length] as Element;
}

/** Replaces the body by these bytes. */
export function bytesOf(text: string | Buffer): { bytes: Buffer } {
  return { bytes: typeof text === 'string' ? Buffer.from(text) : text };
}
