import { randomUUID } from 'node:crypto';
import {
  createServer,
  STATUS_CODES,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { PROBLEMS } from '../contract.js';
import { parseCreate, parseVerify, readApiKey, readBody, readIdempotencyKey } from './input.js';
import { LostAnswer, Problem } from './problem.js';
import { viewAt, type Service } from './service.js';
import type { Application } from './types.js';

/** The service's limit for the request line and headers together. */
const HEADER_BYTES_MAX = 8 * 1024;
/** Headers that are allowed only once, because the service could not know which of two counts. */
const SINGLE = ['host', 'authorization', 'idempotency-key', 'content-type'];
const ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** @throws Problem, LostAnswer */
type Handler = (
  request: IncomingMessage,
) => Promise<[status: number, body: object, headers?: Record<string, string>]>;

/** Serves the contract over HTTP. @param freeSends the value in the sign-up settings */
export function createContractServer(service: Service, freeSends: number): Server {
  return createServer({ maxHeaderSize: HEADER_BYTES_MAX }, (request, response) => {
    void (async () => {
      try {
        refuseRepeatedHeaders(request);
        const [status, body, headers] = await handlerOf(service, freeSends, request)(request);
        write(service, response, status, 'application/json', body, headers);
      } catch (error) {
        if (error instanceof LostAnswer) request.socket.destroy();
        else writeProblem(service, response, error);
      }
    })();
  });
}

function handlerOf(service: Service, freeSends: number, { url = '', method = '' }: IncomingMessage): Handler {
  const path = url.replace(/\?.*$/s, '');
  const [, id = '', operation] = /^\/v1\/send\/([^/]+)\/(status|verify)$/.exec(path) ?? [];
  const only = (allow: string, handler: Handler): Handler => {
    if (allow.split(', ').includes(method)) return handler;
    throw new Problem('method_not_allowed', { headers: { Allow: allow } });
  };
  if (path === '/v1/send') return only('POST', (request) => create(service, request));
  if (path === '/v1/signup-settings') return only('GET, HEAD', async () => [200, { free_sends: freeSends }]);
  if (operation === 'status') return only('GET, HEAD', async (request) => status(service, request, id));
  if (operation === 'verify') return only('POST', (request) => verify(service, request, id));
  throw new Problem('not_found');
}

/** The checks run in the order in which the service reports them. */
async function create(
  service: Service,
  request: IncomingMessage,
): Promise<[number, object, Record<string, string>]> {
  const application = authenticate(service, request);
  const key = readIdempotencyKey(request);
  const body = await readBody(request);
  const input = parseCreate(body);
  const work = () => service.create(application, input, key, body);
  return [202, ...service.scriptOf(input.to).perform('send', work)];
}

function status(service: Service, request: IncomingMessage, id: string): [number, object] {
  const send = service.find(authenticate(service, request), id);
  return [200, service.scriptOf(send.to).perform('status', () => viewAt(send, service.tick()))];
}

async function verify(service: Service, request: IncomingMessage, id: string): Promise<[number, object]> {
  const application = authenticate(service, request);
  if (!ID.test(id)) throw new Problem('send_not_found');
  const code = parseVerify(await readBody(request));
  const send = service.find(application, id);
  return [200, service.scriptOf(send.to).perform('verify', () => service.guess(send, code))];
}

function authenticate(service: Service, request: IncomingMessage): Application {
  const application = service.callers.get(readApiKey(request));
  if (application === undefined)
    throw new Problem('invalid_api_key', {
      headers: { 'WWW-Authenticate': 'Bearer realm="onecode", error="invalid_token"' },
    });
  return application;
}

function refuseRepeatedHeaders({ rawHeaders }: IncomingMessage): void {
  const names = rawHeaders.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase());
  const twice = SINGLE.find((name) => names.indexOf(name) !== names.lastIndexOf(name));
  if (twice !== undefined) throw new Problem('bad_request', { detail: `The ${twice} header is repeated.` });
}

function writeProblem(service: Service, response: ServerResponse, error: unknown): void {
  const problem = error instanceof Problem ? error : new Problem('internal_error', { detail: String(error) });
  const { code, details } = problem;
  const [status, meaning] = PROBLEMS[code];
  const { detail = meaning, errors, headers } = details;
  const type = `http://127.0.0.1:${response.req.socket.localPort}/docs/errors#${code}`;
  const body = { type, title: STATUS_CODES[status], status, code, detail, errors };
  write(service, response, status, 'application/problem+json', body, headers);
}

function write(
  service: Service,
  response: ServerResponse,
  status: number,
  type: string,
  body: object,
  headers: Record<string, string> = {},
): void {
  response.statusCode = status;
  const all = {
    'Content-Type': type,
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    'X-Request-Id': randomUUID(),
    // Use the adjusted clock: clients compare deadlines with it.
    Date: new Date(service.now()).toUTCString(),
    ...headers,
  };
  for (const [name, value] of Object.entries(all)) response.setHeader(name, value);
  response.end(JSON.stringify(body));
}
