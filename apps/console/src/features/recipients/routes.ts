import { listExhaustedRecipients, resetRecipient } from '@onecode/store';
import { Type } from 'typebox';
import { idField } from '../../http/fields.js';
import { there } from '../../http/problem.js';
import { route, type Access, type Call, type Route } from '../../http/route.js';
import { exhaustedRecipientView, type ExhaustedRecipientsView } from './view.js';

/** The account whose recipients these are: the members' own, or the one that the staff look at. */
const accountOf = ({ params }: Pick<Call, 'params'>): string => params['account'] ?? params['target'] ?? '';

/** Lists and resets them below the address of an account. */
const below = (account: string, sees: Access, resets: Access): readonly Route[] => [
  route({
    method: 'get',
    path: `${account}/exhausted-recipients`,
    access: sees,
    query: Type.Object({
      before: Type.Optional(idField),
      limit: Type.Integer({ minimum: 1, maximum: 100, default: 50 }),
    }),
    async handle(call): Promise<ExhaustedRecipientsView> {
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
      there(isReset || null);
    },
  }),
];

/** Recipients for whom too many wrong codes in a row were given, for the account's team and for the staff. */
export const exhaustedRecipientRoutes: readonly Route[] = [
  ...below('/accounts/:account', 'viewer', 'admin'),
  ...below('/operations/accounts/:target', 'on_call', 'operator'),
];
