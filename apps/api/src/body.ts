import type { IncomingMessage } from 'node:http';
import { Problem, type ProblemCode } from '@onecode/domain';

/** The client closed the connection before its request was complete, so that there is nobody to answer. */
export class ClientGone extends Error {}

/** The refusal of a body of more than `bytesMax` bytes. */
export function tooLarge(code: ProblemCode, bytesMax: number): Problem {
  return new Problem(code, { detail: `The body is larger than ${bytesMax} bytes.` });
}

/**
 * Reads a request's body. It refuses a body that is too large by `Content-Length` unread, and otherwise as soon as it has become too
 * large.
 *
 * @throws Problem with the given code, ClientGone
 */
function readBody(request: IncomingMessage, bytesMax: number, code: ProblemCode): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > bytesMax)
    return Promise.reject(tooLarge(code, bytesMax));
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const onData = (chunk: Buffer): void => {
      bytes += chunk.length;
      if (bytes > bytesMax) settle(() => reject(tooLarge(code, bytesMax)));
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

/** 64 KiB: the contract's limit for a body. */
const JSON_BYTES_MAX = 65_536;

/**
 * Reads the body of an operation of the contract. Only its bytes count: media type and content coding may be missing or different, and
 * a compressed body is not JSON.
 *
 * @throws Problem `invalid_json`
 */
export const readJsonBody = (request: IncomingMessage): Promise<Buffer> =>
  readBody(request, JSON_BYTES_MAX, 'invalid_json');
