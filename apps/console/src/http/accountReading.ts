import type { Static, TObject, TSchema } from 'typebox';
import { findAccount } from '@onecode/store/accounts';
import { logRead } from '@onecode/store/operations';
import { orNotFound } from './problem.js';
import { route, type Call, type Method, type Route } from './route.js';

/**
 * Defines the routes that read from an account: for its members below `/accounts/:account`, and for staff, of any account, below
 * `/staff/accounts/:target`. The audit log records that staff read it, once an hour per user and account.
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
        // Before the response: a read that cannot be logged is refused.
        await logRead(database, call.actor, { action: 'account.read', accountId: id, subject: id });
        return definition.handle(call);
      },
    }),
  ];
}
