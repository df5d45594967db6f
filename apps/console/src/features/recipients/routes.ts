import { exportRecipient, listExhaustedRecipients } from '@onecode/store/reports';
import { eraseRecipient, resetGuessBudgets } from '@onecode/store/sends';
import { maskNumberIn } from '@onecode/domain';
import { Type } from 'typebox';
import { accountReading } from '../../http/accountReading.js';
import { nameField, strictObject } from '../../http/fields.js';
import { orNotFound } from '../../http/problem.js';
import { route, type Access, type Route } from '../../http/route.js';
import { parseNumber, readRecipientKeys } from './recipientKeys.js';
import { exhaustedRecipientView } from './view.js';

/** A number in any spelling. It is never in a URL. */
const NUMBER = { recipient: Type.String({ maxLength: 1000 }) };

/** The routes below an account's path, with the role that may reset, export and erase. */
const routesBelow = (account: string, manages: Access): readonly Route[] => [
  route('post', `${account}/exhausted-recipients/:recipient/reset`, manages, {
    async handle({ context, actor, accountId, params }) {
      const which = { id: params['recipient'] ?? '' };
      orNotFound((await resetGuessBudgets(context.database, actor, accountId, which)) || null);
    },
  }),
  route('post', `${account}/recipients/export`, manages, {
    confirmed: true,
    body: strictObject(NUMBER),
    async handle({ context, actor, accountId, body }) {
      const keys = readRecipientKeys(context, body.recipient);
      return orNotFound(await exportRecipient(context.database, actor, keys, accountId));
    },
  }),
  route('post', `${account}/recipients/erase`, manages, {
    confirmed: true,
    body: strictObject({ ...NUMBER, reason: nameField(200) }),
    async handle({ context, actor, accountId, body: { recipient, reason } }) {
      const keys = readRecipientKeys(context, recipient);
      // Entries of the audit log are kept forever.
      const masked = maskNumberIn(reason.trim(), parseNumber(recipient).e164);
      return orNotFound(await eraseRecipient(context.database, actor, keys, accountId, masked));
    },
  }),
];

/**
 * Recipients of an account, for its members and for staff: recipients who get no new code after too many wrong guesses in a row, and
 * recipients who ask for their data or for its erasure.
 */
export const recipientRoutes: readonly Route[] = [
  ...accountReading('get', '/exhausted-recipients', {
    async handle({ context, accountId }) {
      const recipients = await listExhaustedRecipients(context.database, accountId);
      return { recipients: recipients.map(exhaustedRecipientView) };
    },
  }),
  ...routesBelow('/accounts/:account', 'admin'),
  ...routesBelow('/staff/accounts/:target', 'operator'),
];
