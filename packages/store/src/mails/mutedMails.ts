import { audited, type Actor } from '../operations/audit.js';
import type { Connection, Database } from '../client/database.js';

/** Returns the kinds of mail that a person has turned off. */
export async function readMutedMails({ sql }: Connection, userId: string): Promise<string[]> {
  const [user] = await sql.query<{ muted: string[] }[]>`
    select muted_mails as muted from users where id = ${userId}::uuid`;
  return user?.muted ?? [];
}

/** Turns these kinds of mail off for the actor, and all others on. */
export function muteMails(
  database: Database,
  actor: Actor & { id: string },
  kinds: readonly string[],
): Promise<void> {
  return audited(database, actor, async ({ sql }, log) => {
    const [changed] = await sql.query<{ before: string[] }[]>`
      with before as (select id, muted_mails from users where id = ${actor.id}::uuid for no key update)
      update users u set muted_mails = ${[...kinds]}::text[] from before b
      where u.id = b.id and b.muted_mails <> ${[...kinds]}::text[] returning b.muted_mails as before`;
    if (changed === undefined) return;
    const details = { before: { mutedMails: changed.before }, after: { mutedMails: kinds } };
    await log({ action: 'user.mute_mails', subject: actor.id, details });
  });
}
