import {
  cancelDeletion,
  changeAccount,
  findAccount,
  grantCredits,
  GrantIdTaken,
  scheduleDeletion,
  SENDER_POLICIES,
  SETTING_BOUNDS,
  setSuspension,
} from '@onecode/store/accounts';
import { findAccountDetails, searchAccounts } from '@onecode/store/reports';
import { Type } from 'typebox';
import { idField, languageField, nameField, strictObject, timeField } from '../../http/fields.js';
import { ConsoleProblem, orNotFound } from '../../http/problem.js';
import { route, type Access, type Route } from '../../http/route.js';
import { staffAccountDetailsView } from './view.js';

const REASON = nameField(200);
const RATE = SETTING_BOUNDS.accountRatePerMinute;

/** Changes the account's name, and the language of messages that are sent without a locale. */
const changeRoute = (path: string, access: Access): Route =>
  route('put', path, access, {
    // Omitted fields do not change, so two admins who change different fields do not overwrite each other.
    body: strictObject(
      { name: Type.Optional(nameField(200)), language: Type.Optional(languageField) },
      { minProperties: 1 },
    ),
    async handle({ context, actor, accountId, body: { name, language } }) {
      const change = {
        ...(name !== undefined && { name: name.trim() }),
        ...(language !== undefined && { language }),
      };
      orNotFound(await changeAccount(context.database, actor, accountId, change));
    },
  });

/** Accounts for staff, and the deletion of an account by its admins. */
export const accountRoutes: readonly Route[] = [
  changeRoute('/accounts/:account', 'admin'),
  changeRoute('/staff/accounts/:target', 'operator'),
  route('get', '/accounts/:account/deletion', 'viewer', {
    async handle({ context, accountId }) {
      return { at: orNotFound(await findAccount(context.database, accountId)).deleteAt };
    },
  }),
  route('get', '/staff/accounts/:target/deletion', 'on_call', {
    async handle({ context, accountId }) {
      return { at: orNotFound(await findAccount(context.database, accountId)).deleteAt };
    },
  }),
  route('post', '/accounts/:account/deletion', 'admin', {
    confirmed: true,
    async handle({ context, actor, accountId }) {
      return { at: orNotFound(await scheduleDeletion(context.database, actor, accountId)).deleteAt };
    },
  }),
  route('delete', '/accounts/:account/deletion', 'admin', {
    async handle({ context, actor, accountId }) {
      // It stays scheduled when it is due, because a worker may be deleting the account.
      const { deleteAt } = orNotFound(await cancelDeletion(context.database, actor, accountId));
      if (deleteAt !== null) throw new ConsoleProblem('conflict');
    },
  }),
  route('get', '/staff/accounts', 'on_call', {
    query: Type.Object({
      text: Type.String({ maxLength: 200, default: '' }),
      before: Type.Optional(idField),
      limit: Type.Integer({ minimum: 1, maximum: 100, default: 50 }),
    }),
    async handle({ context, query: { text, before, limit } }) {
      const page = { text, limit: limit + 1, ...(before !== undefined && { before }) };
      const found = await searchAccounts(context.database, page);
      const accounts = found.slice(0, limit);
      return { accounts, next: found.length > limit ? (accounts.at(-1)?.id ?? null) : null };
    },
  }),
  route('get', '/staff/accounts/:target', 'on_call', {
    async handle({ context, accountId }) {
      return staffAccountDetailsView(orNotFound(await findAccountDetails(context.database, accountId)));
    },
  }),
  route('post', '/staff/accounts/:target/credits', 'operator', {
    confirmed: true,
    body: strictObject({
      amount: Type.Integer({ minimum: 1, maximum: 1_000_000 }),
      reason: REASON,
      reference: Type.Optional(nameField(200)),
      expiresAt: Type.Optional(timeField),
      /** New for each grant; the same when the request is repeated. */
      grantId: idField,
    }),
    async handle({ context, actor, accountId, body }) {
      const { amount, reason, grantId } = body;
      const expiresAt = body.expiresAt === undefined ? null : new Date(body.expiresAt);
      if (expiresAt !== null && expiresAt <= new Date())
        throw new ConsoleProblem('invalid_input', { errors: { expiresAt: 'past' } });
      const terms = { grantId, expiresAt, reference: body.reference?.trim() ?? null };
      const granted = grantCredits(context.database, actor, accountId, amount, reason.trim(), terms);
      orNotFound(
        await granted.catch((error: unknown) => {
          throw error instanceof GrantIdTaken ? new ConsoleProblem('conflict') : error;
        }),
      );
    },
  }),
  route('put', '/staff/accounts/:target/rate', 'operator', {
    body: strictObject({
      ratePerMinute: Type.Union([
        Type.Integer({ minimum: RATE.min, maximum: RATE.max }),
        // Null follows the setting.
        Type.Null(),
      ]),
    }),
    async handle({ context, actor, accountId, body }) {
      orNotFound(await changeAccount(context.database, actor, accountId, body));
    },
  }),
  route('put', '/staff/accounts/:target/senders', 'operator', {
    body: strictObject({ senders: Type.Enum([...SENDER_POLICIES]) }),
    async handle({ context, actor, accountId, body }) {
      orNotFound(await changeAccount(context.database, actor, accountId, body));
    },
  }),
  route('post', '/staff/accounts/:target/suspend', 'operator', {
    body: strictObject({ reason: REASON }),
    async handle({ context, actor, accountId, body }) {
      orNotFound(await setSuspension(context.database, actor, accountId, body.reason.trim()));
    },
  }),
  route('post', '/staff/accounts/:target/resume', 'operator', {
    async handle({ context, actor, accountId }) {
      orNotFound(await setSuspension(context.database, actor, accountId, null));
    },
  }),
];
