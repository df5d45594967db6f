import { Type } from 'typebox';
import { hashIdempotencyKey, parseRecipient } from '@onecode/domain';
import { isId } from '@onecode/store/client';
import {
  listSends,
  search,
  searchAccounts,
  searchAccountsByEmail,
  type Found,
  type SearchTerms,
} from '@onecode/store/reports';
import { listSenders } from '@onecode/store/senders';
import type { ConsoleContext } from '../../context.js';
import { strictObject } from '../../http/fields.js';
import { createFairLimiter } from '../../http/limiters.js';
import { route, type Route } from '../../http/route.js';
import { readRecipientKeys } from '../recipients/recipientKeys.js';
import { pastedNumber } from '../../http/pastedNumber.js';

/** An idempotency key has 255 bytes at the most. */
const BODY = strictObject({ text: Type.String({ pattern: '\\S', maxLength: 255 }) });
const FOUND_MAX = 5;
/** Some searches scan many rows. */
const limitSearches = createFairLimiter({ concurrency: 3, concurrencyPerKey: 1, queuedPerKeyMax: 20 });

/** One search for all kinds of ids. The text may be a phone number or a key, so it is never in a URL: proxies log URLs. */
export const searchRoutes: readonly Route[] = [
  route('post', '/accounts/:account/search', 'viewer', {
    body: BODY,
    async handle({ context, accountId, body }) {
      const text = body.text.trim();
      return limitSearches(accountId, async () => {
        const toNumber = await sendsTo(context, accountId, text);
        const found = await search(context.database, accountId, termsOf(text));
        const known = new Set(toNumber.map(({ id }) => id));
        return { found: [...toNumber, ...found.filter(({ id }) => !known.has(id))] };
      });
    },
  }),
  route('post', '/staff/search', 'on_call', {
    body: BODY,
    async handle({ context: { database }, person, body }) {
      const text = body.text.trim();
      return limitSearches(person.id, async () => {
        const terms = termsOf(text);
        const [accounts, byEmail, senders, found] = await Promise.all([
          searchAccounts(database, { text, limit: FOUND_MAX }),
          searchAccountsByEmail(database, text),
          listSenders(database),
          search(database, null, terms),
        ]);
        const named = senders.filter(
          ({ id, phoneNumberId, number }) =>
            terms.id === id ||
            text === phoneNumberId ||
            (terms.recipientEnd !== undefined && number.endsWith(terms.recipientEnd)),
        );
        return {
          found: [
            ...byEmail.map((account) => ({ ...account, kind: 'account' as const })),
            ...accounts.map(({ id, name }) => ({ kind: 'account' as const, id, name, email: null })),
            ...named.map(({ id, number }) => ({ kind: 'sender' as const, id, number })),
            ...found,
          ],
        };
      });
    },
  }),
];

/** Returns the newest sends to a text that is a whole number. */
async function sendsTo(context: ConsoleContext, accountId: string, text: string): Promise<Found[]> {
  if (parseRecipient(pastedNumber(text)).kind !== 'phone') return [];
  const filter = { recipientKeys: readRecipientKeys(context, text) };
  const { sends } = await listSends(context.database, accountId, filter, { limit: FOUND_MAX });
  return sends.map(({ id, recipientMasked, status, createdAt }) => ({
    kind: 'send',
    id,
    accountId,
    accountName: '',
    recipientMasked,
    status,
    at: createdAt,
  }));
}

/** Returns the possible meanings of a text. Most clients send an idempotency key in UTF-8, and some in latin1. */
export function termsOf(text: string): SearchTerms {
  const id = text.toLowerCase();
  const latin1 = Buffer.from(text, 'latin1');
  const forms = latin1.toString('latin1') === text ? [Buffer.from(text), latin1] : [Buffer.from(text)];
  const number = pastedNumber(text);
  // Without its trunk prefix, a national number is the end of the international one.
  const digits = /^[+\d ().-]+$/.test(number) ? number.replaceAll(/\D/g, '').replace(/^0+(?=\d{5})/, '') : '';
  return {
    ...(isId(id) && { id }),
    ...(digits.length >= 4 && digits.length <= 15 && { recipientEnd: digits }),
    // The last characters, a hint, or a whole key.
    ...(/^(?:ak_\w*)?…?\w{4}$/.test(text) && { keyEnd: text.slice(-4) }),
    idempotencyKeys: forms,
    idempotencyKeyHashes: forms.map(hashIdempotencyKey),
  };
}
