import { graphError, type MetaError, type Refusal } from './errors.js';

/** What one kind of Graph object has: its name in error messages, its fields, and those that come unasked. */
export interface NodeType<T> {
  name: string;
  fields: Readonly<Record<string, (node: T) => unknown>>;
  defaults: readonly string[];
}

/**
 * The asked fields of a node, as Graph answers: in the order of the question, without those that have no value, and with the
 * id at the end. A field may name its own members, `throughput{level}`.
 * Source: https://developers.facebook.com/docs/graph-api/guides/field-expansion
 */
export function readFields<T extends { id: string }>(
  type: NodeType<T>,
  node: T,
  asked: string | undefined,
): Record<string, unknown> | MetaError {
  const chosen = asked === undefined ? type.defaults : splitFields(asked);
  const answer: Record<string, unknown> = {};
  for (const field of chosen) {
    const [, name = '', members] = /^([^{]*)(?:\{(.*)\})?$/s.exec(field) ?? [];
    const read = Object.hasOwn(type.fields, name) ? type.fields[name] : undefined;
    if (!read)
      return graphError(
        400,
        100,
        `(#100) Tried accessing nonexisting field (${name.slice(0, 100)}) on node type (${type.name})`,
      );
    const value = read(node);
    if (value !== undefined) answer[name] = members === undefined ? value : only(value, splitFields(members));
  }
  return { ...answer, id: node.id };
}

/** The parts of `a,b{c,d},e`: commas inside braces belong to their field. */
function splitFields(text: string): string[] {
  return text
    .split(/,(?![^{]*\})/)
    .map((field) => field.trim())
    .filter((field) => field !== '');
}

function only(value: unknown, members: readonly string[]): unknown {
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).filter(([key]) => members.includes(key)));
}

const PAGE = 25;
const PAGE_MAX = 100;

/** A page of a Graph edge, with cursors, and the address of the next page while there is one. */
export function readPage<T extends { id: string }>(
  type: NodeType<T>,
  nodes: readonly T[],
  query: { fields: string | undefined; limit: string | undefined; after: string | undefined; url: URL },
): Record<string, unknown> | MetaError {
  const limit = Math.min(Number(query.limit ?? PAGE), PAGE_MAX);
  if (!Number.isInteger(limit) || limit < 1)
    return graphError(400, 100, '(#100) Param limit must be a positive integer');
  const start = query.after === undefined ? 0 : positionOf(query.after);
  if (!Number.isInteger(start) || start < 0 || start > nodes.length)
    return graphError(400, 100, '(#100) Invalid cursor');
  const data: Record<string, unknown>[] = [];
  for (const node of nodes.slice(start, start + limit)) {
    const read = readFields(type, node, query.fields);
    if (isRefusal(read)) return read;
    data.push(read);
  }
  if (data.length === 0) return { data };
  const after = cursorOf(start + data.length);
  const next = new URL(query.url);
  next.searchParams.set('limit', String(limit));
  next.searchParams.set('after', after);
  return {
    data,
    paging: {
      cursors: { before: cursorOf(start), after },
      ...(start + data.length < nodes.length ? { next: next.href } : {}),
    },
  };
}

export function isRefusal<T extends MetaError | Refusal>(value: Record<string, unknown> | T): value is T {
  return 'http' in value && 'body' in value;
}

function cursorOf(position: number): string {
  return Buffer.from(String(position)).toString('base64url');
}

function positionOf(cursor: string): number {
  const text = Buffer.from(cursor, 'base64url').toString('latin1');
  return /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
}
