import {
  findUser,
  listMemberships,
  listUserSessions,
  randomPassword,
  removeTwoFactor,
  searchUsers,
  setPassword,
  setStaffRole,
  signOutEverywhere,
  type User,
} from '@onecode/store/users';
import { Type } from 'typebox';
import { idField, strictObject } from '../../http/fields.js';
import { ConsoleProblem, orNotFound } from '../../http/problem.js';
import { route, type Call, type Route } from '../../http/route.js';
import type { MadePasswordView, UserDetailsView, UsersView, UserView } from './view.js';

const userView = (user: User): UserView => ({ ...user, createdAt: user.createdAt.toISOString() });

const readUser = async ({ context, params }: Call): Promise<User> =>
  orNotFound(await findUser(context.database, params['user'] ?? ''));

/** Refuses changes of the operator's own user: the profile checks sign-in changes, and the role cannot change. @throws ConsoleProblem `forbidden` */
async function readOther(call: Call): Promise<User> {
  if (call.params['user'] === call.person.id) throw new ConsoleProblem('forbidden');
  return readUser(call);
}

/** Users of the console, for staff: what `onecode user` shows and changes. */
export const userRoutes: readonly Route[] = [
  route('get', '/staff/users', 'on_call', {
    query: strictObject({
      text: Type.String({ maxLength: 200, default: '' }),
      before: Type.Optional(idField),
      limit: Type.Integer({ minimum: 1, maximum: 100, default: 50 }),
    }),
    async handle({ context, query: { text, before, limit } }): Promise<UsersView> {
      // PostgreSQL stores no NUL.
      const wanted = { text: text.replaceAll('\0', ' ').trim(), ...(before !== undefined && { before }) };
      const found = await searchUsers(context.database, { ...wanted, limit: limit + 1 });
      const users = found.slice(0, limit);
      return {
        users: users.map(userView),
        next: found.length > limit ? (users.at(-1)?.id ?? null) : null,
      };
    },
  }),
  route('get', '/staff/users/:user', 'on_call', {
    async handle(call): Promise<UserDetailsView> {
      const { database } = call.context;
      const user = await readUser(call);
      const [memberships, sessions] = await Promise.all([
        listMemberships(database, user.id),
        listUserSessions(database, user.id),
      ]);
      return {
        ...userView(user),
        memberships: memberships.map(({ accountId, accountName, role }) => ({
          accountId,
          accountName,
          role,
        })),
        sessions: sessions.length,
        lastUsedAt: sessions[0]?.lastUsedAt.toISOString() ?? null,
      };
    },
  }),
  route('post', '/staff/users/:user/sign-out', 'operator', {
    async handle(call) {
      await signOutEverywhere(call.context.database, call.actor, (await readOther(call)).email);
    },
  }),
  route('post', '/staff/users/:user/password', 'operator', {
    confirmed: true,
    async handle(call): Promise<MadePasswordView> {
      const password = randomPassword();
      await setPassword(call.context.database, call.actor, (await readOther(call)).email, password);
      return { password };
    },
  }),
  route('post', '/staff/users/:user/remove-two-factor', 'operator', {
    confirmed: true,
    async handle(call) {
      await removeTwoFactor(call.context.database, call.actor, (await readOther(call)).email);
    },
  }),
  route('put', '/staff/users/:user/staff', 'operator', {
    confirmed: true,
    body: strictObject({
      staff: Type.Union([Type.Enum(['operator', 'on_call']), Type.Null()]),
      /** Whether the operator knows that an unconfirmed address is the user's. */
      isVouchedFor: Type.Optional(Type.Boolean()),
    }),
    async handle(call): Promise<MadePasswordView> {
      const { staff, isVouchedFor = false } = call.body;
      const { email } = await readOther(call);
      const change = await setStaffRole(call.context.database, call.actor, email, staff, { isVouchedFor });
      if (change.kind === 'unknown') throw new ConsoleProblem('not_found');
      if (change.kind === 'unconfirmed')
        throw new ConsoleProblem('invalid_input', { errors: { isVouchedFor: 'unconfirmed' } });
      return { password: change.kind === 'changed' ? change.password : null };
    },
  }),
];
