import { apiKeyHint, generateApiKey, hashApiKey, type KeyState, type Mode } from '@onecode/domain';
import { type Actor, audited } from '../operations/audit.js';
import { createLookUp } from '../client/batcher.js';
import type { Connection, Database } from '../client/database.js';
import { newId } from '../client/ids.js';
import { Prisma } from '../generated/prisma/client.js';

/** The account and application that a request's key authenticates. */
export interface Caller {
  keyId: string;
  applicationId: string;
  accountId: string;
  mode: Mode;
}

type KeyRow = Prisma.ApiKeyGetPayload<{ omit: { hash: true; isTryout: true } }>;

/** A key without its secret. */
export type ApiKey = KeyRow & {
  accountId: string;
  mode: Mode;
  applicationName: string;
};

/** SQL for the `KeyState` of a key `k` of an account `o`. */
export const KEY_STATE = Prisma.sql`case
  when k.revoked_at is not null then 'revoked' when k.expires_at <= clock_timestamp() then 'expired'
  when o.suspended_at is not null then 'suspended' else 'valid'
end`;

/** Returns the caller for a key's SHA-256 and whether the key may be used, or undefined if there is no such key. */
export const findCaller = createLookUp<Uint8Array, Caller & { state: KeyState }>(
  (database, hashes) => database.sql.read`
    select w.ordinal, c.*
    from unnest(${hashes}::bytea[]) with ordinality as w (hash, ordinal)
    cross join lateral (
      select k.id as "keyId", a.id as "applicationId", a.account_id as "accountId", a.mode, ${KEY_STATE} as state
      from api_keys k join applications a on a.id = k.application_id join accounts o on o.id = a.account_id
      where k.hash = w.hash limit 1
    ) c`,
);

type NewApiKey = Pick<ApiKey, 'id' | 'applicationId' | 'mode' | 'expiresAt'> & { key: string };

/** The longest lifetime, in days, of a key that expires. */
export const KEY_DAYS_MAX = 3_650;

interface KeyTerms {
  /** 1 to 100 characters. */
  name?: string | null;
  /** Null if the key does not expire. */
  expiresAt?: Date | null;
}

/** Creates a key. Only the response contains the key itself. @returns null if the application does not exist */
export function createApiKey(
  database: Database | Connection,
  actor: Actor,
  applicationId: string,
  { name = null, expiresAt = null }: KeyTerms = {},
): Promise<NewApiKey | null> {
  return audited(database, actor, async ({ prisma }, log) => {
    const application = await prisma.application.findUnique({
      where: { id: applicationId },
      select: { mode: true, accountId: true },
    });
    if (application === null) return null;
    const { accountId } = application;
    const mode = application.mode as Mode;
    const key = generateApiKey(mode);
    const [id, hint, hash] = [newId(), apiKeyHint(key), new Uint8Array(hashApiKey(key))];
    const data = { id, applicationId, hash, hint, name, expiresAt };
    await prisma.apiKey.create({ data, select: { id: true } });
    const details = { hint, name, applicationId, mode, ...(expiresAt !== null && { expiresAt }) };
    await log({ action: 'key.create', accountId, subject: id, details });
    return { id, key, applicationId, mode, expiresAt };
  });
}

/** Revokes a key. A key that is already revoked keeps its time of revocation. @returns null if the key does not exist */
export async function revokeApiKey(database: Database, actor: Actor, id: string): Promise<ApiKey | null> {
  return audited(database, actor, async (connection, log) => {
    const revoked = await connection.sql.execute`
      update api_keys set revoked_at = now() where id = ${id}::uuid and revoked_at is null`;
    const [key] = await listApiKeys(connection, { id });
    if (key === undefined || revoked === 0) return key ?? null;
    const { accountId, hint, applicationId, mode, expiresAt } = key;
    const details = { hint, applicationId, mode, ...(expiresAt !== null && { expiresAt }) };
    await log({ action: 'key.revoke', accountId, subject: id, details });
    return key;
  });
}

/** Returns Prisma's condition for keys that people created and that may be used. */
export const keysInUse = () =>
  ({
    revokedAt: null,
    isTryout: false,
    OR: [{ expiresAt: null }, { expiresAt: { gt: new Date() } }],
  }) satisfies Prisma.ApiKeyWhereInput;

/** Returns keys that people created, oldest first. @param which `ending`: the last four characters; `areInUse`: they may be used */
export async function listApiKeys(
  database: Connection,
  which: { id?: string; applicationId?: string; accountId?: string; ending?: string; areInUse?: true },
): Promise<ApiKey[]> {
  const { accountId, ending, areInUse, ...where } = which;
  const keys = await database.prisma.apiKey.findMany({
    where: {
      ...where,
      isTryout: false,
      ...(accountId !== undefined && { application: { accountId } }),
      ...(ending !== undefined && { hint: { endsWith: `…${ending}` } }),
      ...(areInUse && keysInUse()),
    },
    orderBy: { id: 'asc' },
    include: { application: { select: { accountId: true, name: true, mode: true } } },
    omit: { hash: true, isTryout: true },
  });
  return keys.map(({ application, ...key }) => ({
    ...key,
    accountId: application.accountId,
    applicationName: application.name,
    mode: application.mode as Mode,
  }));
}

/** A use is recorded only if the last recorded use is older: one write per minute is enough to show whether a key is in use. */
const SECONDS_MIN = 55;

/** Records that keys are in use, in one statement, unless they were revoked. */
export async function recordKeyUsage(database: Database, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await database.sql.execute`
    update api_keys set last_used_at = statement_timestamp()
    where id = any(${[...ids]}::uuid[]) and revoked_at is null
      and coalesce(last_used_at < statement_timestamp() - make_interval(secs => ${SECONDS_MIN}), true)`;
}
