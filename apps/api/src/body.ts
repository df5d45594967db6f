import type { IncomingMessage } from 'node:http';
import { Problem, type ProblemCode } from '@onecode/domain';

/** The client closed the connection before its request was complete, so that there is nobody to answer. */
export class ClientGone extends Error {}

/** The refusal of a body of more than `bytesMax` bytes. */
export function tooLarge(code: ProblemCode, bytesMax: number): Problem {
  return new Problem(code, { detail: `The body is larger than ${bytesMax} bytes.` });
}

/** 64 KiB: the contract's limit for a body. */
const BYTES_MAX = 65_536;

/**
 * Reads the body of an operation of the contract. Only its bytes count: media type and content coding may be missing or different, and
 * a compressed body is not JSON. A body that is too large is refused by `Content-Length` unread, and otherwise as soon as it has become
 * too large.
 *
 * @throws Problem `invalid_json`, ClientGone
 */
export function readJsonBody(request: IncomingMessage): Promise<Buffer> {
  const refusal = () => tooLarge('invalid_json', BYTES_MAX);
  if (Number(request.headers['content-length'] ?? 0) > BYTES_MAX) return Promise.reject(refusal());
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const onData = (chunk: Buffer): void => {
      bytes += chunk.length;
      if (bytes > BYTES_MAX) settle(() => reject(refusal()));
      else chunks.push(chunk);
    };
    const onEnd = (): void => settle(() => resolve(Buffer.concat(chunks, bytes)));
    const onGone = (): void => settle(() => reject(new ClientGone()));
    const settle = (how: () => void): void => {
      request.pause().off('data', onData).off('end', onEnd).off('error', onGone).off('close', onGone);
      how();
    };
    request.on('data', onData).on('end', onEnd).on('error', onGone).on('close', onGone);
  });
}
