import type { MemberRole, User } from '@onecode/store/users';
import type { Json } from '../../http/json.js';

/** A user, as staff see them. */
export type UserView = Json<User>;

export interface UsersView {
  users: UserView[];
  /** The cursor of the next page. */
  next: string | null;
}

export interface UserDetailsView extends UserView {
  memberships: { accountId: string; accountName: string; role: MemberRole }[];
  sessions: number;
  /** Null without a session. */
  lastUsedAt: string | null;
}

/** The password that was made; only this answer ever holds it. */
export interface MadePasswordView {
  password: string | null;
}
