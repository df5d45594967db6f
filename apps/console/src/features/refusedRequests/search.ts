import { hashIdempotencyKey } from '@onecode/domain';
import { isId, type RefusedRequestSearch } from '@onecode/store';

/**
 * What a text may name: a request by its id, and requests by their idempotency key, which often has the form of an id too. Most clients
 * send a key in UTF-8, and some in latin1.
 */
export function searchFor(text: string): RefusedRequestSearch {
  const id = text.toLowerCase();
  const utf8 = Buffer.from(text, 'utf8');
  const latin1 = Buffer.from(text, 'latin1');
  const isLatin1 = latin1.toString('latin1') === text;
  const forms = isLatin1 && !latin1.equals(utf8) ? [utf8, latin1] : [utf8];
  return {
    ...(isId(id) && { requestId: id }),
    idempotencyKeyHashes: forms.map(hashIdempotencyKey),
  };
}
