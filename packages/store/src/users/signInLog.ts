import { audited, NOT_SIGNED_IN, type Actor, type AuditNote } from '../audit/audit.js';
import type { Database } from '../client/database.js';
import { markConfirmed } from './userSessions.js';

/** With what somebody shows who they are. */
export type Proof = 'password' | 'code' | 'backup_code';

/** How somebody tried to show who they are, and from where. */
export interface ProofGiven {
  proof: Proof;
  /** Null when it was not to be known. */
  clientAddress: string | null;
}

type Person = Actor & { id: string };

const noteOf = (action: string, subject: string | null, details: Record<string, unknown>): AuditNote => ({
  action,
  accountId: null,
  subject,
  details,
});

/** Notes that somebody signed in, which confirms their new session: no session is used that the log does not know. */
export async function noteSignIn(
  database: Database,
  actor: Person,
  sessionId: string,
  given: ProofGiven,
): Promise<void> {
  await confirmWith('user.sign_in', database, actor, sessionId, given);
}

/** Notes that somebody signs out. */
export async function noteSignOut(database: Database, actor: Person): Promise<void> {
  await audited(database, actor, async () => ({
    result: undefined,
    note: noteOf('user.sign_out', actor.id, {}),
  }));
}

/** Confirms a session of somebody who showed again that it is them. */
export async function confirmSession(
  database: Database,
  actor: Person,
  sessionId: string,
  given: ProofGiven,
): Promise<void> {
  await confirmWith('user.confirm', database, actor, sessionId, given);
}

async function confirmWith(
  action: 'user.sign_in' | 'user.confirm',
  database: Database,
  actor: Person,
  sessionId: string,
  given: ProofGiven,
): Promise<void> {
  await audited(database, actor, async (connection) => {
    await markConfirmed(connection, sessionId);
    return { result: undefined, note: noteOf(action, actor.id, { ...given }) };
  });
}

/** Notes that somebody signed in gave a wrong password or code when they were asked again. */
export async function noteFailedConfirmation(
  database: Database,
  actor: Person,
  given: ProofGiven,
): Promise<void> {
  await audited(database, actor, async () => ({
    result: undefined,
    note: noteOf('user.confirm_failed', actor.id, { ...given }),
  }));
}

/** The id of whoever took this first step of a sign-in, and has not taken the second; or null. */
export async function findPendingUser(database: Database, firstStep: string): Promise<string | null> {
  const step = await database.userVerification.findFirst({
    where: { identifier: firstStep },
    select: { value: true },
  });
  return step?.value ?? null;
}

/**
 * Notes that somebody did not get in. The tries of an e-mail address, and those of a second step, bound the entries of a person.
 * Of an address that nobody has there is one alone, for its last try, without its name: whoever invents addresses would
 * otherwise write into the log what and as much as they like.
 */
export async function noteFailedSignIn(
  database: Database,
  who: { email: string } | { id: string },
  { isLastTry = false, ...given }: ProofGiven & { isLastTry?: boolean },
): Promise<void> {
  const user = await database.user.findUnique({ where: who, select: { id: true, email: true } });
  if (user === null && !isLastTry) return;
  const email = user?.email ?? ('email' in who ? hidden(who.email) : '');
  const details = { email, ...given, ...(isLastTry && { triesUsedUp: true }) };
  await audited(database, NOT_SIGNED_IN, async () => ({
    result: undefined,
    note: noteOf('user.sign_in_failed', user?.id ?? null, details),
  }));
}

/** An address's first character and its domain: what was typed may be somebody's who never came here, or a password. */
function hidden(email: string): string {
  const at = email.lastIndexOf('@');
  return `${[...email][0] ?? ''}•••${email.slice(at)}`;
}
