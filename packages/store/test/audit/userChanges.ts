import * as store from '@onecode/store';
import { ACTOR, EMAIL, type AuditedChange, type Fixture } from './fixture.js';

export const PASSWORD = 'leaked-password-of-the-audit-log';
/** The tokens of all links that were made. */
export const TOKENS: string[] = [];

const none = store.newId();
const GIVEN = { proof: 'password', clientAddress: '198.51.100.7' } as const;
const READ = { action: 'send.read', accountId: null, subject: none } as const;
const newUser = { name: 'Nina', language: 'en', staff: null, password: PASSWORD, membership: null } as const;

const join = (
  { database, caller: { accountId }, guest }: Fixture,
  role: store.MemberRole = 'viewer',
): Promise<unknown> => database.prisma.member.create({ data: { accountId, userId: guest.id, role } });
const leave = ({ database }: Fixture): Promise<unknown> =>
  database.prisma.member.deleteMany({ where: { userId: ACTOR.id } });

/** Invites somebody to the caller's account, and keeps the token of the link. */
async function invite(
  fixture: Fixture,
  actor: store.Actor & { id: string },
  email: string,
): Promise<unknown> {
  const { database, caller } = fixture;
  const invited = { accountId: caller.accountId, email, role: 'developer' } as const;
  const made = await store.inviteMember(database, actor, invited);
  if (made.kind === 'invited') TOKENS.push(made.token);
  return made;
}
const accept = ({ database }: Fixture, email: string): Promise<unknown> =>
  store.acceptInvitation(database, ACTOR, { email }, TOKENS.at(-1) as string);
async function revoke({ database, caller: { accountId } }: Fixture): Promise<unknown> {
  const [one] = await store.listInvitations(database, accountId);
  return store.revokeInvitation(database, ACTOR, accountId, one?.id ?? none);
}

const guestOf = ({ guest }: Fixture): string => guest.id;
const emailOf = ({ guest }: Fixture): string => guest.email;

/** The changes of people, teams and what they sign in with, by the names of their functions. */
export const USER_CHANGES: Record<string, AuditedChange> = {
  createUser: {
    action: 'user.create',
    change: ({ database, guest }) =>
      store.createUser(database, ACTOR, { ...newUser, email: `new-${guest.email}` }),
  },
  changeUser: {
    action: 'user.change',
    of: guestOf,
    change: ({ database }, id) => store.changeUser(database, ACTOR, id, { name: 'Gal' }),
  },
  setStaffRole: {
    action: 'user.staff',
    of: emailOf,
    change: ({ database }, email) => store.setStaffRole(database, ACTOR, email, 'on_call'),
  },
  setPassword: {
    action: 'user.password',
    of: emailOf,
    isRepeatable: true,
    change: ({ database }, email) => store.setPassword(database, ACTOR, email, PASSWORD),
  },
  removeTwoFactor: {
    action: 'user.two_factor_removed',
    of: emailOf,
    isRepeatable: true,
    change: ({ database }, email) => store.removeTwoFactor(database, ACTOR, email),
  },
  logOwnSecurityChange: {
    action: 'user.password',
    isRepeatable: true,
    change: ({ database }) => store.logOwnSecurityChange(database, ACTOR, 'user.password'),
  },
  logSignIn: {
    action: 'user.sign_in',
    isRepeatable: true,
    change: ({ database }) => store.logSignIn(database, ACTOR, none, GIVEN),
  },
  logSignOut: {
    action: 'user.sign_out',
    isRepeatable: true,
    change: ({ database }) => store.logSignOut(database, ACTOR),
  },
  confirmSession: {
    action: 'user.confirm',
    isRepeatable: true,
    change: ({ database }) => store.confirmSession(database, ACTOR, none, GIVEN),
  },
  logFailedConfirmation: {
    action: 'user.confirm_failed',
    isRepeatable: true,
    change: ({ database }) => store.logFailedConfirmation(database, ACTOR, GIVEN),
  },
  logRead: {
    action: 'send.read',
    given: ({ database }) => database.prisma.loggedRead.deleteMany(),
    change: ({ database }) => store.logRead(database, ACTOR, READ),
  },
  endOtherSessions: {
    action: 'user.sign_out_elsewhere',
    given: ({ database }) =>
      database.prisma.userSession.create({
        data: { id: store.newId(), userId: ACTOR.id, token: store.newId(), expiresAt: new Date() },
      }),
    change: ({ database }) => store.endOtherSessions(database, ACTOR, none),
  },
  createOwnAccount: {
    action: 'account.create',
    given: leave,
    change: ({ database }) =>
      store.createOwnAccount(database, ACTOR, { name: 'Own', language: 'en', countries: ['BR'] }),
  },
  inviteMember: {
    action: 'member.invite',
    isRepeatable: true,
    change: (fixture) => invite(fixture, ACTOR, fixture.guest.email),
    changesNothing: async (fixture) => {
      // A member already; and by somebody who is no admin.
      await invite(fixture, ACTOR, EMAIL);
      await invite(fixture, { ...ACTOR, id: fixture.guest.id }, 'another@example.com');
    },
  },
  revokeInvitation: {
    action: 'member.revoke_invitation',
    given: (fixture) => invite(fixture, ACTOR, fixture.guest.email),
    change: revoke,
  },
  acceptInvitation: {
    action: 'member.join',
    given: async (fixture) => {
      await leave(fixture);
      await join(fixture, 'admin');
      await invite(fixture, { ...ACTOR, id: fixture.guest.id }, EMAIL);
    },
    change: (fixture) => accept(fixture, EMAIL),
  },
  changeMemberRole: {
    action: 'member.role',
    of: guestOf,
    given: (fixture) => join(fixture),
    change: ({ database, caller: { accountId } }, userId) =>
      store.changeMemberRole(database, ACTOR, { accountId, userId, role: 'developer' }),
    // The last admin.
    changesNothing: ({ database, caller: { accountId } }) =>
      store.changeMemberRole(database, ACTOR, { accountId, userId: ACTOR.id, role: 'viewer' }),
  },
  removeMember: {
    action: 'member.remove',
    of: guestOf,
    given: (fixture) => join(fixture),
    change: ({ database, caller: { accountId } }, userId) =>
      store.removeMember(database, ACTOR, { accountId, userId }),
    changesNothing: ({ database, caller: { accountId } }) =>
      store.removeMember(database, ACTOR, { accountId, userId: ACTOR.id }),
  },
};
