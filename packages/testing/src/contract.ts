import { STATUS_CODES, type ClientRequest } from 'node:http';
import { isDeepStrictEqual } from 'node:util';
import { PROBLEMS, type ProblemCode } from '@onecode/domain';
import request, { type Test } from 'supertest';
import { source, validatorAt } from './schemas.js';

/** An answer of the API. `path` is as it was asked for; a query is ignored. `body` is the text or what it parses to. */
export interface ApiResponse {
  method: string;
  path: string;
  status: number;
  headers: Headers | Record<string, string | string[] | undefined>;
  body: unknown;
}

const templates = Object.entries(source.paths).map(([template, node]) => ({
  template,
  node,
  pattern: new RegExp(`^${template.replaceAll('{id}', '[^/]+')}$`),
}));

/** What the service serves beside the contract. Its errors are problems too, except for what a probe is told. */
const BESIDE = /^\/(?:openapi\.json|docs(?:\/.*)?|webhooks\/whatsapp)$/;
const PROBES = /^\/(?:livez|readyz)$/;
/** Answers that can come before anybody has looked at the path. */
const BEFORE_ROUTING: ProblemCode[] = ['bad_request', 'request_timeout', 'headers_too_large'];

/** A supertest agent that holds every answer against openapi.yaml; a request whose answer breaks it rejects. */
export function validated(app: Parameters<typeof request>[0]): ReturnType<typeof request.agent> {
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

/** Throws an error that lists every way in which an answer breaks openapi.yaml. */
export function checkResponse(response: ApiResponse): void {
  const faults = [...new Set(faultsOf({ ...response, body: parsed(response.body) }))];
  if (faults.length === 0) return;
  const { method, path, status, body } = response;
  const shown = typeof body === 'string' ? body : JSON.stringify(body);
  throw new Error(
    [
      `${method} ${path} answered ${status}, against openapi.yaml:`,
      ...faults.map((fault) => `- ${fault}`),
      shown,
    ].join('\n'),
  );
}

function faultsOf(response: ApiResponse): string[] {
  const { method, status } = response;
  const path = response.path.replace(/\?.*$/s, '');
  const faults = headerFaults(response, 'X-Request-Id', 'RequestId');
  const match = templates.find(({ pattern }) => pattern.test(path));
  const verb = method.toLowerCase() === 'head' ? 'get' : method.toLowerCase();

  if (match === undefined) {
    if (PROBES.test(path)) return faults;
    if (!BESIDE.test(path)) return [...faults, ...problemFaults(response, ['not_found', ...BEFORE_ROUTING])];
    return status < 400 ? faults : [...faults, ...problemFaults(response)];
  }
  const operation = match.node[verb];
  if (operation === undefined) {
    if (status === 405 && header(response, 'Allow') === undefined) faults.push('header Allow is missing');
    return [...faults, ...problemFaults(response, ['method_not_allowed', ...BEFORE_ROUTING])];
  }
  const found = operation.responses[status];
  if (found === undefined) return [...faults, `status ${status} is not documented for this operation`];

  const inline = `/paths/${match.template.replaceAll('/', '~1')}/${verb}/responses/${status}`;
  const pointer = found.$ref === undefined ? inline : found.$ref.slice(1);
  const node =
    found.$ref === undefined ? found : source.components.responses[pointer.split('/').at(-1) ?? ''];
  for (const [name, { $ref }] of Object.entries(node?.headers ?? {}))
    if (name !== 'X-Request-Id') faults.push(...headerFaults(response, name, $ref.split('/').at(-1) ?? ''));
  const mediaType = Object.keys(node?.content ?? {})[0] ?? '';
  faults.push(
    ...bodyFaults(response, mediaType, `${pointer}/content/${mediaType.replace('/', '~1')}/schema`),
  );
  return [...faults, ...(status < 400 ? contradictions(response.body) : problemFaults(response))];
}

/** What is wrong with a body as a problem whose code is one of `codes` (any, if none are given). */
function problemFaults(response: ApiResponse, codes?: ProblemCode[]): string[] {
  const { method, status } = response;
  const faults = bodyFaults(response, 'application/problem+json', '/components/schemas/Problem');
  if (faults.length > 0 || method.toUpperCase() === 'HEAD') return faults;
  const body = response.body as { type: string; title: string; status: number; code: ProblemCode };
  if (codes !== undefined && !codes.includes(body.code))
    faults.push(`code is ${body.code}, and here it can only be ${codes.join(', ')}`);
  if (body.status !== status) faults.push(`the body says status ${body.status}`);
  if (PROBLEMS[body.code].status !== status)
    faults.push(`${body.code} belongs to ${PROBLEMS[body.code].status}`);
  if (body.title !== STATUS_CODES[status]) faults.push(`title is not "${STATUS_CODES[status]}"`);
  if (!body.type.endsWith(`/errors#${body.code}`)) faults.push(`type does not end in /errors#${body.code}`);
  return faults;
}

function bodyFaults(response: ApiResponse, mediaType: string, pointer: string): string[] {
  const faults: string[] = [];
  const contentType = String(header(response, 'Content-Type'));
  if (contentType.replace(/ *;.*$/s, '') !== mediaType)
    faults.push(`Content-Type is ${contentType} instead of ${mediaType}`);
  if (response.method.toUpperCase() === 'HEAD') return faults;
  const validate = validatorAt(pointer);
  if (!validate(response.body))
    for (const { instancePath, message, params } of validate.errors ?? [])
      faults.push(`body${instancePath} ${message} ${JSON.stringify(params)}`);
  return faults;
}

function headerFaults(response: ApiResponse, name: string, component: string): string[] {
  const value = header(response, name);
  if (value === undefined) return [`header ${name} is missing`];
  const validate = validatorAt(`/components/headers/${component}/schema`);
  const readings: unknown[] = /^[0-9]+$/.test(value) ? [value, Number(value)] : [value];
  if (readings.some((reading) => validate(reading))) return [];
  return [`header ${name} is "${value}": ${validate.errors?.map(({ message }) => message).join(', ')}`];
}

/** Fields of one answer that cannot be true together (section 3 and 4.3 of the specification). */
function contradictions(body: unknown): string[] {
  if (typeof body !== 'object' || body === null) return [];
  const faults: string[] = [];
  const field = body as Record<string, unknown>;
  const together = (name: string, ...facts: boolean[]): void => {
    if (new Set(facts).size > 1) faults.push(`${name} contradict each other`);
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
      faults.push('a test send has a live channel or a sender');
    if (String(field['expires_at']) <= String(field['created_at']))
      faults.push('expires_at is not after created_at');
  }
  if ('valid' in field) {
    const success = { valid: true, verification: 'verified', attempts_left: 0 };
    if (field['valid'] === true && !isDeepStrictEqual(body, success))
      faults.push('valid is true in a wrong state');
    together(
      'verification and attempts_left',
      field['verification'] === 'pending',
      field['attempts_left'] !== 0,
    );
  }
  return faults;
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
