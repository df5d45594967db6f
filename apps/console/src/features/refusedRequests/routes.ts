import { Type } from 'typebox';
import {
  findAccount,
  findRefusedRequests,
  listRefusedApplications,
  listRefusedRequests,
  sumRefusedRequests,
  type Database,
  type RefusedRequestFilter,
} from '@onecode/store';
import { idField, pageFields } from '../../http/fields.js';
import { orNotFound } from '../../http/problem.js';
import { route, type Route } from '../../http/route.js';
import { searchFor } from './search.js';
import {
  refusedCodesView,
  refusedRequestsView,
  type RefusedCodesView,
  type RefusedRequestsView,
  type StaffRefusedCodesView,
} from './view.js';

const STRICT = { additionalProperties: false };
/** As long as they are kept. */
const HOURS_MAX = 14 * 24;

const filterFields = {
  application: Type.Optional(idField),
  hours: Type.Integer({ minimum: 1, maximum: HOURS_MAX, default: HOURS_MAX }),
};
const SUMS = Type.Object(filterFields, STRICT);
const LIST = Type.Object(
  {
    ...filterFields,
    limit: pageFields.limit,
    before: Type.Optional(idField),
    code: Type.Optional(Type.String({ pattern: '^[a-z_]{1,64}$' })),
  },
  STRICT,
);
/** A request id or an idempotency key, which has 255 bytes at the most. */
const SEARCH = Type.Object(
  { text: Type.String({ minLength: 1, maxLength: 255 }), before: Type.Optional(idField) },
  STRICT,
);
const SEARCH_LIMIT = 50;

/** Requests of an account that the API refused, by code and one by one; for staff, those of any account. */
export const refusedRequestRoutes: readonly Route[] = [
  route({
    method: 'get',
    path: '/accounts/:account/refused-requests/codes',
    access: 'viewer',
    query: SUMS,
    handle: ({ context, accountId, query }) => codes(context.database, accountId, query),
  }),
  route({
    method: 'get',
    path: '/accounts/:account/refused-requests',
    access: 'viewer',
    query: LIST,
    handle: ({ context, accountId, query }) => list(context.database, accountId, query),
  }),
  // An idempotency key may hold anything, a number too, so that it never stands in a URL: proxies log those, and browsers remember them.
  route({
    method: 'post',
    path: '/accounts/:account/refused-requests/search',
    access: 'viewer',
    body: SEARCH,
    handle: ({ context, accountId, body }) => search(context.database, accountId, body),
  }),
  route({
    method: 'get',
    path: '/staff/accounts/:target/refused-requests/codes',
    access: 'on_call',
    query: SUMS,
    async handle({ context: { database }, params, query }): Promise<StaffRefusedCodesView> {
      const { id, name } = orNotFound(await findAccount(database, params['target'] ?? ''));
      return { ...(await codes(database, id, query)), account: { id, name } };
    },
  }),
  route({
    method: 'get',
    path: '/staff/accounts/:target/refused-requests',
    access: 'on_call',
    query: LIST,
    async handle({ context: { database }, params, query }) {
      const { id } = orNotFound(await findAccount(database, params['target'] ?? ''));
      return list(database, id, query);
    },
  }),
  route({
    method: 'post',
    path: '/staff/accounts/:target/refused-requests/search',
    access: 'on_call',
    body: SEARCH,
    async handle({ context: { database }, params, body }) {
      const { id } = orNotFound(await findAccount(database, params['target'] ?? ''));
      return search(database, id, body);
    },
  }),
];

async function codes(
  database: Database,
  accountId: string,
  query: Type.Static<typeof SUMS>,
): Promise<RefusedCodesView> {
  const [sums, applications] = await Promise.all([
    sumRefusedRequests(database, accountId, filterOf(query)),
    listRefusedApplications(database, accountId),
  ]);
  return refusedCodesView(sums, applications);
}

async function list(
  database: Database,
  accountId: string,
  query: Type.Static<typeof LIST>,
): Promise<RefusedRequestsView> {
  const { limit, before } = query;
  const page = { limit, ...(before !== undefined && { before }) };
  return refusedRequestsView(await listRefusedRequests(database, accountId, filterOf(query), page));
}

async function search(
  database: Database,
  accountId: string,
  { text, before }: Type.Static<typeof SEARCH>,
): Promise<RefusedRequestsView> {
  const page = { limit: SEARCH_LIMIT, ...(before !== undefined && { before }) };
  return refusedRequestsView(await findRefusedRequests(database, accountId, searchFor(text), page));
}

function filterOf({ application, hours, code }: Partial<Type.Static<typeof LIST>>): RefusedRequestFilter {
  return {
    ...(application !== undefined && { applicationId: application }),
    ...(hours !== undefined && { hours }),
    ...(code !== undefined && { code }),
  };
}
