import type { IncomingMessage } from 'node:http';
import { Problem, type ProblemCode } from '@onecode/domain';
import getRawBody, { type RawBodyError } from 'raw-body';

/** The client closed the connection before its request was complete, so there is no client to answer. */
export class ClientGone extends Error {}

/** 64 KiB: the contract's limit for a body. */
const BYTES_MAX = 65_536;

/**
 * Reads the body of an operation of the contract. Media type and content coding are ignored, so a compressed body is not JSON.
 *
 * @throws Problem `invalid_json` if the body is too large, ClientGone
 */
export function readJsonBody(request: IncomingMessage): Promise<Buffer> {
  return readBody(request, BYTES_MAX, 'invalid_json');
}

/** Reads a body. One that is too large is refused by its `Content-Length` without reading it, or else when it exceeds the limit. */
async function readBody(request: IncomingMessage, bytesMax: number, tooLarge: ProblemCode): Promise<Buffer> {
  try {
    return await getRawBody(request, { limit: bytesMax, length: request.headers['content-length'] ?? null });
  } catch (error) {
    if ((error as RawBodyError).type === 'entity.too.large')
      throw new Problem(tooLarge, { detail: `The body is larger than ${bytesMax} bytes.` });
    throw new ClientGone('the request ended early', { cause: error });
  }
}

/**
 * Returns a function that reads bodies of unauthenticated clients in bounded memory. A body without `Content-Length` counts as the largest.
 * If a new body exceeds the limit of all together, the oldest ones are refused with `too_busy`: slow clients lose their place first.
 *
 * @throws Problem `payload_too_large`, `too_busy`, ClientGone
 */
export function createBodyReader({ bytesMax, totalBytesMax }: { bytesMax: number; totalBytesMax: number }) {
  /** The bytes of each body that is being read by the function that refuses it, the oldest first. */
  const underWay = new Map<() => void, number>();
  let total = 0;
  const end = (refuse: () => void): void => {
    total -= underWay.get(refuse) ?? 0;
    underWay.delete(refuse);
  };
  return async (request: IncomingMessage): Promise<Buffer> => {
    let refuse = (): void => {};
    const refused = new Promise<never>((_, reject) => {
      refuse = () => reject(new Problem('too_busy'));
    });
    const bytes = Math.min(Number(request.headers['content-length'] ?? bytesMax), bytesMax);
    underWay.set(refuse, bytes);
    total += bytes;
    for (const refuseOldest of underWay.keys()) {
      if (total <= totalBytesMax) break;
      end(refuseOldest);
      refuseOldest();
    }
    try {
      return await Promise.race([readBody(request, bytesMax, 'payload_too_large'), refused]);
    } finally {
      end(refuse);
    }
  };
}
