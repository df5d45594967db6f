import type { Passkey, UserSession } from '@onecode/store/users';
import type { MutableMail } from '@onecode/store/mails';
import type { Json } from '../../http/json.js';

export type PasskeyView = Json<Passkey>;
export type UserSessionView = Json<ReturnType<typeof userSessionView>>;

/** The kinds of mails that a user can turn off, and the ones that they want. */
export interface MailChoicesView {
  mails: { kind: MutableMail; isWanted: boolean }[];
}

/** @param currentId the session of this request */
export const userSessionView = (session: UserSession, currentId: string) => ({
  ...session,
  isCurrent: session.id === currentId,
});
