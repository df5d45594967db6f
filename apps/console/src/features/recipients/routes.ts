import { listExhaustedRecipients, resetRecipient } from '@onecode/store';
import { Type } from 'typebox';
import { idField } from '../../http/fields.js';
import { orNotFound } from '../../http/problem.js';
import { route, type Access, type Call, type Route } from '../../http/route.js';
import { exhaustedRecipientView } from './view.js';

/** The account in the path, for members (`:account`) and for staff (`:target`). */
const accountOf = ({ params }: Pick<Call, 'params'>): string => params['account'] ?? params['target'] ?? '';

/** The routes below an account's path, with who may list and who may reset. */
const routesBelow = (account: string, sees: Access, resets: Access): readonly Route[] => [
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
    access: resets,
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
];

/** Recipients who get no new code because of too many wrong guesses in a row, for the account's members and for staff. */
export const recipientRoutes: readonly Route[] = [
  ...routesBelow('/accounts/:account', 'viewer', 'admin'),
  ...routesBelow('/staff/accounts/:target', 'on_call', 'operator'),
];
