import {
  cancelDeletion,
  changeAccount,
  findAccountDetails,
  grantCredits,
  GrantRefused,
  readDeletion,
  resumeAccount,
  scheduleDeletion,
  searchAccounts,
  SENDER_POLICIES,
  SETTING_BOUNDS,
  suspendAccount,
} from '@onecode/store';
import { Type } from 'typebox';
import { idField, nameField, timeField } from '../../http/fields.js';
import { ConsoleProblem, orNotFound } from '../../http/problem.js';
import { route, type Call, type Route } from '../../http/route.js';
import { deletionView, staffAccountDetailsView, staffAccountView, type DeletionView } from './view.js';

const STRICT = { additionalProperties: false };
const REASON = nameField(200);
const RATE = SETTING_BOUNDS.accountRatePerMinute;

/** The account in the path. It is not named `:account`, which would demand a membership of the staff. */
const targetOf = ({ params }: Pick<Call, 'params'>): string => params['target'] ?? '';

/** Accounts, as staff see and change them, and their deletion, for which their admins ask. */
export const accountRoutes: readonly Route[] = [
  route({
    method: 'get',
    path: '/accounts/:account/deletion',
    access: 'viewer',
    async handle({ context, accountId }): Promise<DeletionView> {
      return deletionView(await readDeletion(context.database, accountId));
    },
  }),
  route({
    method: 'post',
    path: '/accounts/:account/deletion',
    access: 'admin',
    confirmed: true,
    async handle({ context, actor, accountId }): Promise<DeletionView> {
      return deletionView(orNotFound(await scheduleDeletion(context.database, actor, accountId)));
    },
  }),
  route({
    method: 'delete',
    path: '/accounts/:account/deletion',
    access: 'admin',
    async handle({ context, actor, accountId }) {
      await cancelDeletion(context.database, actor, accountId);
    },
  }),
  route({
    method: 'get',
    path: '/staff/accounts',
    access: 'on_call',
    query: Type.Object({
      text: Type.String({ maxLength: 200, default: '' }),
      before: Type.Optional(idField),
      limit: Type.Integer({ minimum: 1, maximum: 100, default: 50 }),
    }),
    async handle({ context, query: { text, before, limit } }) {
      const page = { text, limit: limit + 1, ...(before !== undefined && { before }) };
      const found = await searchAccounts(context.database, page);
      const accounts = found.slice(0, limit).map(staffAccountView);
      return { accounts, next: found.length > limit ? (accounts.at(-1)?.id ?? null) : null };
    },
  }),
  route({
    method: 'get',
    path: '/staff/accounts/:target',
    access: 'on_call',
    async handle(call) {
      return staffAccountDetailsView(
        orNotFound(await findAccountDetails(call.context.database, targetOf(call))),
      );
    },
  }),
  route({
    method: 'post',
    path: '/staff/accounts/:target/credits',
    access: 'operator',
    confirmed: true,
    body: Type.Object(
      {
        amount: Type.Integer({ minimum: 1, maximum: 1_000_000 }),
        reason: REASON,
        reference: Type.Optional(nameField(200)),
        expiresAt: Type.Optional(timeField),
        /** New for each grant; the same when the request is repeated. */
        grantId: idField,
      },
      STRICT,
    ),
    async handle(call) {
      const { context, actor, body } = call;
      const { amount, reason, grantId } = body;
      const expiresAt = body.expiresAt === undefined ? null : new Date(body.expiresAt);
      if (expiresAt !== null && expiresAt <= new Date())
        throw new ConsoleProblem('invalid_input', { errors: { expiresAt: 'past' } });
      const terms = { grantId, expiresAt, reference: body.reference?.trim() ?? null };
      const granted = grantCredits(context.database, actor, targetOf(call), amount, reason.trim(), terms);
      orNotFound(await granted.catch(refuseGrant));
    },
  }),
  route({
    method: 'put',
    path: '/staff/accounts/:target/rate',
    access: 'operator',
    body: Type.Object(
      {
        ratePerMinute: Type.Union([
          Type.Integer({ minimum: RATE.min, maximum: RATE.max }),
          // Null follows the setting.
          Type.Null(),
        ]),
      },
      STRICT,
    ),
    async handle(call) {
      const { context, actor, body } = call;
      orNotFound(await changeAccount(context.database, actor, targetOf(call), body));
    },
  }),
  route({
    method: 'put',
    path: '/staff/accounts/:target/senders',
    access: 'operator',
    body: Type.Object({ senders: Type.Enum([...SENDER_POLICIES]) }, STRICT),
    async handle(call) {
      const { context, actor, body } = call;
      orNotFound(await changeAccount(context.database, actor, targetOf(call), body));
    },
  }),
  route({
    method: 'post',
    path: '/staff/accounts/:target/suspend',
    access: 'operator',
    body: Type.Object({ reason: REASON }, STRICT),
    async handle(call) {
      const { context, actor, body } = call;
      orNotFound(await suspendAccount(context.database, actor, targetOf(call), body.reason.trim()));
    },
  }),
  route({
    method: 'post',
    path: '/staff/accounts/:target/resume',
    access: 'operator',
    async handle(call) {
      orNotFound(await resumeAccount(call.context.database, call.actor, targetOf(call)));
    },
  }),
];

/** @throws ConsoleProblem `conflict` for a grant id that was used otherwise, or `invalid_input` for an amount that is too large */
function refuseGrant(error: unknown): never {
  if (!(error instanceof GrantRefused)) throw error;
  if (error.why === 'other_grant') throw new ConsoleProblem('conflict');
  throw new ConsoleProblem('invalid_input', { errors: { amount: 'maximum' } });
}
