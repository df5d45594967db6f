import { RawConnection, type RawAnswer } from '@onecode/testing';
import fc from 'fast-check';
import { BREAKS, MUTATIONS, type Break } from './breaks.js';
import { requestOf, type Draft, type FuzzRequest } from './request.js';
import { PICK } from './rules.js';
import { bytesOnTheWire, checkContract, judge } from './wire.js';
import type { World } from './world.js';

/** Something that is done with a connection of its own. */
interface Play {
  operation: string;
  rule: string;
  /** What is written, to be shown. */
  bytes: Buffer;
  /** @returns the statuses that were seen @throws when an answer is wrong or does not come */
  run: (connection: RawConnection) => Promise<number[]>;
}
export type PlayDraft = (world: World) => Play;

type Way = (request: FuzzRequest, pick: number) => Omit<Play, 'operation'>;

/** Ways of using a socket that no client library has, with good requests to begin with. */
export function socketPlays(good: fc.Arbitrary<Draft>): fc.Arbitrary<PlayDraft> {
  const ways = fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom(...BREAKS.map(broken)) },
    { weight: 8, arbitrary: fc.constantFrom(...MUTATIONS.map(mutated)) },
    { weight: 5, arbitrary: fc.constantFrom(aborted, slow, halfOpen, expecting) },
    { weight: 1, arbitrary: fc.constantFrom(gigabyte, endless) },
  );
  const single = fc.tuple(good, ways, PICK).map(([draft, way, pick]): PlayDraft => (world) => {
    const request = requestOf(draft(world));
    return { operation: request.operation, ...way(request, pick) };
  });
  const several = fc.array(good, { minLength: 2, maxLength: 8 }).map(
    (drafts): PlayDraft =>
      (world) =>
        pipelined(drafts.map((draft) => requestOf(draft(world)))),
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

/** When nothing was answered for so long, the service waits for more, and learns that none will come. */
const QUIET_MS = 300;

/** Writes bytes and nothing more, and holds each answer against the contract. */
async function writeAll(connection: RawConnection, bytes: Buffer): Promise<RawAnswer[]> {
  connection.write(bytes);
  const end = (): void => void connection.socket.end();
  const timer = setTimeout(end, QUIET_MS);
  connection.socket.once('data', end).once('close', () => clearTimeout(timer));
  const [, method = 'GET', path = '/'] =
    /^([A-Z-]+) (\/[!-~]*) HTTP\/1\.[01]\r\n/.exec(bytes.toString('latin1').replace(/^[\r\n]+/, '')) ?? [];
  const answers = await answersUntilClosed(connection, [method]);
  answers.forEach((answer, index) =>
    checkContract(index === 0 ? method : 'GET', index === 0 ? path : '/', answer),
  );
  return answers;
}

const broken =
  ({ rule, apply, isInBody = false }: Break): Way =>
  (request, pick) => {
    const bytes = Buffer.from(apply(bytesOnTheWire(request).toString('latin1'), pick), 'latin1');
    return {
      rule,
      bytes,
      run: async (connection) => {
        const statuses = (await writeAll(connection, bytes)).map(({ status }) => status);
        // An answer that needs no body does not wait for it.
        const mayBeServed = isInBody && request.body === null;
        if (!mayBeServed && statuses.some((status) => status < 400))
          throw new Error(`was served: ${statuses.join()}`);
        return statuses;
      },
    };
  };

const mutated =
  ({ rule, apply }: Break): Way =>
  (request, pick) => {
    const bytes = Buffer.from(apply(bytesOnTheWire(request).toString('latin1'), pick), 'latin1');
    return {
      rule,
      bytes,
      run: async (connection) => (await writeAll(connection, bytes)).map(({ status }) => status),
    };
  };

/** One answer, as a request on its own would have. */
async function onlyAnswer(connection: RawConnection, request: FuzzRequest): Promise<number[]> {
  const answer = await connection.answer(request.method);
  judge(request, answer);
  return [answer.status];
}

const aborted: Way = (request, pick) => {
  const bytes = bytesOnTheWire(request).subarray(0, 1 + (pick % bytesOnTheWire(request).length));
  return {
    rule: 'a client that goes away',
    bytes,
    run: async (connection) => {
      await connection.push(bytes);
      if (pick % 2 === 0) connection.socket.resetAndDestroy();
      else connection.destroy();
      return [];
    },
  };
};

const slow: Way = (request, pick) => {
  const bytes = bytesOnTheWire(request);
  const size = Math.ceil(bytes.length / (1 + (pick % 30)));
  return {
    rule: 'a client that writes in pieces',
    bytes,
    run: async (connection) => {
      for (let at = 0; at < bytes.length; at += size) {
        await connection.push(bytes.subarray(at, at + size));
        await new Promise((resolve) => setImmediate(resolve));
      }
      return onlyAnswer(connection, request);
    },
  };
};

const halfOpen: Way = (request) => {
  const bytes = bytesOnTheWire(request);
  return {
    rule: 'a client that closes its half',
    bytes,
    run: async (connection) => {
      connection.write(bytes).socket.end();
      // Node gives such a client up, whatever it has coming.
      const answers = await answersUntilClosed(connection, [request.method]);
      answers.forEach((answer) => judge(request, answer));
      return answers.map(({ status }) => status);
    },
  };
};

const expecting: Way = (request) => {
  const headers = [...request.headers, ['Expect', '100-continue'] as const];
  const bytes = bytesOnTheWire({ ...request, headers });
  const end = bytes.indexOf('\r\n\r\n') + 4;
  return {
    rule: 'a client that asks before it sends its body',
    bytes,
    run: async (connection) => {
      connection.write(bytes.subarray(0, end));
      await connection.interim(100);
      connection.write(bytes.subarray(end));
      return onlyAnswer(connection, request);
    },
  };
};

/** The head of a request whose body is framed by this header. */
const headOf = (request: FuzzRequest, framing: readonly [string, string]): Buffer =>
  bytesOnTheWire({ ...request, headers: [...request.headers, framing], body: null });

/** What a request whose body has no end may be answered: nothing that needs its body, and without waiting for it. */
const withoutEnd = ({ body, ...request }: FuzzRequest): FuzzRequest => ({
  ...request,
  body,
  expected: body === null ? request.expected : [401, 404, 413, 422],
});

const gigabyte: Way = (request) => {
  const bytes = headOf(request, ['Content-Length', String(2 ** 30)]);
  return {
    rule: 'a body of a gigabyte',
    bytes,
    run: async (connection) => onlyAnswer(connection.write(bytes, 'x'), withoutEnd(request)),
  };
};

const CHUNK = Buffer.from(`8000\r\n${' '.repeat(0x8000)}\r\n`);
/** Above every limit of a body, with room for what the system holds in between. */
const CHUNKS_MAX = 512;

const endless: Way = (request) => {
  const bytes = headOf(request, ['Transfer-Encoding', 'chunked']);
  return {
    rule: 'a body without end',
    bytes,
    run: async (connection) => {
      connection.write(bytes);
      let answered = false;
      const answer = onlyAnswer(connection, withoutEnd(request)).finally(() => {
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

function pipelined(requests: readonly FuzzRequest[]): Play {
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
