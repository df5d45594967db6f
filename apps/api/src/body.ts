import type { IncomingMessage } from 'node:http';
import { Problem, type ProblemCode } from '@onecode/domain';

/** The client closed the connection before its request was complete, so there is no client to answer. */
export class ClientGone extends Error {}

/** Larger bodies are read into buffers that are reused: new ones would use memory until garbage collection. */
const SMALL_BYTES_MAX = 512 * 1024;

/**
 * Returns a function that reads the body of a request, whatever its media type and content coding. A body that is too large is refused with
 * `code`: by its `Content-Length` without reading it, or else when it exceeds the limit. `use` must not keep a large body after its first
 * `await`, because its buffer is reused.
 *
 * If the buffers of the bodies being read would exceed `totalBytesMax` together, the oldest bodies are refused with `too_busy`: slow
 * clients lose their place first. A body without `Content-Length` counts as one of the largest.
 *
 * @throws Problem, ClientGone
 */
export function createBodyReader(code: ProblemCode, bytesMax: number, totalBytesMax = Infinity) {
  const free: Buffer[] = [];
  /** The functions that refuse the bodies being read, the oldest first. */
  const refusals = new Set<() => void>();
  let totalBytes = 0;
  const tooLarge = (): Problem => new Problem(code, { detail: `The body is larger than ${bytesMax} bytes.` });

  return <T>(request: IncomingMessage, use: (body: Buffer) => Promise<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      const length = Number(request.headers['content-length'] ?? bytesMax);
      if (length > bytesMax) return reject(tooLarge());
      if (request.destroyed) return reject(new ClientGone());
      const isSmall = length <= SMALL_BYTES_MAX;
      const size = isSmall ? length : bytesMax;
      for (const refuseOldest of refusals) {
        if (totalBytes + size <= totalBytesMax) break;
        refuseOldest();
      }

      const buffer = isSmall ? Buffer.allocUnsafe(size) : (free.pop() ?? Buffer.allocUnsafeSlow(size));
      let bytes = 0;
      const end = (finish: () => void): void => {
        request.off('data', take).off('end', onEnd).off('error', onGone).off('close', onGone);
        finish();
        refusals.delete(refuse);
        totalBytes -= size;
        if (!isSmall) free.push(buffer);
      };
      const fail = (error: Error): void => end(() => reject(error));
      const take = (chunk: Buffer): void => {
        if (bytes + chunk.length > size) fail(tooLarge());
        else bytes += chunk.copy(buffer, bytes);
      };
      const onEnd = (): void => end(() => resolve(use(buffer.subarray(0, bytes))));
      const onGone = (): void => fail(new ClientGone());
      const refuse = (): void => fail(new Problem('too_busy'));
      refusals.add(refuse);
      totalBytes += size;
      request.on('data', take).on('end', onEnd).on('error', onGone).on('close', onGone);
    });
}

const readContractBody = createBodyReader('invalid_json', 65_536);

/** Reads the body of an operation of the contract, of at most 64 KiB. @throws Problem `invalid_json`, ClientGone */
export const readJsonBody = (request: IncomingMessage): Promise<Buffer> =>
  readContractBody(request, async (body) => body);
