import { audited, logEntry, NOT_SIGNED_IN, type Actor } from '../operations/audit.js';
import type { Database } from '../client/database.js';
import { takeTry } from './countedTries.js';
import { markConfirmed } from './userSessions.js';

/** The means by which a person proves their identity. */
export type Proof = 'password' | 'code' | 'backup_code' | 'passkey' | 'oidc';

/** The proof that a person gave, and their address. */
export interface ProofGiven {
  proof: Proof;
  /** Null if unknown. */
  clientAddress: string | null;
}

type Person = Actor & { id: string };

/** Logs a sign-in and confirms its new session in one transaction, so that every usable session is in the audit log. */
export async function logSignIn(
  database: Database,
  actor: Person,
  sessionId: string,
  given: ProofGiven,
): Promise<void> {
  await confirmWith('user.sign_in', database, actor, sessionId, given);
}

/** Logs a sign-out. */
export async function logSignOut(database: Database, actor: Person): Promise<void> {
  await logEntry(database, actor, { action: 'user.sign_out', subject: actor.id });
}

/** Logs that a signed-in person proved their identity again, and confirms the session. */
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
  await audited(database, actor, async (connection, log) => {
    await markConfirmed(connection, sessionId, { bothFactors: given.proof !== 'password' });
    await log({ action, subject: actor.id, details: { ...given } });
  });
}

/** Logs that a signed-in person failed to prove their identity again. */
export async function logFailedConfirmation(
  database: Database,
  actor: Person,
  given: ProofGiven,
): Promise<void> {
  await logEntry(database, actor, {
    action: 'user.confirm_failed',
    subject: actor.id,
    details: { ...given },
  });
}

/** Returns the person who completed this first step of a sign-in but not the second; null without one. */
export async function findPendingUser(database: Database, firstStep: string): Promise<string | null> {
  const step = await database.prisma.userVerification.findFirst({
    where: { identifier: firstStep },
    select: { value: true },
  });
  return step?.value ?? null;
}

/**
 * Logs a failed sign-in. The limits on tries also limit a person's entries. An address without a user gets one entry, masked, at its last
 * try: otherwise anyone could write any amount of text into the log by inventing addresses.
 */
export async function logFailedSignIn(
  database: Database,
  who: { email: string } | { id: string },
  { isLastTry = false, ...given }: ProofGiven & { isLastTry?: boolean; reason?: string },
): Promise<void> {
  const user = await database.prisma.user.findUnique({ where: who, select: { id: true, email: true } });
  if (user === null && !isLastTry) return;
  const email = user?.email ?? ('email' in who ? masked(who.email) : '');
  const details = { email, ...given, ...(isLastTry && { triesUsedUp: true }) };
  await logEntry(database, NOT_SIGNED_IN, {
    action: 'user.sign_in_failed',
    subject: user?.id ?? null,
    details,
  });
}

const UNNAMED_FAILURES = { max: 20, seconds: 3_600 };

/**
 * Logs a sign-in by the OpenID provider that failed before it reached a user of Onecode: at most twenty an hour, because anyone can start
 * such a sign-in.
 *
 * @param reason one of a fixed set
 */
export async function logFailedProviderSignIn(
  database: Database,
  { clientAddress, reason }: { clientAddress: string | null; reason: string },
): Promise<void> {
  if ((await takeTry(database, 'failed provider sign-ins', UNNAMED_FAILURES)) === null) return;
  const details = { proof: 'oidc', clientAddress, reason };
  await logEntry(database, NOT_SIGNED_IN, { action: 'user.sign_in_failed', subject: null, details });
}

/** Returns an address's first character and domain: the rest may belong to a stranger, or be a password typed into the wrong field. */
function masked(email: string): string {
  const at = email.lastIndexOf('@');
  return `${[...email][0] ?? ''}•••${email.slice(at)}`;
}
