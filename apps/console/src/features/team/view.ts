import type { Invitation, Member } from '@onecode/store/users';
import type { Json } from '../../http/json.js';

export type MemberView = Json<ReturnType<typeof memberView>>;
export type InvitationView = Json<ReturnType<typeof invitationView>>;

/** The only response that contains the token of the link. */
export interface NewInvitationView {
  id: string;
  token: string;
  expiresAt: string;
}

export const memberView = ({ userId, ...member }: Member) => ({ id: userId, ...member });

export const invitationView = (invitation: Invitation) => ({
  ...invitation,
  hasExpired: invitation.expiresAt.getTime() <= Date.now(),
});
