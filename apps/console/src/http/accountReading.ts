import type { Static, TObject, TSchema } from 'typebox';
import { findAccount } from '@onecode/store/accounts';
import { logRead } from '@onecode/store/operations';
import { orNotFound } from './problem.js';
import { route, type Call, type Method, type Route } from './route.js';

/**
 * Defines what shows something of an account: to its members below `/accounts/:account`, and of any account to staff, below
 * `/staff/accounts/:target`. The audit log says, once an hour for each person and account, that staff read it.
 *
 * @param path below that of the account
 */
export function accountReading<B extends TSchema, Q extends TObject>(
  method: Method,
  path: string,
  definition: { body?: B; query?: Q; handle(call: Call<Static<B>, Static<Q>>): Promise<object> },
): readonly Route[] {
  return [
    route(method, `/accounts/:account${path}`, 'viewer', definition),
    route(method, `/staff/accounts/:target${path}`, 'on_call', {
      ...definition,
      async handle(call) {
        const { database } = call.context;
        const { id } = orNotFound(await findAccount(database, call.accountId));
        // Before the answer: what cannot be logged is not shown.
        await logRead(database, call.actor, { action: 'account.read', accountId: id, subject: id });
        return definition.handle(call);
      },
    }),
  ];
}
