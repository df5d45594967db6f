import { RawConnection, type RawAnswer } from '@onecode/testing';
import fc from 'fast-check';
import { MALFORMATIONS, MUTATIONS, type Malformation } from './malformedBytes.js';
import type { Operation } from './contract.js';
import { pathOf, PICK, requestOf, type RequestDraft, type FuzzRequest } from './request.js';
import { bytesOnTheWire, checkContract, judge } from './connection.js';
import type { FuzzContext } from './context.js';

/** An action on a separate connection. */
interface Scenario {
  operation: string;
  rule: string;
  /** What is written, for the report of a failure. */
  bytes: Buffer;
  /** @returns the statuses of the answers @throws when an answer is wrong or missing */
  run: (connection: RawConnection) => Promise<number[]>;
}
export type ScenarioDraft = (context: FuzzContext) => Scenario;

type ScenarioBuilder = (request: FuzzRequest, pick: number) => Omit<Scenario, 'operation'>;

/** Uses of a socket that no client library has, based on valid requests. */
export function socketScenarios(good: fc.Arbitrary<RequestDraft>): fc.Arbitrary<ScenarioDraft> {
  const builders = fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom(...MALFORMATIONS.map(broken)) },
    { weight: 8, arbitrary: fc.constantFrom(...MUTATIONS.map(mutated)) },
    { weight: 5, arbitrary: fc.constantFrom(aborted, slow, halfOpen, expecting) },
    { weight: 1, arbitrary: fc.constantFrom(gigabyte, endless) },
  );
  const single = fc.tuple(good, builders, PICK).map(([draft, build, pick]): ScenarioDraft => (context) => {
    const request = requestOf(draft(context));
    return { operation: request.operation, ...build(request, pick) };
  });
  const several = fc.array(good, { minLength: 2, maxLength: 8 }).map(
    (drafts): ScenarioDraft =>
      (context) =>
        pipelined(drafts.map((draft) => requestOf(draft(context)))),
  );
  return fc.oneof({ weight: 8, arbitrary: single }, { weight: 1, arbitrary: several });
}

/** Reads answers until the connection is closed. */
async function answersUntilClosed(
  connection: RawConnection,
  methods: readonly string[],
): Promise<RawAnswer[]> {
  const answers: RawAnswer[] = [];
  for (;;) {
    const answer = await connection.answer(methods[answers.length]).catch((error: unknown) => {
      if (connection.isClosed && connection.rest === '') return null;
      throw error;
    });
    if (answer === null) return answers;
    answers.push(answer);
  }
}

/** After this time without an answer the service is waiting for more bytes, and the client closes its half. */
const QUIET_MS = 300;

/** Writes bytes, nothing after them, and checks each answer against the contract. */
async function writeAll(connection: RawConnection, bytes: Buffer): Promise<RawAnswer[]> {
  connection.write(bytes);
  const end = (): void => void connection.socket.end();
  const timer = setTimeout(end, QUIET_MS);
  connection.socket.once('data', end).once('close', () => clearTimeout(timer));
  // Node's parser treats several spaces as one, and a request line without a version as HTTP/0.9.
  const [, method = 'GET', path = '/nothing'] =
    /^([A-Z-]+) +(\/[!-~]*)(?: +HTTP\/1\.[01])?\r\n/.exec(bytes.toString('latin1').replace(/^[\r\n]+/, '')) ??
    [];
  const answers = await answersUntilClosed(connection, [method]);
  answers.forEach((answer, index) =>
    checkContract(index === 0 ? method : 'GET', index === 0 ? path : '/nothing', answer),
  );
  return answers;
}

const broken =
  ({ rule, apply, isInBody = false }: Malformation): ScenarioBuilder =>
  (request, pick) => {
    const bytes = Buffer.from(apply(bytesOnTheWire(request).toString('latin1'), pick), 'latin1');
    return {
      rule,
      bytes,
      run: async (connection) => {
        const statuses = (await writeAll(connection, bytes)).map(({ status }) => status);
        // A request without a body is answered before its body arrives.
        const mayBeServed = isInBody && request.body === null;
        if (!mayBeServed && statuses.some((status) => status < 400))
          throw new Error(`was served: ${statuses.join()}`);
        return statuses;
      },
    };
  };

const mutated =
  ({ rule, apply }: Malformation): ScenarioBuilder =>
  (request, pick) => {
    const bytes = Buffer.from(apply(bytesOnTheWire(request).toString('latin1'), pick), 'latin1');
    return {
      rule,
      bytes,
      run: async (connection) => (await writeAll(connection, bytes)).map(({ status }) => status),
    };
  };

/** The service's timeout for headers. */
const HEADERS_TIMEOUT_MS = 10_000;

/**
 * Reads and checks the one answer of a request that takes time to write. 408 is right once the time for headers has passed, which
 * on a busy machine it may have.
 */
async function answerOfSlow(
  connection: RawConnection,
  request: FuzzRequest,
  startedAt: number,
): Promise<number[]> {
  const answer = await connection.answer(request.method);
  const isLate = answer.status === 408 && performance.now() - startedAt >= HEADERS_TIMEOUT_MS;
  judge(isLate ? { ...request, expected: null } : request, answer);
  return [answer.status];
}

const aborted: ScenarioBuilder = (request, pick) => {
  const bytes = bytesOnTheWire(request).subarray(0, 1 + (pick % bytesOnTheWire(request).length));
  return {
    rule: 'a client that disconnects',
    bytes,
    run: async (connection) => {
      await connection.push(bytes);
      if (pick % 2 === 0) connection.socket.resetAndDestroy();
      else connection.destroy();
      return [];
    },
  };
};

const slow: ScenarioBuilder = (request, pick) => {
  const bytes = bytesOnTheWire(request);
  const size = Math.ceil(bytes.length / (1 + (pick % 30)));
  return {
    rule: 'a client that writes in pieces',
    bytes,
    run: async (connection) => {
      const startedAt = performance.now();
      for (let at = 0; at < bytes.length; at += size) {
        await connection.push(bytes.subarray(at, at + size));
        await new Promise((resolve) => setImmediate(resolve));
      }
      return answerOfSlow(connection, request, startedAt);
    },
  };
};

const halfOpen: ScenarioBuilder = (request) => {
  const bytes = bytesOnTheWire(request);
  return {
    rule: 'a client that half-closes',
    bytes,
    run: async (connection) => {
      connection.write(bytes).socket.end();
      // Node disconnects such a client, although responses may be pending.
      const answers = await answersUntilClosed(connection, [request.method]);
      answers.forEach((answer) => judge(request, answer));
      return answers.map(({ status }) => status);
    },
  };
};

const expecting: ScenarioBuilder = (request) => {
  const headers = [...request.headers, ['Expect', '100-continue'] as const];
  const bytes = bytesOnTheWire({ ...request, headers });
  const end = bytes.indexOf('\r\n\r\n') + 4;
  return {
    rule: 'a client that expects 100-continue',
    bytes,
    run: async (connection) => {
      const startedAt = performance.now();
      connection.write(bytes.subarray(0, end));
      await connection.interim(100);
      connection.write(bytes.subarray(end));
      return answerOfSlow(connection, request, startedAt);
    },
  };
};

/** The head of a request with this framing header. */
const headOf = (request: FuzzRequest, framing: readonly [string, string]): Buffer =>
  bytesOnTheWire({ ...request, headers: [...request.headers, framing], body: null });

/** A request with an endless body must be answered without its body. */
const withEndlessBody = ({ body, ...request }: FuzzRequest): FuzzRequest => ({
  ...request,
  body,
  expected: body === null ? request.expected : [401, 404, 413, 422],
});

const gigabyte: ScenarioBuilder = (request) => {
  const bytes = headOf(request, ['Content-Length', String(2 ** 30)]);
  return {
    rule: 'a body of a gigabyte',
    bytes,
    run: async (connection) =>
      answerOfSlow(connection.write(bytes, 'x'), withEndlessBody(request), performance.now()),
  };
};

const CHUNK = Buffer.from(`8000\r\n${' '.repeat(0x8000)}\r\n`);
/** Larger than every body limit and the system's buffers. */
const CHUNKS_MAX = 512;

const endless: ScenarioBuilder = (request) => {
  const bytes = headOf(request, ['Transfer-Encoding', 'chunked']);
  return {
    rule: 'an endless body',
    bytes,
    run: async (connection) => {
      const startedAt = performance.now();
      connection.write(bytes);
      let answered = false;
      const answer = answerOfSlow(connection, withEndlessBody(request), startedAt).finally(() => {
        answered = true;
      });
      for (let sent = 0; sent < CHUNKS_MAX && !answered; sent++) {
        await connection.push(CHUNK);
        await new Promise((resolve) => setImmediate(resolve));
      }
      return answer;
    },
  };
};

function pipelined(requests: readonly FuzzRequest[]): Scenario {
  const bytes = Buffer.concat(requests.map(bytesOnTheWire));
  return {
    operation: requests[0]?.operation ?? '',
    rule: 'several requests at once',
    bytes,
    run: async (connection) => {
      connection.write(bytes);
      const statuses: number[] = [];
      for (const request of requests) {
        const answer = await connection.answer(request.method);
        judge(request, answer);
        statuses.push(answer.status);
        if (answer.headers['connection'] === 'close') break;
      }
      return statuses;
    },
  };
}

/** A client that stops writing is disconnected after 10 to 20 seconds, and on a busy machine later. */
const DISCONNECTED_MS_MAX = 60_000;

/** A client that stops writing. */
interface SlowClient {
  operation: string;
  rule: string;
  method: string;
  path: string;
  bytes: string;
}

/** Clients that never finish their headers or their body, for each operation, and clients that send one byte or none. */
export function slowClients(operations: readonly Operation[], context: FuzzContext): SlowClient[] {
  const id = '0199c7a2-5b1e-7c3a-9f40-2d6a8e1b4c57';
  const clients = operations.flatMap(({ id: operation, method, template, body, pathParameters }) => {
    const own = context.ownId('test', 0) ?? id;
    const path = pathOf(template, Object.fromEntries(pathParameters.map((name) => [name, own])));
    const head = `${method} ${path} HTTP/1.1\r\nHost: codes.test\r\nAuthorization: Bearer ${context.caller(1).key}\r\n`;
    const client = { operation, method, path };
    const headers = { ...client, rule: 'endless headers', bytes: head };
    const bytes = `${head}Content-Length: 100\r\n\r\n{"`;
    return body === null ? [headers] : [headers, { ...client, rule: 'an unfinished body', bytes }];
  });
  const withoutOperation = { operation: 'none', method: 'GET', path: '/' };
  return [
    ...clients,
    { ...withoutOperation, rule: 'one byte', bytes: 'P' },
    { ...withoutOperation, rule: 'no byte', bytes: '' },
  ];
}

/** Waits until the service disconnects the client. @returns the status @throws unless it is 408 */
export async function untilDisconnected(port: number, { method, path, bytes }: SlowClient): Promise<number> {
  const connection = await RawConnection.open(port);
  try {
    const answer = await connection.write(bytes).answer(method, DISCONNECTED_MS_MAX);
    checkContract(method, path, answer);
    if (answer.status !== 408) throw new Error(`answered ${answer.status} instead of 408`);
    await connection.closed();
    return answer.status;
  } finally {
    connection.destroy();
  }
}
