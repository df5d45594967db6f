import { Type } from 'typebox';
import { DELIVERY_STATES, FAILURE_REASONS } from '@onecode/domain';
import { logRead } from '@onecode/store/operations';
import {
  findSendAccount,
  findSendDetails,
  listHoldsOf,
  listSends,
  type SendFilter,
} from '@onecode/store/reports';
import type { ConsoleContext } from '../../context.js';
import { accountReading } from '../../http/accountReading.js';
import { allPages, csvOf } from '../../http/csv.js';
import { idField, pageFields, strictObject, timeField } from '../../http/fields.js';
import { orNotFound } from '../../http/problem.js';
import { route, type Route } from '../../http/route.js';
import { readRecipientKeys } from '../recipients/recipientKeys.js';
import { SEND_COLUMNS, sendDetailsView, sendsView, staffSendView } from './view.js';
import { pastedNumber } from '../../http/pastedNumber.js';

const FILTER_FIELDS = {
  application: Type.Optional(idField),
  mode: Type.Optional(Type.Enum(['test', 'live'])),
  /** `arrived`: delivered or read. */
  status: Type.Optional(Type.Enum([...DELIVERY_STATES, 'arrived'])),
  reason: Type.Optional(Type.Enum([...FAILURE_REASONS])),
  verification: Type.Optional(Type.Enum(['pending', 'verified', 'locked', 'expired'])),
  /** ISO 3166, or `NO_COUNTRY`. */
  country: Type.Optional(Type.String({ pattern: '^[A-Z]{2}$' })),
  locale: Type.Optional(Type.Enum(['pt-BR', 'en'])),
  /** Inclusive. */
  from: Type.Optional(timeField),
  /** Exclusive. */
  to: Type.Optional(timeField),
};
const FILTER = strictObject(FILTER_FIELDS);
const LIST = strictObject({ ...pageFields, ...FILTER_FIELDS });

const RECIPIENT_SEARCH = strictObject({
  recipient: Type.String({ maxLength: 1000 }),
  before: pageFields.before,
});
const SEARCH_LIMIT = 50;
/** The digits that a masked number shows. */
const LAST_DIGITS = /^[0-9]{4}$/;

/** Sends of an account: lists, the search by phone number, and the history of a send; for staff, sends of any account. */
export const sendRoutes: readonly Route[] = [
  ...accountReading('get', '/sends', {
    query: LIST,
    async handle({ context, accountId, query: { limit, before, ...query } }) {
      const page = { limit, ...(before !== undefined && { before }) };
      return sendsView(await listSends(context.database, accountId, filterOf(query), page));
    },
  }),
  ...accountReading('get', '/sends.csv', {
    query: FILTER,
    async handle({ context, accountId, query }) {
      const filter = filterOf(query);
      return csvOf(
        'sends',
        SEND_COLUMNS,
        allPages(
          accountId,
          (page) => listSends(context.database, accountId, filter, page),
          ({ sends }) => sends,
        ),
      );
    },
  }),
  // A phone number is never in a URL: proxies log URLs, and browsers remember them.
  ...accountReading('post', '/sends/search', {
    body: RECIPIENT_SEARCH,
    async handle({ context, accountId, body: { recipient, before } }) {
      const page = { limit: SEARCH_LIMIT, ...(before !== undefined && { before }) };
      return sendsView(
        await listSends(context.database, accountId, recipientFilter(context, recipient), page),
      );
    },
  }),
  route('get', '/accounts/:account/sends/:send', 'viewer', {
    async handle({ context, accountId, params }) {
      const id = params['send'] ?? '';
      const [send, holds] = await Promise.all([
        findSendDetails(context.database, accountId, id),
        listHoldsOf(context.database, id),
      ]);
      return sendDetailsView(orNotFound(send), holds.length > 0, new Date());
    },
  }),
  route('get', '/staff/sends/:send', 'on_call', {
    async handle({ context: { database }, actor, params }) {
      const id = params['send'] ?? '';
      const account = orNotFound(await findSendAccount(database, id));
      const [send, holds] = await Promise.all([
        findSendDetails(database, account.id, id),
        listHoldsOf(database, id),
      ]);
      const found = orNotFound(send);
      // Before the response: a send that cannot be logged is not shown.
      const read = { action: 'send.read', accountId: account.id, subject: id } as const;
      await logRead(database, actor, read);
      return staffSendView(sendDetailsView(found, holds.length > 0, new Date()), account);
    },
  }),
];

/** A whole number, or the last four digits of one. @throws ConsoleProblem `invalid_input` */
function recipientFilter(context: ConsoleContext, text: string): SendFilter {
  const wanted = pastedNumber(text);
  if (LAST_DIGITS.test(wanted)) return { recipientEndsWith: wanted };
  return { recipientKeys: readRecipientKeys(context, text) };
}

function filterOf({ application, reason, from, to, ...filter }: Type.Static<typeof FILTER>): SendFilter {
  return {
    ...filter,
    ...(application !== undefined && { applicationId: application }),
    ...(reason !== undefined && { failureReason: reason }),
    ...(from !== undefined && { createdFrom: new Date(from) }),
    ...(to !== undefined && { createdTo: new Date(to) }),
  };
}
