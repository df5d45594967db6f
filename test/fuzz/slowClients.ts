import { RawConnection } from '@onecode/testing';
import type { Operation } from './contract.js';
import { pathOf } from './request.js';
import { checkContract } from './wire.js';
import type { World } from './world.js';

/** The service's limits for headers and for a whole request, 10 s and 15 s, with time to spare for a busy machine. */
const HEADERS_MS_MAX = 15_000;
const REQUEST_MS_MAX = 19_500;

/** A client that stops writing in the middle, and how long the service may wait for more. */
interface SlowClient {
  operation: string;
  rule: string;
  method: string;
  path: string;
  bytes: string;
  msMax: number;
}

/** One that never ends its headers for each operation, one that never ends its body, and those that hardly begin. */
export function slowClients(operations: readonly Operation[], world: World): SlowClient[] {
  const id = '0199c7a2-5b1e-7c3a-9f40-2d6a8e1b4c57';
  const clients = operations.flatMap(({ id: operation, method, template, body, pathParameters }) => {
    const own = world.ownId('test', 0) ?? id;
    const path = pathOf(template, Object.fromEntries(pathParameters.map((name) => [name, own])));
    const head = `${method} ${path} HTTP/1.1\r\nHost: codes.test\r\nAuthorization: Bearer ${world.caller(1).key}\r\n`;
    const client = { operation, method, path };
    const headers = { ...client, rule: 'headers without end', bytes: head, msMax: HEADERS_MS_MAX };
    const bytes = `${head}Content-Length: 100\r\n\r\n{"`;
    return body === null
      ? [headers]
      : [headers, { ...client, rule: 'a body that stops', bytes, msMax: REQUEST_MS_MAX }];
  });
  const nothing = { operation: 'none', method: 'GET', path: '/', msMax: HEADERS_MS_MAX };
  return [
    ...clients,
    { ...nothing, rule: 'one byte', bytes: 'P' },
    { ...nothing, rule: 'no byte', bytes: '' },
  ];
}

/** Waits for the service to cut the client off. @returns the status @throws when it does not, or not as it should */
export async function untilCutOff(port: number, { method, path, bytes, msMax }: SlowClient): Promise<number> {
  const connection = await RawConnection.open(port);
  const start = performance.now();
  try {
    const answer = await connection.write(bytes).answer(method);
    checkContract(method, path, answer);
    if (answer.status !== 408) throw new Error(`answered ${answer.status} instead of 408`);
    await connection.closed();
    const ms = performance.now() - start;
    if (ms > msMax) throw new Error(`was cut off after ${Math.round(ms)} ms`);
    return answer.status;
  } finally {
    connection.destroy();
  }
}
