import { randomUUID } from 'node:crypto';
import { apiKeyHint, generateApiKey, hashApiKey, type Mode } from '@onecode/domain';
import { DIGITS_SHOWN, logEntry, type Actor } from '../operations/audit.js';
import type { Database } from '../client/database.js';
import { newId } from '../client/ids.js';
import { takeTry } from './countedTries.js';

/** Longer than the console waits for the API. */
const KEY_SECONDS = 60;

/**
 * Creates the key for one call that the console's server makes to the API for a person on an application's "Try it" page: an ordinary key
 * that expires within a minute, and that no page lists.
 */
export async function createTryoutKey(
  { sql }: Database,
  { id: applicationId, mode }: { id: string; mode: Mode },
): Promise<string> {
  const key = generateApiKey(mode);
  await sql.execute`
    insert into api_keys (id, application_id, hash, hint, expires_at, is_tryout)
    values (${newId()}::uuid, ${applicationId}::uuid, ${new Uint8Array(hashApiKey(key))}::bytea, ${apiKeyHint(key)},
      clock_timestamp() + make_interval(secs => ${KEY_SECONDS}), true)`;
  return key;
}

/** Deletes the expired keys of the "Try it" page. Other expired keys stay visible. */
export async function deleteEndedKeys(database: Database): Promise<void> {
  await database.sql.execute`delete from api_keys where expires_at < now() and is_tryout`;
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
