import { Type } from 'typebox';
import {
  changeMemberRole,
  inviteMember,
  listInvitations,
  listMembers,
  removeMember,
  revokeInvitation,
  type MemberChange,
} from '@onecode/store';
import { emailField } from '../../http/fields.js';
import { ConsoleProblem, orNotFound } from '../../http/problem.js';
import { route, type Route } from '../../http/route.js';
import { invitationView, memberView, type NewInvitationView } from './view.js';

const ROLE = Type.Enum(['admin', 'developer', 'viewer']);
const STRICT = { additionalProperties: false };

/** Members of an account, and invitations to it. */
export const teamRoutes: readonly Route[] = [
  route({
    method: 'get',
    path: '/accounts/:account/members',
    access: 'viewer',
    async handle({ context, accountId }) {
      return { members: (await listMembers(context.database, accountId)).map(memberView) };
    },
  }),
  route({
    method: 'put',
    path: '/accounts/:account/members/:member',
    access: 'admin',
    body: Type.Object({ role: ROLE }, STRICT),
    async handle({ context, actor, accountId, params, body: { role } }) {
      const change = { accountId, userId: params['member'] ?? '', role };
      requireChanged(await changeMemberRole(context.database, actor, change));
    },
  }),
  route({
    method: 'delete',
    path: '/accounts/:account/members/:member',
    access: 'admin',
    async handle({ context, actor, accountId, params }) {
      const member = { accountId, userId: params['member'] ?? '' };
      requireChanged(await removeMember(context.database, actor, member));
    },
  }),
  route({
    method: 'delete',
    path: '/accounts/:account/membership',
    access: 'viewer',
    async handle({ context, actor, accountId, person }) {
      requireChanged(await removeMember(context.database, actor, { accountId, userId: person.id }));
    },
  }),
  route({
    method: 'get',
    path: '/accounts/:account/invitations',
    access: 'admin',
    async handle({ context, accountId }) {
      return { invitations: (await listInvitations(context.database, accountId)).map(invitationView) };
    },
  }),
  route({
    method: 'post',
    path: '/accounts/:account/invitations',
    access: 'admin',
    body: Type.Object({ email: emailField, role: ROLE }, STRICT),
    async handle({ context, actor, person, accountId, body }): Promise<NewInvitationView> {
      const wanted = { accountId, email: body.email.toLowerCase(), role: body.role };
      const mail = { keyring: context.config.SECRET_KEY, page: `${context.config.CONSOLE_URL}/invitation` };
      const invitation = await inviteMember(context.database, { ...actor, id: person.id }, wanted, mail);
      if (invitation.kind === 'not_admin') throw new ConsoleProblem('forbidden');
      if (invitation.kind === 'member')
        throw new ConsoleProblem('invalid_input', { errors: { email: 'member' } });
      const { id, token, expiresAt } = invitation;
      return { id, token, expiresAt: expiresAt.toISOString() };
    },
  }),
  route({
    method: 'delete',
    path: '/accounts/:account/invitations/:invitation',
    access: 'admin',
    async handle({ context, actor, accountId, params }) {
      const isRevoked = await revokeInvitation(
        context.database,
        actor,
        accountId,
        params['invitation'] ?? '',
      );
      orNotFound(isRevoked || null);
    },
  }),
];

/** @throws ConsoleProblem for a change that the store refused */
function requireChanged(change: MemberChange): void {
  if (change === 'unknown') throw new ConsoleProblem('not_found');
  if (change === 'not_admin') throw new ConsoleProblem('forbidden');
  if (change === 'last_admin') throw new ConsoleProblem('last_admin');
}
