import type { Invitation, Member, MemberRole } from '@onecode/store';

export interface MemberView {
  id: string;
  name: string;
  email: string;
  role: MemberRole;
  hasTwoFactor: boolean;
  joinedAt: string;
}

export interface InvitationView {
  id: string;
  email: string;
  role: MemberRole;
  /** Null when the person who invited is gone. */
  invitedBy: string | null;
  createdAt: string;
  expiresAt: string;
  hasExpired: boolean;
}

/** Only this answer ever holds the token of the link. */
export interface NewInvitationView {
  id: string;
  token: string;
  expiresAt: string;
}

export function memberView({ userId, joinedAt, ...member }: Member): MemberView {
  return { id: userId, ...member, joinedAt: joinedAt.toISOString() };
}

export function invitationView({ createdAt, expiresAt, ...invitation }: Invitation): InvitationView {
  return {
    ...invitation,
    createdAt: createdAt.toISOString(),
    expiresAt: expiresAt.toISOString(),
    hasExpired: expiresAt.getTime() <= Date.now(),
  };
}
