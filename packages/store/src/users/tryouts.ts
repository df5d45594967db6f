import { randomUUID } from 'node:crypto';
import { decrypt, type Keyring, type Mode } from '@onecode/domain';
import { DIGITS_SHOWN, audited, logEntry, type Actor } from '../operations/audit.js';
import type { Database } from '../client/database.js';
import { takeTry } from './countedTries.js';
import { createApiKey } from '../accounts/apiKeys.js';

/** The lifetime of a visit's key. A longer visit gets another key. */
const KEY_SECONDS = 600;
/** A key with less time left than this is not used for another call. */
const KEY_SECONDS_LEFT_MIN = 30;

/**
 * Returns the key with which the console's server calls the API for a person on an application's "Try it" page: an ordinary key that
 * expires. Every replica of the console can decrypt it with `SECRET_KEY`.
 *
 * @returns null if the application does not exist
 */
export async function createVisitKey(
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
    const expiresAt = new Date(Date.now() + KEY_SECONDS * 1000);
    const visit = { userId, keyring };
    const made = await createApiKey(connection, actor, applicationId, { expiresAt, visit });
    return made?.key ?? null;
  });
}

/** Deletes the expired keys of visits. Other expired keys stay visible. */
export async function deleteEndedKeys(database: Database): Promise<void> {
  await database.sql.execute`delete from api_keys where expires_at < now() and user_id is not null`;
}

/** Logs that a person is about to try a creation. @param recipient E.164; null if the input is not a phone number */
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

/** Returns the idempotency key of a creation on the "Try it" page. It is stored with the send, and identifies the person who created it. */
export const newTryoutIdempotencyKey = (userId: string): string =>
  idempotencyPrefix(userId) + randomUUID().slice(0, 8);

/**
 * Returns whether this person created a send on the application's "Try it" page. Reads and guesses on that page are not audited, so it must
 * not give access to other sends.
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

/** How often a person may do this in a minute, in all applications together: create sends, and read them or guess their codes. */
const PER_MINUTE = { send: 6, look: 40 } as const;

/** Counts a call that a person makes to the API from the console. @returns whether the limit of this minute allows it */
export async function takeTryout(
  database: Database,
  userId: string,
  kind: keyof typeof PER_MINUTE,
): Promise<boolean> {
  const limit = { max: PER_MINUTE[kind], seconds: 60 };
  return (await takeTry(database, `tryout ${kind} of ${userId}`, limit)) !== null;
}
