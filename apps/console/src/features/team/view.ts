import type { Invitation, InvitationOffer, Member, MemberRole } from '@onecode/store';

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
  /** Null when whoever invited is gone. */
  invitedBy: string | null;
  createdAt: string;
  expiresAt: string;
  hasExpired: boolean;
}

/** The link's secret is in this answer and nowhere else. */
export interface NewInvitationView {
  id: string;
  token: string;
  expiresAt: string;
}

export interface InvitationOfferView {
  accountName: string;
  email: string;
  role: MemberRole;
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

export function invitationOfferView({ accountName, email, role }: InvitationOffer): InvitationOfferView {
  return { accountName, email, role };
}
