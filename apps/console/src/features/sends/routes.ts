import { Type } from 'typebox';
import { DELIVERY_STATES, FAILURE_REASONS, isHeld, pastedNumber } from '@onecode/domain';
import {
  findSendAccount,
  findSendDetails,
  listHolds,
  listSends,
  logRead,
  type SendFilter,
} from '@onecode/store';
import type { ConsoleContext } from '../../context.js';
import { accountReading } from '../../http/accountReading.js';
import { allPages, CSV_PAGE_ROWS, CsvDownload } from '../../http/csv.js';
import { idField, pageFields, timeField } from '../../http/fields.js';
import { orNotFound } from '../../http/problem.js';
import { route, type Route } from '../../http/route.js';
import { readRecipientKeys } from '../recipients/recipientKeys.js';
import { SEND_COLUMNS, sendDetailsView, sendRow, sendsView, staffSendView } from './view.js';

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
const STRICT = { additionalProperties: false };
const FILTER = Type.Object(FILTER_FIELDS, STRICT);
const LIST = Type.Object({ ...pageFields, ...FILTER_FIELDS }, STRICT);

const RECIPIENT_SEARCH = Type.Object(
  { recipient: Type.String({ maxLength: 1000 }), before: pageFields.before },
  { additionalProperties: false },
);
const SEARCH_LIMIT = 50;
/** What a masked number shows. */
const LAST_DIGITS = /^[0-9]{4}$/;

/** Sends of an account: lists, the search by phone number, and the history of one; for staff, those of any account. */
export const sendRoutes: readonly Route[] = [
  ...accountReading('/sends', {
    method: 'get',
    query: LIST,
    async handle({ context, accountId, query }) {
      const { limit, before } = query;
      const page = { limit, ...(before !== undefined && { before }) };
      return sendsView(await listSends(context.database, accountId, filterOf(query), page));
    },
  }),
  ...accountReading('/sends.csv', {
    method: 'get',
    query: FILTER,
    async handle({ context, accountId, query }) {
      const filter = filterOf(query);
      return new CsvDownload(
        'sends',
        SEND_COLUMNS,
        allPages(
          accountId,
          (before) =>
            listSends(context.database, accountId, filter, {
              limit: CSV_PAGE_ROWS,
              ...(before !== undefined && { before }),
            }),
          ({ sends }) => sends.map(sendRow),
        ),
      );
    },
  }),
  // A phone number never stands in a URL: proxies log URLs, and browsers remember them.
  ...accountReading('/sends/search', {
    method: 'post',
    body: RECIPIENT_SEARCH,
    async handle({ context, accountId, body: { recipient, before } }) {
      const page = { limit: SEARCH_LIMIT, ...(before !== undefined && { before }) };
      return sendsView(
        await listSends(context.database, accountId, recipientFilter(context, recipient), page),
      );
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

/** A whole number, or the last four digits of one. @throws ConsoleProblem `invalid_input` */
function recipientFilter(context: ConsoleContext, text: string): SendFilter {
  const wanted = pastedNumber(text);
  if (LAST_DIGITS.test(wanted)) return { recipientEndsWith: wanted };
  return { recipientKeys: readRecipientKeys(context, text) };
}

function filterOf({
  application,
  mode,
  status,
  reason,
  verification,
  country,
  locale,
  from,
  to,
}: Type.Static<typeof FILTER>): SendFilter {
  return {
    ...(application !== undefined && { applicationId: application }),
    ...(mode !== undefined && { mode }),
    ...(status !== undefined && { status }),
    ...(reason !== undefined && { failureReason: reason }),
    ...(verification !== undefined && { verification }),
    ...(country !== undefined && { country }),
    ...(locale !== undefined && { locale }),
    ...(from !== undefined && { createdFrom: new Date(from) }),
    ...(to !== undefined && { createdTo: new Date(to) }),
  };
}
