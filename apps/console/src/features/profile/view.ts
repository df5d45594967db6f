import type { UserSession } from '@onecode/store';

export interface UserSessionView {
  id: string;
  /** Whether it is the session of this request. */
  isCurrent: boolean;
  clientAddress: string | null;
  userAgent: string | null;
  createdAt: string;
  lastUsedAt: string;
}

export function userSessionView(
  { createdAt, lastUsedAt, ...session }: UserSession,
  currentId: string,
): UserSessionView {
  return {
    ...session,
    isCurrent: session.id === currentId,
    createdAt: createdAt.toISOString(),
    lastUsedAt: lastUsedAt.toISOString(),
  };
}
