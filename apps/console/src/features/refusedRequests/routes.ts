import { Type } from 'typebox';
import {
  findAccount,
  listRefusedApplications,
  listRefusedRequests,
  sumRefusedRequests,
  type Database,
  type RefusedRequestFilter,
} from '@onecode/store';
import { idField, pageFields } from '../../http/fields.js';
import { orNotFound } from '../../http/problem.js';
import { route, type Route } from '../../http/route.js';
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
    request: Type.Optional(idField),
    /** SHA-256 of an idempotency key, in hex, or two where its bytes are not certain. The key itself stays in the browser. */
    keyHashes: Type.Optional(Type.String({ pattern: '^[0-9a-f]{64}(,[0-9a-f]{64})?$' })),
  },
  STRICT,
);

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

function filterOf({
  application,
  hours,
  code,
  request,
  keyHashes,
}: Partial<Type.Static<typeof LIST>>): RefusedRequestFilter {
  const search = {
    ...(request !== undefined && { requestId: request }),
    idempotencyKeyHashes: (keyHashes?.split(',') ?? []).map((hex) => Buffer.from(hex, 'hex')),
  };
  return {
    ...(application !== undefined && { applicationId: application }),
    ...(hours !== undefined && { hours }),
    ...(code !== undefined && { code }),
    ...((request !== undefined || keyHashes !== undefined) && { search }),
  };
}
