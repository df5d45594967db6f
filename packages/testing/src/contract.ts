import { readFileSync } from 'node:fs';
import { STATUS_CODES, type ClientRequest } from 'node:http';
import { isDeepStrictEqual } from 'node:util';
import { PROBLEMS, type ProblemCode } from '@onecode/domain';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import ajvFormats from 'ajv-formats';
import request, { type Test } from 'supertest';
import { parse } from 'yaml';
import { RawConnection, requestBytes, type RawAnswer } from './rawConnection.js';

interface ResponseNode {
  $ref?: string;
  headers?: Record<string, { $ref: string }>;
  content: Record<string, { examples: Record<string, unknown> }>;
}

/** openapi.yaml, parsed. */
export const openApiSource = parse(
  readFileSync(new URL('../../../apps/api/openapi.yaml', import.meta.url), 'utf8'),
) as {
  paths: Record<string, Record<string, { responses: Record<string, ResponseNode> }>>;
  components: {
    headers: Record<string, { required: boolean }>;
    responses: Record<string, ResponseNode>;
    schemas: Record<
      string,
      { additionalProperties?: boolean; properties?: Record<string, { anyOf?: unknown[] }> }
    >;
  };
};

const ajv = new Ajv2020({ strict: true, allErrors: true });
ajvFormats.default(ajv);
/** The contract without additional fields and values: clients must accept them, but this service must not send any. */
const strictSource = structuredClone(openApiSource);
for (const name of ['Send', 'VerifyResult', 'SignupSettings', 'Problem'])
  strictSource.components.schemas[name]!.additionalProperties = false;
for (const name of ['channel', 'failure_reason'])
  strictSource.components.schemas['Send']!.properties![name]!.anyOf!.splice(1);

// In strict mode, Ajv rejects unknown keywords, and the document around the schemas has many.
ajv.addVocabulary(Object.keys(openApiSource));
ajv.addSchema(strictSource, 'openapi');

/** Compiles the schema at a JSON pointer of openapi.yaml, such as `/components/schemas/Send`. @throws if there is none */
export function validatorAt(pointer: string): ValidateFunction {
  const validate = ajv.getSchema(`openapi#${pointer}`);
  if (validate === undefined) throw new Error(`openapi.yaml has no schema at ${pointer}`);
  return validate;
}

/** A response of the API. `path` is the path of the request; its query is ignored. `body` is the text or its parsed JSON. */
export interface ApiResponse {
  method: string;
  path: string;
  status: number;
  headers: Headers | Record<string, string | string[] | undefined>;
  body: unknown;
}

const templates = Object.entries(openApiSource.paths).map(([template, node]) => ({
  template,
  node,
  pattern: new RegExp(`^${template.replaceAll('{id}', '[^/]+')}$`),
}));

/** Paths outside of the contract. Their errors are problems too, except the errors of the probes. */
const OUTSIDE_CONTRACT = /^\/(?:openapi\.json|docs(?:\/.*)?|webhooks\/whatsapp(?:\/.*)?)?$/;
const PROBES = /^\/(?:livez|readyz)$/;
/** Problems with which the server can answer before it has read the path. */
const BEFORE_ROUTING: ProblemCode[] = ['bad_request', 'request_timeout', 'headers_too_large'];

/** Returns a supertest agent that rejects responses that violate openapi.yaml. */
export function contractAgent(app: Parameters<typeof request>[0]): ReturnType<typeof request.agent> {
  const agent = request.agent(app);
  agent.use((test: Test) => {
    test.expect((response) => {
      const { method, path } = (response as unknown as { req: ClientRequest }).req;
      checkResponse({
        method,
        path,
        status: response.status,
        headers: response.headers,
        body: response.text,
      });
    });
  });
  return agent;
}

/** Checks a response against openapi.yaml. @throws Error with every violation */
export function checkResponse(response: ApiResponse): void {
  const violations = [...new Set(violationsOf({ ...response, body: parsed(response.body) }))];
  if (violations.length === 0) return;
  const { method, path, status, body } = response;
  const shown = typeof body === 'string' ? body : JSON.stringify(body);
  throw new Error(
    [
      `${method} ${path} answered ${status}, against openapi.yaml:`,
      ...violations.map((violation) => `- ${violation}`),
      shown,
    ].join('\n'),
  );
}

/**
 * Sends one request as these bytes, over its own connection, and checks the response against openapi.yaml. Adds a `Host` unless the headers
 * have one.
 */
export async function rawRequest(
  port: number,
  method: string,
  path: string,
  headers: readonly (readonly [name: string, value: string])[] = [],
  body: string | Buffer = '',
): Promise<RawAnswer> {
  const host = headers.some(([name]) => name.toLowerCase() === 'host')
    ? []
    : [['Host', 'codes.test'] as const];
  const connection = await RawConnection.open(port);
  try {
    connection.write(requestBytes(method, path, [...host, ...headers], body));
    const answer = await connection.answer(method);
    checkResponse({ method, path, ...answer });
    return answer;
  } finally {
    connection.destroy();
  }
}

function violationsOf(response: ApiResponse): string[] {
  const { method, status } = response;
  const path = response.path.replace(/\?.*$/s, '');
  const violations = headerViolations(response, 'X-Request-Id', 'RequestId');
  const match = templates.find(({ pattern }) => pattern.test(path));
  const verb = method.toLowerCase() === 'head' ? 'get' : method.toLowerCase();

  if (match === undefined) {
    if (PROBES.test(path)) return violations;
    if (!OUTSIDE_CONTRACT.test(path))
      return [...violations, ...problemViolations(response, ['not_found', ...BEFORE_ROUTING])];
    return status < 400 ? violations : [...violations, ...problemViolations(response)];
  }
  const operation = match.node[verb];
  if (operation === undefined) {
    if (status === 405 && header(response, 'Allow') === undefined) violations.push('header Allow is missing');
    return [...violations, ...problemViolations(response, ['method_not_allowed', ...BEFORE_ROUTING])];
  }
  const found = operation.responses[status];
  if (found === undefined) return [...violations, `status ${status} is not documented for this operation`];

  const inline = `/paths/${match.template.replaceAll('/', '~1')}/${verb}/responses/${status}`;
  const pointer = found.$ref === undefined ? inline : found.$ref.slice(1);
  const node =
    found.$ref === undefined ? found : openApiSource.components.responses[pointer.split('/').at(-1) ?? ''];
  for (const [name, { $ref }] of Object.entries(node?.headers ?? {}))
    if (name !== 'X-Request-Id')
      violations.push(...headerViolations(response, name, $ref.split('/').at(-1) ?? ''));
  const mediaType = Object.keys(node?.content ?? {})[0] ?? '';
  violations.push(
    ...bodyViolations(response, mediaType, `${pointer}/content/${mediaType.replace('/', '~1')}/schema`),
  );
  if (status < 400) return [...violations, ...contradictions(response.body)];
  // The names of the examples are their codes.
  const codes = Object.keys(node?.content[mediaType]?.examples ?? {});
  return [...violations, ...problemViolations(response, codes)];
}

/** Returns the violations of a body that must be a problem with one of `codes`. */
function problemViolations(
  response: ApiResponse,
  codes: readonly string[] = Object.keys(PROBLEMS),
): string[] {
  const { method, status } = response;
  const violations = bodyViolations(response, 'application/problem+json', '/components/schemas/Problem');
  if (violations.length > 0 || method.toUpperCase() === 'HEAD') return violations;
  const body = response.body as {
    type: string;
    title: string;
    status: number;
    code: ProblemCode;
    detail?: string;
  };
  if (!codes.includes(body.code))
    return [`code is ${body.code}, and here it can only be ${codes.join(', ')}`];
  if (body.status !== status) violations.push(`the body says status ${body.status}`);
  if (PROBLEMS[body.code].status !== status)
    violations.push(`${body.code} belongs to ${PROBLEMS[body.code].status}`);
  if (body.title !== STATUS_CODES[status]) violations.push(`title is not "${STATUS_CODES[status]}"`);
  if (!body.type.endsWith(`/errors#${body.code}`))
    violations.push(`type does not end in /errors#${body.code}`);
  // `detail` is optional in the contract, but this service always sends it.
  if (body.detail === undefined || body.detail === '') violations.push('the problem has no detail');
  return violations;
}

function bodyViolations(response: ApiResponse, mediaType: string, pointer: string): string[] {
  const violations: string[] = [];
  const contentType = String(header(response, 'Content-Type'));
  if (contentType.replace(/ *;.*$/s, '') !== mediaType)
    violations.push(`Content-Type is ${contentType} instead of ${mediaType}`);
  if (response.method.toUpperCase() === 'HEAD') return violations;
  const validate = validatorAt(pointer);
  if (!validate(response.body))
    for (const { instancePath, message, params } of validate.errors ?? [])
      violations.push(`body${instancePath} ${message} ${JSON.stringify(params)}`);
  return violations;
}

function headerViolations(response: ApiResponse, name: string, component: string): string[] {
  const value = header(response, name);
  if (value === undefined)
    return openApiSource.components.headers[component]?.required === false
      ? []
      : [`header ${name} is missing`];
  const validate = validatorAt(`/components/headers/${component}/schema`);
  const readings: unknown[] = /^[0-9]+$/.test(value) ? [value, Number(value)] : [value];
  if (readings.some((reading) => validate(reading))) return [];
  return [`header ${name} is "${value}": ${validate.errors?.map(({ message }) => message).join(', ')}`];
}

/** Returns the contradictions between fields of a response (sections 3 and 4.3 of the specification). */
function contradictions(body: unknown): string[] {
  if (typeof body !== 'object' || body === null) return [];
  const violations: string[] = [];
  const field = body as Record<string, unknown>;
  const together = (name: string, ...facts: boolean[]): void => {
    if (new Set(facts).size > 1) violations.push(`${name} contradict each other`);
  };
  if ('failure_reason' in field) {
    const failed = [
      field['status'] === 'failed',
      field['failed_at'] !== null,
      field['failure_reason'] !== null,
    ];
    together('status, failed_at and failure_reason', ...failed);
    together(
      'verification and verified_at',
      field['verification'] === 'verified',
      field['verified_at'] !== null,
    );
    if (field['mode'] === 'test' && (field['channel'] === 'whatsapp' || field['from'] !== null))
      violations.push('a test send has a live channel or a sender');
    if (String(field['expires_at']) <= String(field['created_at']))
      violations.push('expires_at is not after created_at');
  }
  if ('valid' in field) {
    const success = { valid: true, verification: 'verified', attempts_left: 0 };
    if (field['valid'] === true && !isDeepStrictEqual(body, success))
      violations.push('valid is true in a wrong state');
    together(
      'verification and attempts_left',
      field['verification'] === 'pending',
      field['attempts_left'] !== 0,
    );
  }
  return violations;
}

function header({ headers }: ApiResponse, name: string): string | undefined {
  if (headers instanceof Headers) return headers.get(name) ?? undefined;
  const value = Object.entries(headers).find(([key]) => key.toLowerCase() === name.toLowerCase())?.[1];
  return Array.isArray(value) ? value.join(', ') : value;
}

function parsed(body: unknown): unknown {
  if (typeof body !== 'string') return body;
  try {
    return JSON.parse(body);
  } catch {
    return body;
  }
}
