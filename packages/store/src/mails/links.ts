import { createHash, randomBytes } from 'node:crypto';
import type { Connection } from '../client/database.js';
import { newId } from '../client/ids.js';

type Sql = Pick<Connection, 'sql'>;

/** The kinds of mail with a link that is stored here. */
type LinkKind = 'password_reset' | 'sign_up' | 'address_change';

const toPendingIdentifier = (email: string): string => `pending_sign_up:${email}`;

const toIdentifier = (kind: LinkKind, token: string): string =>
  `${kind}:${createHash('sha256').update(token).digest('hex')}`;

/** Creates a link's token, of which only the hash is stored. @param value the data that the link gives access to */
export async function makeLink(
  { sql }: Sql,
  kind: LinkKind,
  value: string,
  minutes: number,
): Promise<string> {
  const token = randomBytes(32).toString('base64url');
  await sql.execute`
    insert into user_verifications (id, identifier, value, expires_at)
    values (${newId()}::uuid, ${toIdentifier(kind, token)}, ${value}, clock_timestamp() + make_interval(mins => ${minutes}::integer))`;
  return token;
}

/** Returns the value of a link; null if it was used or has expired. */
export async function readLink({ sql }: Sql, kind: LinkKind, token: string): Promise<string | null> {
  const [link] = await sql.query<{ value: string }[]>`
    select value from user_verifications where identifier = ${toIdentifier(kind, token)} and expires_at > clock_timestamp()`;
  return link?.value ?? null;
}

/** Stores the password hash of the latest sign-up with this address, for as long as its link is valid. */
export async function writePendingPasswordHash(
  { sql }: Sql,
  email: string,
  hash: string,
  minutes: number,
): Promise<void> {
  await sql.execute`
    insert into user_verifications (id, identifier, value, expires_at)
    values (${newId()}::uuid, ${toPendingIdentifier(email)}, ${hash}, clock_timestamp() + make_interval(mins => ${minutes}::integer))`;
}

/**
 * Returns the password hash of the latest sign-up with this address and an unexpired link; null without one. A confirmation does not
 * change the result: otherwise a stranger who signed up with the address could see when its owner confirms it.
 */
export async function findPendingPasswordHash({ sql }: Sql, email: string): Promise<string | null> {
  const [pending] = await sql.query<{ value: string }[]>`
    select value from user_verifications
    where identifier = ${toPendingIdentifier(email)} and expires_at > clock_timestamp() order by id desc limit 1`;
  return pending?.value ?? null;
}

/** Uses up a link: only one of several callers gets its value. @returns the result of `readLink` */
export async function useLink({ sql }: Sql, kind: LinkKind, token: string): Promise<string | null> {
  const [link] = await sql.query<{ value: string }[]>`
    delete from user_verifications where identifier = ${toIdentifier(kind, token)} and expires_at > clock_timestamp()
    returning value`;
  return link?.value ?? null;
}

/** Ends the links of a kind with this value. */
export async function endLinks({ sql }: Sql, kind: LinkKind, value: string): Promise<void> {
  await sql.execute`
    delete from user_verifications where starts_with(identifier, ${`${kind}:`}) and value = ${value}`;
}

/** Ends the links that change a person's address: a stranger may have requested one. */
export async function endAddressChanges({ sql }: Sql, userId: string): Promise<void> {
  await sql.execute`
    delete from user_verifications
    where case when starts_with(identifier, 'address_change:') then value::jsonb ->> 'userId' = ${userId} end`;
}

/** Deletes expired links and unfinished sign-ins. Anyone can start any number of them, and better-auth does not delete them. */
export async function deleteExpiredVerifications({ sql }: Sql): Promise<void> {
  await sql.execute`delete from user_verifications where expires_at < clock_timestamp()`;
}
