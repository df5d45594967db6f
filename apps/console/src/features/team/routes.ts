import { Type } from 'typebox';
import {
  changeMemberRole,
  inviteMember,
  listInvitations,
  listMembers,
  removeMember,
  revokeInvitation,
  type MemberChange,
} from '@onecode/store/users';
import { clientAddress, networkOf } from '../../http/clientAddress.js';
import { emailField, strictObject } from '../../http/fields.js';
import { createFairLimiter } from '../../http/limiters.js';
import { ConsoleProblem, orNotFound } from '../../http/problem.js';
import { route, type Route } from '../../http/route.js';
import { invitationView, memberView, type NewInvitationView } from './view.js';

const ROLE = Type.Enum(['admin', 'developer', 'viewer']);

/** The invitations of an account lock the same row, each on its own database connection, so they run one at a time. */
const limitInvitations = createFairLimiter({ concurrency: 2, concurrencyPerKey: 1, queuedPerKeyMax: 100 });

export const teamRoutes: readonly Route[] = [
  route('get', '/accounts/:account/members', 'viewer', {
    async handle({ context, accountId }) {
      return { members: (await listMembers(context.database, accountId)).map(memberView) };
    },
  }),
  route('put', '/accounts/:account/members/:member', 'admin', {
    body: strictObject({ role: ROLE }),
    async handle({ context, actor, accountId, params, body: { role } }) {
      const change = { accountId, userId: params['member'] ?? '', role };
      requireChanged(await changeMemberRole(context.database, actor, change));
    },
  }),
  route('delete', '/accounts/:account/members/:member', 'admin', {
    async handle({ context, actor, accountId, params }) {
      const member = { accountId, userId: params['member'] ?? '' };
      requireChanged(await removeMember(context.database, actor, member));
    },
  }),
  route('delete', '/accounts/:account/membership', 'viewer', {
    async handle({ context, actor, accountId, person }) {
      requireChanged(await removeMember(context.database, actor, { accountId, userId: person.id }));
    },
  }),
  route('get', '/accounts/:account/invitations', 'admin', {
    async handle({ context, accountId }) {
      return { invitations: (await listInvitations(context.database, accountId)).map(invitationView) };
    },
  }),
  route('post', '/accounts/:account/invitations', 'admin', {
    // Without a mail, an address may be invited again within the hour, to replace a lost link.
    body: strictObject({ email: emailField, role: ROLE, isMailed: Type.Optional(Type.Boolean()) }),
    async handle({ context, request, actor, accountId, body }): Promise<NewInvitationView> {
      const network = networkOf(clientAddress(request));
      const wanted = { accountId, email: body.email.toLowerCase(), role: body.role, network };
      const { SECRET_KEY: keyring, CONSOLE_URL } = context.config;
      const mail = body.isMailed !== false ? { keyring, page: `${CONSOLE_URL}/invitation` } : null;
      const invitation = await limitInvitations(accountId, () =>
        inviteMember(context.database, actor, wanted, mail),
      );
      if (invitation.kind === 'not_admin') throw new ConsoleProblem('forbidden');
      if (invitation.kind === 'member')
        throw new ConsoleProblem('invalid_input', { errors: { email: 'member' } });
      const { id, token, expiresAt } = invitation;
      return { id, token, expiresAt: expiresAt.toISOString() };
    },
  }),
  route('delete', '/accounts/:account/invitations/:invitation', 'admin', {
    async handle({ context, actor, accountId, params }) {
      orNotFound(await revokeInvitation(context.database, actor, accountId, params['invitation'] ?? ''));
    },
  }),
];

/** @throws ConsoleProblem for a change that the store refused */
function requireChanged(change: MemberChange): void {
  if (change === 'unknown') throw new ConsoleProblem('not_found');
  if (change === 'not_admin') throw new ConsoleProblem('forbidden');
  if (change === 'last_admin') throw new ConsoleProblem('last_admin');
}
