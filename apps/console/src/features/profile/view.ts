import type { UserSession } from '@onecode/store';
import type { Json } from '../../http/json.js';

export type UserSessionView = Json<ReturnType<typeof userSessionView>>;

/** @param currentId the session of this request */
export const userSessionView = (session: UserSession, currentId: string) => ({
  ...session,
  isCurrent: session.id === currentId,
});
