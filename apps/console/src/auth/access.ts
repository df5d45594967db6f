import { isStaffTwoFactorRequired } from '@onecode/store/accounts';
import {
  findMemberRole,
  hasOtherProof,
  isSessionConfirmed,
  MEMBER_ROLES,
  type MemberRole,
  type StaffRole,
} from '@onecode/store/users';
import type { ConsoleContext } from '../context.js';
import type { Person } from './identity.js';
import { ConsoleProblem } from '../http/problem.js';
import type { Access } from '../http/route.js';

const isMemberRole = (access: Access): access is MemberRole =>
  (MEMBER_ROLES as readonly string[]).includes(access);
/** Returns whether a route is for staff. */
export const isStaffRole = (access: Access): access is StaffRole =>
  access === 'operator' || access === 'on_call';

/**
 * Checks that a user may call a route. Accounts of which the user is not a member return 404, and so do the staff's routes for users
 * who are not staff.
 *
 * @throws ConsoleProblem `not_signed_in`, `not_found`, `forbidden` for a role below `access`, or `second_factor_required` for staff who
 * need a second factor and have not used one
 */
export async function authorize(
  { database }: ConsoleContext,
  access: Access,
  person: Person | null,
  accountId: string | undefined,
): Promise<void> {
  if (access === 'anyone') return;
  if (person === null) throw new ConsoleProblem('not_signed_in');
  if (isStaffRole(access)) {
    if (person.staff === null) throw new ConsoleProblem('not_found');
    if (!person.showedBothFactors && (await isStaffTwoFactorRequired(database)))
      throw new ConsoleProblem('second_factor_required');
    if (access === 'operator' && person.staff !== 'operator') throw new ConsoleProblem('forbidden');
  }
  if (isMemberRole(access)) {
    const role = accountId === undefined ? null : await findMemberRole(database, accountId, person.id);
    if (role === null) throw new ConsoleProblem('not_found');
    if (MEMBER_ROLES.indexOf(role) < MEMBER_ROLES.indexOf(access)) throw new ConsoleProblem('forbidden');
  }
}

/**
 * Requires that the user confirmed their identity in this session within the last ten minutes: by signing in, by their second factor,
 * or, without one, by their password. A stolen session must not be enough to grant credits or to hold deliveries.
 *
 * @throws ConsoleProblem `confirmation_required`, or as `requireOtherProof`
 */
export async function requireConfirmation(context: ConsoleContext, person: Person): Promise<void> {
  await requireOtherProof(context, person);
  if (!(await isSessionConfirmed(context.database, person.sessionId)))
    throw new ConsoleProblem('confirmation_required');
}

/**
 * Requires a second factor in this session from staff who need two factors and have a passkey or a provider's login. With the password
 * alone, an attacker could add their own factor.
 *
 * @throws ConsoleProblem `second_factor_required`
 */
export async function requireOtherProof({ database }: ConsoleContext, person: Person): Promise<void> {
  if (person.staff === null || person.showedBothFactors) return;
  if ((await isStaffTwoFactorRequired(database)) && (await hasOtherProof(database, person.id)))
    throw new ConsoleProblem('second_factor_required');
}
