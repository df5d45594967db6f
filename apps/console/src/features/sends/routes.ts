import { Type } from 'typebox';
import { DELIVERY_STATES, isHeld } from '@onecode/domain';
import {
  findSendAccount,
  findSendDetails,
  listHolds,
  listSends,
  logRead,
  type SendFilter,
} from '@onecode/store';
import { idField, pageFields, timeField } from '../../http/fields.js';
import { orNotFound } from '../../http/problem.js';
import { route, type Route } from '../../http/route.js';
import { readRecipientKeys } from '../recipients/recipientKeys.js';
import { sendDetailsView, sendsView, staffSendView } from './view.js';

const FILTER = Type.Object(
  {
    ...pageFields,
    application: Type.Optional(idField),
    mode: Type.Optional(Type.Enum(['test', 'live'])),
    status: Type.Optional(Type.Enum([...DELIVERY_STATES])),
    verification: Type.Optional(Type.Enum(['pending', 'verified', 'locked', 'expired'])),
    /** Inclusive. */
    from: Type.Optional(timeField),
    /** Exclusive. */
    to: Type.Optional(timeField),
  },
  { additionalProperties: false },
);

const RECIPIENT_SEARCH = Type.Object(
  { recipient: Type.String({ maxLength: 1000 }), before: pageFields.before },
  { additionalProperties: false },
);
const SEARCH_LIMIT = 50;

/** Sends of an account: lists, the search by phone number, and the history of one; for staff, the history of any send by its id. */
export const sendRoutes: readonly Route[] = [
  route({
    method: 'get',
    path: '/accounts/:account/sends',
    access: 'viewer',
    query: FILTER,
    async handle({ context, accountId, query }) {
      const { limit, before } = query;
      const page = { limit, ...(before !== undefined && { before }) };
      return sendsView(await listSends(context.database, accountId, filterOf(query), page));
    },
  }),
  // A phone number never stands in a URL: proxies log URLs, and browsers remember them.
  route({
    method: 'post',
    path: '/accounts/:account/sends/search',
    access: 'viewer',
    body: RECIPIENT_SEARCH,
    async handle({ context, accountId, body: { recipient, before } }) {
      const keys = readRecipientKeys(context, recipient);
      const page = { limit: SEARCH_LIMIT, ...(before !== undefined && { before }) };
      return sendsView(await listSends(context.database, accountId, { recipientKeys: keys }, page));
    },
  }),
  route({
    method: 'get',
    path: '/accounts/:account/sends/:send',
    access: 'viewer',
    async handle({ context, accountId, params }) {
      const [send, holds] = await Promise.all([
        findSendDetails(context.database, accountId, params['send'] ?? ''),
        listHolds(context.database),
      ]);
      const found = orNotFound(send);
      return sendDetailsView(found, isHeld({ ...found, accountId }, holds), new Date());
    },
  }),
  route({
    method: 'get',
    path: '/staff/sends/:send',
    access: 'on_call',
    async handle({ context: { database }, actor, person, params }) {
      const id = params['send'] ?? '';
      const account = orNotFound(await findSendAccount(database, id));
      const [send, holds] = await Promise.all([
        findSendDetails(database, account.id, id),
        listHolds(database),
      ]);
      const found = orNotFound(send);
      // Before the answer: what cannot be logged is not shown.
      const read = { action: 'send.read', accountId: account.id, subject: id } as const;
      await logRead(database, { ...actor, id: person.id }, read);
      return staffSendView(
        sendDetailsView(found, isHeld({ ...found, accountId: account.id }, holds), new Date()),
        account,
      );
    },
  }),
];

function filterOf({
  application,
  mode,
  status,
  verification,
  from,
  to,
}: Type.Static<typeof FILTER>): SendFilter {
  return {
    ...(application !== undefined && { applicationId: application }),
    ...(mode !== undefined && { mode }),
    ...(status !== undefined && { status }),
    ...(verification !== undefined && { verification }),
    ...(from !== undefined && { createdFrom: new Date(from) }),
    ...(to !== undefined && { createdTo: new Date(to) }),
  };
}
