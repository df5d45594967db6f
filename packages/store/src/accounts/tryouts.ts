import { apiKeyHint, generateApiKey, hashApiKey, type Mode } from '@onecode/domain';
import { audited, type Actor } from '../audit/audit.js';
import type { Database } from '../client/database.js';
import { newId } from '../client/ids.js';
import { takeTry } from '../users/countedTries.js';

/** Longer than any call with a tryout key: one that is older was left behind by a process that ended. */
const KEY_SECONDS_MAX = 120;

/** How much of a recipient's number the audit log shows. */
const DIGITS_SHOWN = 4;

/** A creation that somebody tries. */
export interface TriedSend {
  /** E.164; null when what was given is no number. */
  recipient: string | null;
}

/**
 * Makes a key for one call that the console makes to the API for somebody who tries their application. The key is given to `use` and to
 * nobody else, is in no list of keys, and ends when `use` does. Keys that a crash left behind in the application end with it.
 *
 * @param application that exists
 * @param tried what the audit log records of a creation, in the transaction that makes the key; null for a call about an earlier one
 * @returns what `use` returns
 */
export async function withTryoutKey<R>(
  database: Database,
  actor: Actor,
  application: { id: string; accountId: string; mode: Mode },
  tried: TriedSend | null,
  use: (key: string) => Promise<R>,
): Promise<R> {
  const { mode, accountId } = application;
  const id = newId();
  const key = generateApiKey(mode);
  await audited(database, actor, async (connection) => {
    await connection.sql.execute`
      insert into api_keys (id, application_id, hash, hint, purpose)
      values (${id}::uuid, ${application.id}::uuid, ${new Uint8Array(hashApiKey(key))}::bytea, ${apiKeyHint(key)}, 'tryout')`;
    const note = tried && {
      action: 'application.try_send',
      accountId,
      subject: application.id,
      details: {
        mode,
        ...(tried.recipient !== null && { recipientEndsWith: tried.recipient.slice(-DIGITS_SHOWN) }),
      },
    };
    return { result: undefined, note };
  });
  try {
    return await use(key);
  } finally {
    // One statement, because each of its kind empties every API's cache of callers. Nothing refers to a key, so that none is kept.
    await database.sql.execute`
      delete from api_keys
      where id = ${id}::uuid
        or application_id = ${application.id}::uuid and purpose = 'tryout'
          and created_at < now() - make_interval(secs => ${KEY_SECONDS_MAX})`;
  }
}

/** What somebody may do in a minute, in all applications together: creations, and looks at sends with guesses at their codes. */
const PER_MINUTE = { send: 6, look: 40 } as const;

/** Of `counted_tries`: counts may be deleted after this, and not before. */
const COUNT_KEPT_SECONDS = 900;

/**
 * Counts a call that somebody makes to the API from the console. Minutes are those of the database's clock, which all replicas share.
 *
 * @returns whether they may make it in this minute
 */
export async function takeTryout(
  database: Database,
  userId: string,
  kind: keyof typeof PER_MINUTE,
): Promise<boolean> {
  const [{ minute }] = await database.sql.query<[{ minute: Date }]>`
    select date_bin('1 minute', statement_timestamp(), 'epoch') as minute`;
  const subject = `tryout ${kind} of ${userId} in ${minute.toISOString()}`;
  return (await takeTry(database, subject, { max: PER_MINUTE[kind], seconds: COUNT_KEPT_SECONDS })) !== null;
}
