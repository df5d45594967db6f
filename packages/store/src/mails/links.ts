import { createHash, randomBytes } from 'node:crypto';
import type { Connection } from '../client/database.js';
import { newId } from '../client/ids.js';

type Sql = Pick<Connection, 'sql'>;

type LinkPurpose = 'password-reset' | 'sign-up' | 'address-change';

const identifierOf = (purpose: LinkPurpose, token: string): string =>
  `${purpose}:${createHash('sha256').update(token).digest('hex')}`;

/** Makes a link's token, which is stored nowhere else than as its hash. @param value what the link knows */
export async function makeLink(
  { sql }: Sql,
  purpose: LinkPurpose,
  value: string,
  minutes: number,
): Promise<string> {
  const token = randomBytes(32).toString('base64url');
  await sql.execute`
    insert into user_verifications (id, identifier, value, expires_at)
    values (${newId()}::uuid, ${identifierOf(purpose, token)}, ${value}, clock_timestamp() + make_interval(mins => ${minutes}::integer))`;
  return token;
}

/** What a link knows; null when it was used, or has expired. */
export async function readLink({ sql }: Sql, purpose: LinkPurpose, token: string): Promise<string | null> {
  const [link] = await sql.query<{ value: string }[]>`
    select value from user_verifications where identifier = ${identifierOf(purpose, token)} and expires_at > clock_timestamp()`;
  return link?.value ?? null;
}

/** Uses a link up: of several callers, one gets what it knows. @returns as `readLink` */
export async function useLink({ sql }: Sql, purpose: LinkPurpose, token: string): Promise<string | null> {
  const [link] = await sql.query<{ value: string }[]>`
    delete from user_verifications where identifier = ${identifierOf(purpose, token)} and expires_at > clock_timestamp()
    returning value`;
  return link?.value ?? null;
}

/** Ends the links for a purpose that know this. */
export async function endLinks({ sql }: Sql, purpose: LinkPurpose, value: string): Promise<void> {
  await sql.execute`
    delete from user_verifications where starts_with(identifier, ${`${purpose}:`}) and value = ${value}`;
}

/** Ends the links to a new address of a person: whoever has asked for one need not be the person. */
export async function endAddressChanges({ sql }: Sql, userId: string): Promise<void> {
  await sql.execute`
    delete from user_verifications
    where case when starts_with(identifier, 'address-change:') then value::jsonb ->> 'userId' = ${userId} end`;
}

/** Deletes the links and the begun sign-ins that have expired: anybody begins as many as they like, and better-auth leaves them. */
export async function deleteExpiredVerifications({ sql }: Sql): Promise<void> {
  await sql.execute`delete from user_verifications where expires_at < clock_timestamp()`;
}
