import type { IncomingMessage } from 'node:http';
import { Problem, type ProblemCode } from '@onecode/domain';

/** The client closed the connection before its request was complete, so there is no client to answer. */
export class ClientGone extends Error {}

/** The least memory that a chunk counts as: without it, a client could send a body byte by byte, in millions of objects. */
const CHUNK_BYTES_MIN = 256;

/**
 * Returns a function that reads the body of a request, whatever its media type and content coding, as the chunks that arrived. A body that
 * is too large is refused with `code`: by its `Content-Length` without reading it, or else when it exceeds the limit.
 *
 * If all bodies being read use more than `totalBytesMax` together, the oldest bodies are refused with `too_busy`: slow clients lose their
 * place first.
 *
 * @throws Problem, ClientGone
 */
export function createBodyReader(code: ProblemCode, bytesMax: number, totalBytesMax = Infinity) {
  /** The functions that refuse the bodies being read, the oldest first. */
  const refusals = new Set<() => void>();
  let totalBytes = 0;
  const tooLarge = (): Problem => new Problem(code, { detail: `The body is larger than ${bytesMax} bytes.` });

  return (request: IncomingMessage): Promise<Buffer[]> =>
    new Promise((resolve, reject) => {
      if (Number(request.headers['content-length'] ?? 0) > bytesMax) return reject(tooLarge());
      if (request.destroyed) return reject(new ClientGone());
      const chunks: Buffer[] = [];
      let bytes = 0;
      let usedBytes = 0;
      const end = (settle: () => void): void => {
        request.off('data', take).off('end', finish).off('close', leave);
        refusals.delete(refuse);
        totalBytes -= usedBytes;
        settle();
      };
      const take = (chunk: Buffer): void => {
        chunks.push(chunk);
        bytes += chunk.length;
        const chunkBytes = Math.max(chunk.length, CHUNK_BYTES_MIN);
        usedBytes += chunkBytes;
        totalBytes += chunkBytes;
        if (bytes > bytesMax) end(() => reject(tooLarge()));
        for (const refuseOldest of refusals) {
          if (totalBytes <= totalBytesMax) break;
          refuseOldest();
        }
      };
      const finish = (): void => end(() => resolve(chunks));
      const leave = (): void => end(() => reject(new ClientGone()));
      const refuse = (): void => end(() => reject(new Problem('too_busy')));
      refusals.add(refuse);
      request.on('data', take).on('end', finish).on('close', leave);
    });
}

const readContractBody = createBodyReader('invalid_json', 65_536);

/** Reads the body of an operation of the contract, of at most 64 KiB. @throws Problem `invalid_json`, ClientGone */
export const readJsonBody = async (request: IncomingMessage): Promise<Buffer> =>
  Buffer.concat(await readContractBody(request));
