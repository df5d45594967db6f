import { eraseRecipient, exportRecipient, listExhaustedRecipients, resetRecipient } from '@onecode/store';
import { Type } from 'typebox';
import { idField, nameField } from '../../http/fields.js';
import { orNotFound } from '../../http/problem.js';
import { route, type Access, type Call, type Route } from '../../http/route.js';
import { readRecipientKeys } from './recipientKeys.js';
import { exhaustedRecipientView } from './view.js';

/** The account in the path, for members (`:account`) and for staff (`:target`). */
const accountOf = ({ params }: Pick<Call, 'params'>): string => params['account'] ?? params['target'] ?? '';

/** A number as somebody typed or pasted it, in no URL. */
const NUMBER = { recipient: Type.String({ maxLength: 1000 }) };
const REASON_LENGTH_MAX = 200;

/** The routes below an account's path, with who may list and who may reset, export and erase. */
const routesBelow = (account: string, sees: Access, manages: Access): readonly Route[] => [
  route({
    method: 'get',
    path: `${account}/exhausted-recipients`,
    access: sees,
    query: Type.Object({
      before: Type.Optional(idField),
      limit: Type.Integer({ minimum: 1, maximum: 100, default: 50 }),
    }),
    async handle(call) {
      const { limit, before } = call.query;
      const page = { limit, ...(before !== undefined && { before }) };
      const found = await listExhaustedRecipients(call.context.database, accountOf(call), page);
      return { recipients: found.recipients.map(exhaustedRecipientView), next: found.next };
    },
  }),
  route({
    method: 'post',
    path: `${account}/exhausted-recipients/:recipient/reset`,
    access: manages,
    async handle(call) {
      const { context, actor, params } = call;
      const isReset = await resetRecipient(
        context.database,
        actor,
        accountOf(call),
        params['recipient'] ?? '',
      );
      orNotFound(isReset || null);
    },
  }),
  route({
    method: 'post',
    path: `${account}/recipients/export`,
    access: manages,
    confirmed: true,
    body: Type.Object(NUMBER, { additionalProperties: false }),
    async handle(call) {
      const { context, actor, body } = call;
      const keys = readRecipientKeys(context, body.recipient);
      return orNotFound(await exportRecipient(context.database, actor, keys, accountOf(call)));
    },
  }),
  route({
    method: 'post',
    path: `${account}/recipients/erase`,
    access: manages,
    confirmed: true,
    body: Type.Object({ ...NUMBER, reason: nameField(REASON_LENGTH_MAX) }, { additionalProperties: false }),
    async handle(call) {
      const { context, actor, body } = call;
      const keys = readRecipientKeys(context, body.recipient);
      return orNotFound(
        await eraseRecipient(context.database, actor, keys, accountOf(call), body.reason.trim()),
      );
    },
  }),
];

/**
 * Recipients of an account, for its members and for staff: those who get no new code because of too many wrong guesses in a row, and
 * those who ask what is kept of them or to be forgotten.
 */
export const recipientRoutes: readonly Route[] = [
  ...routesBelow('/accounts/:account', 'viewer', 'admin'),
  ...routesBelow('/staff/accounts/:target', 'on_call', 'operator'),
];
