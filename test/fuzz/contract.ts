import { openApiDocument } from '../../apps/api/src/docs.js';

/** The parts of JSON Schema that openapi.yaml uses for requests. */
export interface Schema {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  pattern?: string;
  maxLength?: number;
  examples?: unknown[];
  required?: string[];
  properties?: Record<string, Schema>;
  items?: Schema;
}

interface Parameter {
  $ref?: string;
  name: string;
  in: string;
  schema: Schema;
}

interface OperationNode {
  operationId: string;
  security?: unknown[];
  parameters?: Parameter[];
  requestBody?: {
    content: Record<string, { schema: Schema; examples?: Record<string, { value: unknown }> }>;
  };
  responses: Record<string, unknown>;
}

/** The parts of an OpenAPI document from which requests are generated. */
export interface OpenApiDocument {
  security?: unknown[];
  paths: Record<string, Record<string, OperationNode>>;
  components?: object;
}

/** One operation of the document. */
export interface Operation {
  id: string;
  /** In upper case. */
  method: string;
  /** The path with its parameters in braces. */
  template: string;
  /** Returns the methods of the path, with HEAD if it has GET. */
  methods: readonly string[];
  needsKey: boolean;
  pathParameters: readonly string[];
  headers: readonly { name: string; schema: Schema }[];
  body: { schema: Schema; examples: readonly unknown[] } | null;
  /** The documented statuses. */
  statuses: readonly number[];
}

export function readDocument(): OpenApiDocument {
  return openApiDocument('http://codes.test') as OpenApiDocument;
}

/** Every operation of a document, its references resolved. */
export function operationsOf(document: OpenApiDocument): Operation[] {
  return Object.entries(document.paths).flatMap(([template, node]) =>
    Object.entries(node).map(([method, operation]) => operationOf(document, template, method, operation)),
  );
}

function operationOf(
  document: OpenApiDocument,
  template: string,
  method: string,
  node: OperationNode,
): Operation {
  const parameters = (node.parameters ?? []).map((parameter) => resolved(document, parameter));
  const content = Object.values(node.requestBody?.content ?? {})[0];
  const methods = Object.keys(document.paths[template] ?? {}).map((name) => name.toUpperCase());
  return {
    id: node.operationId,
    method: method.toUpperCase(),
    template,
    methods: methods.includes('GET') ? [...methods, 'HEAD'] : methods,
    needsKey: (node.security ?? document.security ?? []).length > 0,
    pathParameters: parameters.filter((each) => each.in === 'path').map(({ name }) => name),
    headers: parameters
      .filter((each) => each.in === 'header')
      .map(({ name, schema }) => ({ name, schema: wholeSchema(document, schema) })),
    body:
      content === undefined
        ? null
        : {
            schema: wholeSchema(document, content.schema),
            examples: Object.values(content.examples ?? {}).map(({ value }) => value),
          },
    statuses: Object.keys(node.responses).map(Number),
  };
}

function resolved<Node extends { $ref?: string }>(document: OpenApiDocument, node: Node): Node {
  if (node.$ref === undefined) return node;
  const found = node.$ref
    .split('/')
    .slice(1)
    .reduce<unknown>((place, name) => (place as Record<string, unknown> | undefined)?.[name], document);
  if (found === undefined) throw new Error(`nothing at ${node.$ref}`);
  return resolved(document, found as Node);
}

function wholeSchema(document: OpenApiDocument, schema: Schema): Schema {
  const { properties, items, ...rest } = resolved(document, schema);
  return {
    ...rest,
    ...(items !== undefined && { items: wholeSchema(document, items) }),
    ...(properties !== undefined && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, each]) => [name, wholeSchema(document, each)]),
      ),
    }),
  };
}
