import { apiKeyHint, generateApiKey, hashApiKey, type Mode } from '@onecode/domain';
import type { Database } from './database.js';
import { newId } from './identifiers.js';

/** Who a request with a key speaks for. */
export interface Caller {
  applicationId: string;
  accountId: string;
  mode: Mode;
}

export interface ApiKey {
  id: string;
  applicationId: string;
  mode: Mode;
  /** What may be shown of the key. */
  hint: string;
  createdAt: Date;
  revokedAt: Date | null;
}

/** The caller behind a key's SHA-256, or null when no such key exists or it was revoked. */
export async function findCaller(database: Database, hash: Uint8Array): Promise<Caller | null> {
  const [row] = await database.$queryRaw<{ application_id: string; account_id: string; mode: Mode }[]>`
    select a.id as application_id, a.account_id, a.mode
    from api_keys k join applications a on a.id = k.application_id
    where k.hash = ${hash}::bytea and k.revoked_at is null`;
  return row === undefined
    ? null
    : { applicationId: row.application_id, accountId: row.account_id, mode: row.mode };
}

/** Makes a key. The key itself is in the answer and nowhere else. @returns null when there is no such application */
export async function createApiKey(
  database: Database,
  applicationId: string,
): Promise<{ id: string; key: string; applicationId: string; mode: Mode } | null> {
  const application = await database.application.findUnique({
    where: { id: applicationId },
    select: { mode: true },
  });
  if (application === null) return null;
  const mode = application.mode as Mode;
  const key = generateApiKey(mode);
  const id = newId();
  await database.apiKey.create({
    data: { id, applicationId, hash: new Uint8Array(hashApiKey(key)), hint: apiKeyHint(key) },
  });
  return { id, key, applicationId, mode };
}

/** Revokes a key; a key that is revoked already keeps its time. @returns null when there is no such key */
export async function revokeApiKey(database: Database, id: string): Promise<ApiKey | null> {
  await database.$executeRaw`update api_keys set revoked_at = now() where id = ${id}::uuid and revoked_at is null`;
  const [key] = await listKeys(database, { id });
  return key ?? null;
}

/** The keys of an application, oldest first; null when there is no such application. */
export async function listApiKeys(database: Database, applicationId: string): Promise<ApiKey[] | null> {
  const application = await database.application.findUnique({
    where: { id: applicationId },
    select: { id: true },
  });
  return application === null ? null : listKeys(database, { applicationId });
}

async function listKeys(
  database: Database,
  where: { id: string } | { applicationId: string },
): Promise<ApiKey[]> {
  const keys = await database.apiKey.findMany({
    where,
    orderBy: { id: 'asc' },
    include: { application: { select: { mode: true } } },
  });
  return keys.map((key) => ({
    id: key.id,
    applicationId: key.applicationId,
    mode: key.application.mode as Mode,
    hint: key.hint,
    createdAt: key.createdAt,
    revokedAt: key.revokedAt,
  }));
}
