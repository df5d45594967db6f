import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

/** A part of the contract with its references resolved. The contract's own test checks its form. */
export interface Schema {
  type?: string | string[];
  description?: string;
  enum?: (string | null)[];
  pattern?: string;
  format?: string;
  minimum?: number;
  maximum?: number;
  required?: string[];
  properties?: Record<string, Schema>;
  /** The known values of a field, and any other text, which later versions may return. */
  anyOf?: [Schema, Schema];
}
export interface Example {
  summary?: string;
  value: unknown;
}
export interface Parameter {
  name: string;
  in: 'header' | 'path';
  required: boolean;
  description: string;
  schema: Schema;
  examples: Record<string, Example>;
}
export interface Answer {
  description: string;
  headers: Record<string, { description: string; example: unknown }>;
  content: Record<string, { examples: Record<string, Example> }>;
}
export interface Operation {
  operationId: string;
  summary: string;
  description: string;
  parameters?: Parameter[];
  requestBody?: {
    content: { 'application/json': { schema: Schema; examples: Record<string, Example> } };
  };
  responses: Record<string, Answer>;
  security?: unknown[];
}
export interface Contract {
  info: { title: string; version: string; summary: string; description: string };
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema>; securitySchemes: { bearer: { description: string } } };
}

const SOURCE = new URL('../../api/openapi.yaml', import.meta.url);

/** Reads openapi.yaml and resolves every reference. */
export function readContract(source: URL | string = SOURCE): Contract {
  const document = parse(readFileSync(source, 'utf8')) as Contract;
  return follow(document, document) as Contract;
}

function follow(node: unknown, root: unknown): unknown {
  if (Array.isArray(node)) return node.map((one) => follow(one, root));
  if (typeof node !== 'object' || node === null) return node;
  const { $ref } = node as { $ref?: string };
  if ($ref !== undefined) {
    const target = $ref
      .split('/')
      .slice(1)
      .reduce<unknown>((value, key) => (value as Record<string, unknown>)[key], root);
    return follow(target, root);
  }
  return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, follow(value, root)]));
}

/** Returns the operations in the contract's order, with their method and path. */
export function operationsOf(contract: Contract): { path: string; method: string; operation: Operation }[] {
  return Object.entries(contract.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      path,
      method: method.toUpperCase(),
      operation,
    })),
  );
}
