import { Type, type Static } from 'typebox';
import type { Database } from '@onecode/store/client';
import {
  countRefusedRequests,
  listRefusedRequests,
  type RefusedRequestSearch,
  REFUSED_REQUEST_DAYS,
} from '@onecode/store/reports';
import { accountReading } from '../../http/accountReading.js';
import { allPages, csvOf } from '../../http/csv.js';
import { idField, strictObject } from '../../http/fields.js';
import type { Route } from '../../http/route.js';
import { termsOf } from '../search/routes.js';
import { REFUSED_REQUEST_COLUMNS, refusalReasonView, refusedRequestView } from './view.js';

const PAGE_LIMIT = 50;

const FILTER = {
  application: Type.Optional(idField),
  hours: Type.Optional(Type.Integer({ minimum: 1, maximum: REFUSED_REQUEST_DAYS * 24 })),
};
const QUERY = strictObject({
  ...FILTER,
  /** The reason: code, sentence and invalid fields of the response. */
  code: Type.Optional(Type.String({ pattern: '^[a-z_]{1,64}$' })),
  detail: Type.Optional(Type.String({ maxLength: 500, pattern: '^[^\\p{Cc}\\p{Cs}]*$' })),
  fields: Type.Optional(Type.Array(Type.String({ pattern: '^[a-z_]{1,64}$' }), { maxItems: 10 })),
  /** A request id or an idempotency key, which has 255 bytes at the most. */
  text: Type.Optional(Type.String({ minLength: 1, maxLength: 255 })),
  before: Type.Optional(idField),
});

/**
 * Requests of an account that the API refused; for staff, those of any account. An idempotency key can contain anything, even a phone number, so
 * it is never in a URL: proxies log URLs, and browsers remember them.
 */
export const refusedRequestRoutes: readonly Route[] = [
  ...accountReading('post', '/refused-requests/search', {
    body: QUERY,
    handle: ({ context, accountId, body }) => read(context.database, accountId, body),
  }),
  ...accountReading('get', '/refused-requests.csv', {
    query: strictObject(FILTER),
    async handle({ context, accountId, query: { application, hours } }) {
      const filter = { applicationId: application, hours };
      return csvOf(
        'refused-requests',
        REFUSED_REQUEST_COLUMNS,
        allPages(
          accountId,
          (page) => listRefusedRequests(context.database, accountId, filter, page),
          ({ requests }) => requests.map(refusedRequestView),
        ),
      );
    },
  }),
];

async function read(
  database: Database,
  accountId: string,
  { application, hours, text, before, ...reason }: Static<typeof QUERY>,
) {
  const filter = { applicationId: application, hours };
  const search = text === undefined ? undefined : searchFor(text);
  const page = { limit: PAGE_LIMIT, ...(before !== undefined && { before }) };
  const [{ requests, next }, reasons] = await Promise.all([
    listRefusedRequests(database, accountId, { ...filter, ...reason, search }, page),
    before === undefined ? countRefusedRequests(database, accountId, filter) : [],
  ]);
  return { reasons: reasons.map(refusalReasonView), requests: requests.map(refusedRequestView), next };
}

/** Returns what a text can refer to: a request by its id, and requests by their idempotency key, which often looks like an id. */
function searchFor(text: string): RefusedRequestSearch {
  const { id = null, idempotencyKeyHashes } = termsOf(text);
  return { requestId: id, idempotencyKeyHashes };
}
