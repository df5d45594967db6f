import type { IncomingMessage } from 'node:http';
import { Problem, type ProblemCode } from '@onecode/domain';

/** The client closed the connection before its request was complete, so there is no client to answer. */
export class ClientGone extends Error {}

const tooLarge = (code: ProblemCode, bytesMax: number): Problem =>
  new Problem(code, { detail: `The body is larger than ${bytesMax} bytes.` });

const announcedBytes = (request: IncomingMessage): number | undefined => {
  const length = request.headers['content-length'];
  return length === undefined ? undefined : Number(length);
};

/** Passes a request's chunks to `take`. `complete` resolves after the last chunk; `stop` ends the reading and rejects it. */
function readChunks(
  request: IncomingMessage,
  take: (chunk: Buffer) => void,
): { complete: Promise<void>; stop: (error: Error) => void } {
  let stop = (_error: Error): void => {};
  const complete = new Promise<void>((resolve, reject) => {
    const end = (finish: () => void): void => {
      request.pause().off('data', take).off('end', onEnd).off('error', onGone).off('close', onGone);
      finish();
    };
    const onEnd = (): void => end(resolve);
    const onGone = (): void => stop(new ClientGone());
    stop = (error) => end(() => reject(error));
    request.on('data', take).on('end', onEnd).on('error', onGone).on('close', onGone);
  });
  return { complete, stop };
}

/** 64 KiB: the contract's limit for a body. */
const BYTES_MAX = 65_536;

/**
 * Reads the body of an operation of the contract. Media type and content coding are ignored, so a compressed body is not JSON. A body that
 * is too large is refused by its `Content-Length` without reading it, or else when it exceeds the limit.
 *
 * @throws Problem `invalid_json`, ClientGone
 */
export async function readJsonBody(request: IncomingMessage): Promise<Buffer> {
  const refusal = tooLarge('invalid_json', BYTES_MAX);
  if ((announcedBytes(request) ?? 0) > BYTES_MAX) throw refusal;
  const chunks: Buffer[] = [];
  let bytes = 0;
  const reading = readChunks(request, (chunk) => {
    bytes += chunk.length;
    if (bytes > BYTES_MAX) reading.stop(refusal);
    else chunks.push(chunk);
  });
  await reading.complete;
  return Buffer.concat(chunks, bytes);
}

/** A body size, and how many bodies of that size may be read at the same time. */
interface BodySize {
  bytes: number;
  countMax: number;
}

/** The buffers of bodies of one size. */
class BodyBuffers {
  /** Reused, because a new buffer for each body would use memory until garbage collection. */
  readonly #free: Buffer[] = [];
  /** One function per body being read, oldest body first. It refuses that body. */
  readonly #refusals = new Set<() => void>();

  constructor(readonly size: BodySize) {}

  async read<T>(request: IncomingMessage, refusal: Problem, use: (body: Buffer) => T): Promise<T> {
    const [refuseOldest] = this.#refusals;
    if (this.#refusals.size >= this.size.countMax) refuseOldest?.();
    const buffer = this.#free.pop() ?? Buffer.allocUnsafeSlow(this.size.bytes);
    let bytes = 0;
    const reading = readChunks(request, (chunk) => {
      if (bytes + chunk.length > buffer.length) reading.stop(refusal);
      else bytes += chunk.copy(buffer, bytes);
    });
    const refuse = (): void => {
      this.#freeBuffer(refuse, buffer);
      reading.stop(new Problem('too_busy'));
    };
    this.#refusals.add(refuse);
    try {
      await reading.complete;
      return use(buffer.subarray(0, bytes));
    } finally {
      this.#freeBuffer(refuse, buffer);
    }
  }

  /** Returns a body's buffer to the pool. A second call does nothing. */
  #freeBuffer(refuse: () => void, buffer: Buffer): void {
    if (this.#refusals.delete(refuse)) this.#free.push(buffer);
  }
}

/**
 * Returns a function that reads bodies of unauthenticated clients in bounded memory. At the limit, a new body causes the oldest one to be
 * refused with `too_busy`, so slow clients lose their place first. A body without `Content-Length` counts as one of the largest. `use` must
 * not keep the body, because its buffer is reused.
 *
 * @param sizes in ascending order
 * @throws Problem `payload_too_large`, `too_busy`, ClientGone
 */
export function createBodyReader(sizes: readonly BodySize[]) {
  const pools = sizes.map((size) => new BodyBuffers(size));
  const bytesMax = Math.max(...sizes.map(({ bytes }) => bytes));
  return async <T>(request: IncomingMessage, use: (body: Buffer) => T): Promise<T> => {
    const refusal = tooLarge('payload_too_large', bytesMax);
    const length = announcedBytes(request) ?? bytesMax;
    const pool = pools.find(({ size }) => length <= size.bytes);
    if (pool === undefined) throw refusal;
    return pool.read(request, refusal, use);
  };
}
