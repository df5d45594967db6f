import { randomUUID } from 'node:crypto';
import { decrypt, type Keyring, type Mode } from '@onecode/domain';
import { audited, logEntry, type Actor } from '../operations/audit.js';
import type { Database } from '../client/database.js';
import { takeTry } from '../users/countedTries.js';
import { insertApiKey } from './apiKeys.js';

/** How long a visit's key lives; a longer visit gets another one. */
const KEY_SECONDS = 600;
/** A key with less left is not used for another call. */
const KEY_SECONDS_LEFT_MIN = 30;

/**
 * The key with which the console's server calls the API for somebody who visits an application's page Try it: an ordinary key that ends
 * by itself. Every replica of the console opens it with `SECRET_KEY`.
 *
 * @returns null when there is no such application
 */
export async function keyOfVisit(
  database: Database,
  actor: Actor,
  keyring: Keyring,
  { userId, applicationId }: { userId: string; applicationId: string },
): Promise<string | null> {
  return audited(database, actor, async (connection) => {
    const [known] = await connection.sql.query<{ id: string; encrypted_key: Uint8Array }[]>`
      select id, encrypted_key from api_keys
      where application_id = ${applicationId}::uuid and user_id = ${userId}::uuid and revoked_at is null
        and expires_at > now() + make_interval(secs => ${KEY_SECONDS_LEFT_MIN})
      limit 1`;
    if (known !== undefined) return decrypt(keyring, known.id, known.encrypted_key);
    const visit = { userId, keyring, seconds: KEY_SECONDS };
    const made = await insertApiKey(connection, actor, applicationId, { name: null, visit });
    return made?.key ?? null;
  });
}

/** Deletes the keys of visits that have ended. */
export async function deleteEndedKeys(database: Database): Promise<void> {
  await database.sql.execute`delete from api_keys where expires_at < now()`;
}

/** How much of a recipient's number the audit log shows. */
const DIGITS_SHOWN = 4;

/** Logs that somebody is about to try a creation. @param recipient E.164; null when what was given is no number */
export async function logTriedSend(
  database: Database,
  actor: Actor,
  application: { id: string; accountId: string; mode: Mode },
  recipient: string | null,
): Promise<void> {
  const { id: subject, accountId, mode } = application;
  const details = { mode, ...(recipient !== null && { recipientEndsWith: recipient.slice(-DIGITS_SHOWN) }) };
  await logEntry(database, actor, { action: 'application.try_send', accountId, subject, details });
}

const idempotencyPrefix = (userId: string): string => `tryout-${userId}-`;

/** The idempotency key of a creation that somebody tries. It stays with the send, and so says who created it there. */
export const newTryoutIdempotencyKey = (userId: string): string =>
  idempotencyPrefix(userId) + randomUUID().slice(0, 8);

/**
 * Whether this person created a send on the application's page Try it. Looking at one and guessing at its code there is not audited, so
 * that the page must not be a way to other sends.
 */
export async function hasTriedSend(
  database: Database,
  { userId, applicationId, sendId }: { userId: string; applicationId: string; sendId: string },
): Promise<boolean> {
  const sends = await database.sql.query<object[]>`
    select from sends
    where id = ${sendId}::uuid and application_id = ${applicationId}::uuid
      and starts_with(encode(idempotency_key, 'escape'), ${idempotencyPrefix(userId)})`;
  return sends.length > 0;
}

/** What somebody may do in a minute, in all applications together: creations, and looks at sends with guesses at their codes. */
const PER_MINUTE = { send: 6, look: 40 } as const;

/** Counts a call that somebody makes to the API from the console. @returns whether they may make it in this minute */
export async function takeTryout(
  database: Database,
  userId: string,
  kind: keyof typeof PER_MINUTE,
): Promise<boolean> {
  const limit = { max: PER_MINUTE[kind], seconds: 60 };
  return (await takeTry(database, `tryout ${kind} of ${userId}`, limit)) !== null;
}
