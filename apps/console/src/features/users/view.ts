import type { MemberRole, User } from '@onecode/store/users';
import type { Json } from '../../http/json.js';

/** A user for staff. */
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

/** The generated password; the only response that contains it. */
export interface MadePasswordView {
  password: string | null;
}
