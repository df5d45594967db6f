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

/** The changes of people, teams and what they sign in with, by the names of their functions. */
export const USER_CHANGES: Record<string, AuditedChange> = {
  createUser: {
    action: 'user.create',
    change: ({ database, guest }) =>
      store.createUser(database, ACTOR, { ...newUser, email: `new-${guest.email}` }),
    changesNothing: ({ database, guest }) =>
      store.createUser(database, ACTOR, { ...newUser, email: guest.email }),
  },
  changeUser: {
    action: 'user.change',
    change: ({ database, guest }) => store.changeUser(database, ACTOR, guest.id, { name: 'Gal' }),
    changesNothing: async ({ database, guest }) => {
      await store.changeUser(database, ACTOR, none, { name: 'Gal' });
      await store.changeUser(database, ACTOR, guest.id, { name: 'Gal' });
    },
  },
  setStaffRole: {
    action: 'user.staff',
    change: ({ database, guest }) => store.setStaffRole(database, ACTOR, guest.email, 'on_call'),
    changesNothing: async ({ database, guest }) => {
      await store.setStaffRole(database, ACTOR, 'nobody@example.com', 'on_call');
      await store.setStaffRole(database, ACTOR, guest.email, 'on_call');
    },
  },
  setPassword: {
    action: 'user.password',
    change: ({ database, guest }) => store.setPassword(database, ACTOR, guest.email, PASSWORD),
    changesNothing: ({ database }) => store.setPassword(database, ACTOR, 'nobody@example.com', PASSWORD),
  },
  removeTwoFactor: {
    action: 'user.two_factor_removed',
    change: ({ database, guest }) => store.removeTwoFactor(database, ACTOR, guest.email),
    changesNothing: ({ database }) => store.removeTwoFactor(database, ACTOR, 'nobody@example.com'),
  },
  noteOwnSecurityChange: {
    action: 'user.password',
    change: ({ database }) => store.noteOwnSecurityChange(database, ACTOR, 'user.password'),
  },
  noteSignIn: {
    action: 'user.sign_in',
    change: ({ database }) => store.noteSignIn(database, ACTOR, none, GIVEN),
  },
  noteSignOut: {
    action: 'user.sign_out',
    change: ({ database }) => store.noteSignOut(database, ACTOR),
  },
  confirmSession: {
    action: 'user.confirm',
    change: ({ database }) => store.confirmSession(database, ACTOR, none, GIVEN),
  },
  noteFailedConfirmation: {
    action: 'user.confirm_failed',
    change: ({ database }) => store.noteFailedConfirmation(database, ACTOR, GIVEN),
  },
  noteRead: {
    action: 'send.read',
    given: ({ database }) => database.prisma.loggedRead.deleteMany(),
    change: ({ database }) => store.noteRead(database, ACTOR, READ),
    changesNothing: ({ database }) => store.noteRead(database, ACTOR, READ),
  },
  endOtherSessions: {
    action: 'user.sign_out_elsewhere',
    given: ({ database }) =>
      database.prisma.userSession.create({
        data: { id: store.newId(), userId: ACTOR.id, token: store.newId(), expiresAt: new Date() },
      }),
    change: ({ database }) => store.endOtherSessions(database, ACTOR, none),
    changesNothing: ({ database }) => store.endOtherSessions(database, ACTOR, none),
  },
  createOwnAccount: {
    action: 'account.create',
    given: leave,
    change: ({ database }) =>
      store.createOwnAccount(database, ACTOR, { name: 'Own', language: 'en', countries: ['BR'] }),
    changesNothing: ({ database }) =>
      store.createOwnAccount(database, ACTOR, { name: 'Own', language: 'en', countries: ['BR'] }),
  },
  inviteMember: {
    action: 'member.invite',
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
    changesNothing: revoke,
  },
  acceptInvitation: {
    action: 'member.join',
    given: async (fixture) => {
      await leave(fixture);
      await join(fixture, 'admin');
      await invite(fixture, { ...ACTOR, id: fixture.guest.id }, EMAIL);
    },
    change: (fixture) => accept(fixture, EMAIL),
    changesNothing: (fixture) => accept(fixture, EMAIL),
  },
  changeMemberRole: {
    action: 'member.role',
    given: (fixture) => join(fixture),
    change: ({ database, caller: { accountId }, guest: { id: userId } }) =>
      store.changeMemberRole(database, ACTOR, { accountId, userId, role: 'developer' }),
    changesNothing: async ({ database, caller: { accountId }, guest: { id: userId } }) => {
      await store.changeMemberRole(database, ACTOR, { accountId, userId, role: 'developer' });
      await store.changeMemberRole(database, ACTOR, { accountId, userId: none, role: 'developer' });
      // The last admin.
      await store.changeMemberRole(database, ACTOR, { accountId, userId: ACTOR.id, role: 'viewer' });
    },
  },
  removeMember: {
    action: 'member.remove',
    given: (fixture) => join(fixture),
    change: ({ database, caller: { accountId }, guest: { id: userId } }) =>
      store.removeMember(database, ACTOR, { accountId, userId }),
    changesNothing: async ({ database, caller: { accountId }, guest: { id: userId } }) => {
      await store.removeMember(database, ACTOR, { accountId, userId });
      await store.removeMember(database, ACTOR, { accountId, userId: ACTOR.id });
    },
  },
};
