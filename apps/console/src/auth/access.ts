import {
  findMemberRole,
  isSessionConfirmed,
  isStaffTwoFactorRequired,
  MEMBER_ROLES,
  type MemberRole,
  type StaffRole,
} from '@onecode/store';
import type { ConsoleContext } from '../context.js';
import type { Person } from './identity.js';
import { ConsoleProblem } from '../http/problem.js';
import type { Access } from '../http/route.js';

const isMemberRole = (access: Access): access is MemberRole =>
  (MEMBER_ROLES as readonly string[]).includes(access);
const isStaffRole = (access: Access): access is StaffRole => access === 'operator' || access === 'on_call';

/**
 * Lets a person in, or says why not. An account that the person does not belong to does not exist for them, and neither do the
 * pages of the staff for others.
 *
 * @throws ConsoleProblem `not_signed_in`, `not_found`, `forbidden` for a role that does not suffice, or `second_factor_required`
 * for staff who need one and have none
 */
export async function admit(
  { database }: ConsoleContext,
  access: Access,
  person: Person | null,
  accountId: string | undefined,
): Promise<void> {
  if (access === 'anyone') return;
  if (person === null) throw new ConsoleProblem('not_signed_in');
  if (isStaffRole(access)) {
    if (person.staff === null) throw new ConsoleProblem('not_found');
    if (!person.hasTwoFactor && (await isStaffTwoFactorRequired(database)))
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
 * Asks a person to show again that it is them, by their second factor, or by their password where they have none: a session that
 * somebody else got hold of is not enough to give money away, or to stop deliveries.
 *
 * @throws ConsoleProblem `confirmation_required` unless they did so within the last ten minutes, or signed in
 */
export async function requireConfirmation(
  { database }: ConsoleContext,
  { sessionId }: Person,
): Promise<void> {
  if (!(await isSessionConfirmed(database, sessionId))) throw new ConsoleProblem('confirmation_required');
}
