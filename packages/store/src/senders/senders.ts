import { encrypt, isNew, NOT_ACTIVATED, tryDecrypt, type Block, type Keyring } from '@onecode/domain';
import { audited, changeRow, type Actor } from '../operations/audit.js';
import type { Connection, Database } from '../client/database.js';
import { newId } from '../client/ids.js';
import { Prisma } from '../generated/prisma/client.js';
import { endBlocks, listBlocks } from './blocks.js';
import { requestReading, syncProviderBlocks } from './providerFacts.js';
import { encryptSecrets, type SenderSecrets } from './secrets.js';

const SELECTED = {
  id: true,
  accountId: true,
  applicationIds: true,
  phoneNumberId: true,
  number: true,
  businessAccountId: true,
  portfolioId: true,
  template: true,
  englishTemplateLanguage: true,
  throughput: true,
  createdAt: true,
} as const;

type SenderRow = Prisma.SenderGetPayload<{ select: typeof SELECTED }>;

/**
 * A sender as operators see it, without its token. `blocks`: its own current blocks, and those of its business account and portfolio.
 */
export type Sender = SenderRow & { englishTemplateLanguage: 'en' | 'en_US'; blocks: Block[] };

/** The owner of a sender: shared by all accounts, one account, or some of an account's applications (an empty list means all of them). */
export type SenderOwner = 'shared' | { accountId: string; applicationIds: readonly string[] };

/** The sender was not added or assigned: the account does not exist, or it has no live application with this id. */
export class AssignmentRefused extends Error {
  constructor(readonly why: 'unknown_account' | 'unknown_application') {
    super(`the sender was not assigned: ${why}`);
  }
}

type Editable = 'number' | 'template' | 'englishTemplateLanguage';

export interface NewSender extends Pick<Sender, 'phoneNumberId' | Editable> {
  /** Default: all accounts share it. */
  owner?: SenderOwner;
  /** Default: a read of the provider finds it. */
  businessAccountId?: string | undefined;
  token: string;
  /** Default: 80 messages per second, the provider's usual limit. */
  throughput?: number;
  /** Whether it is paused until an operator resumes it; otherwise it sends immediately. */
  paused?: boolean;
}

/**
 * Adds a sender, with its token encrypted.
 *
 * @returns `taken` if another sender has the phone number id
 * @throws AssignmentRefused
 */
export async function addSender(
  database: Database,
  actor: Actor,
  keyring: Keyring,
  sender: NewSender,
): Promise<Sender | 'taken'> {
  const { token, owner = 'shared', businessAccountId = null, paused = false, ...rest } = sender;
  const id = newId();
  return audited(database, actor, async (connection, log) => {
    const { accountId, applicationIds } = await checkOwner(connection, owner);
    const made = await connection.prisma.sender.create({
      data: {
        id,
        ...rest,
        accountId,
        ...(applicationIds && { applicationIds }),
        businessAccountId,
        encryptedToken: new Uint8Array(encrypt(keyring, id, token)),
      },
      select: SELECTED,
    });
    const { phoneNumberId, template, englishTemplateLanguage, throughput } = made;
    const account = businessAccountId === null ? {} : { businessAccountId };
    const owned = accountId === null ? {} : { accountId, applicationIds: made.applicationIds };
    const details = {
      after: { phoneNumberId, ...account, ...owned, template, englishTemplateLanguage, throughput },
    };
    await log({ action: 'sender.add', accountId, subject: id, details });
    if (paused) await writePause(connection, id, NOT_ACTIVATED);
    return (await withBlocks(connection, [made]))[0]!;
  }).catch((error: unknown) => {
    if (error instanceof Prisma.PrismaClientKnownRequestError && error.code === 'P2002') return 'taken';
    throw error;
  });
}

/**
 * A sender with its account's name (null if shared), whether its own Meta app reports about it, and whether its number is registered: it was
 * activated, or the setup has registered the number. Meta does not report this, and shows every number as connected.
 */
export type ListedSender = Sender & { accountName: string | null; hasOwnApp: boolean; isRegistered: boolean };

/** Returns all senders that are not removed, oldest first. @param accountId only this account's own senders */
export async function listSenders(database: Connection, accountId?: string): Promise<ListedSender[]> {
  const rows = await database.prisma.sender.findMany({
    where: { removedAt: null, ...(accountId !== undefined && { accountId }) },
    orderBy: { id: 'asc' },
    select: {
      ...SELECTED,
      isRegistered: true,
      encryptedAppSecret: true,
      account: { select: { name: true } },
    },
  });
  const senders = await withBlocks(database, rows);
  return senders.map(({ account, encryptedAppSecret, isRegistered, ...sender }) => ({
    ...sender,
    accountName: account?.name ?? null,
    hasOwnApp: encryptedAppSecret !== null,
    isRegistered: isRegistered || !isNew(sender.blocks),
  }));
}

/** A sender with its token, for calls to the provider. The token is null if it cannot be decrypted, or the sender is removed. */
export type SenderDetails = Sender & { token: string | null; removedAt: Date | null };

/**
 * Returns all senders, including blocked ones, because `take_permits` decides which may send, and removed ones, because receipts still
 * arrive.
 */
export async function listSenderDetails(database: Connection, keyring: Keyring): Promise<SenderDetails[]> {
  const rows = await database.prisma.sender.findMany({
    select: { ...SELECTED, encryptedToken: true, removedAt: true },
  });
  return withBlocks(
    database,
    rows.map(({ encryptedToken, ...row }) => ({
      ...row,
      token: tryDecrypt(keyring, row.id, encryptedToken),
    })),
  );
}

async function withBlocks<Row extends SenderRow>(
  database: Connection,
  rows: readonly Row[],
): Promise<(Row & Sender)[]> {
  const blocks = await listBlocks(database);
  return rows.map((row) => ({
    ...row,
    englishTemplateLanguage: row.englishTemplateLanguage as Sender['englishTemplateLanguage'],
    blocks: blocks.filter(({ senderId }) => senderId === row.id),
  }));
}

/** A sender by its id; if `accountId` is given, only in that account. Changes of a sender that does not exist return null. */
export type SenderKey = string | { id: string; accountId: string };

/** Pauses a sender until an operator resumes it, or its setup activates it. A paused sender keeps its time and its reason. */
export async function pauseSender(
  database: Database,
  actor: Actor,
  key: SenderKey,
  reason = 'paused by an operator',
): Promise<Sender | null> {
  return changeSender(database, actor, 'sender.pause', key, async (connection, { id }) =>
    (await writePause(connection, id, reason)) ? { reason } : {},
  );
}

/** @returns false if the sender was already paused */
async function writePause({ sql }: Connection, id: string, reason: string): Promise<boolean> {
  const written = await sql.execute`
    insert into sender_blocks (cause, scope, subject, source, reason, since)
    values ('operator', 'sender', ${id}, 'operator', ${reason}, clock_timestamp())
    on conflict do nothing`;
  return written === 1;
}

/**
 * Ends all blocks of a sender, its business account and its portfolio, except the provider's blocks of a language: its next message would
 * fail again.
 */
export async function resumeSender(
  database: Database,
  actor: Actor,
  key: SenderKey,
  reason?: string,
): Promise<Sender | null> {
  return changeSender(database, actor, 'sender.resume', key, async (connection, { id }) => {
    const ended = await endBlocks(connection, id, Prisma.sql`(b.cause <> 'provider' or b.only_for = '')`);
    return ended.length === 0 ? {} : { ...(reason && { reason }), ended };
  });
}

/**
 * Assigns a sender to an owner, starting with its next permit; sends that already have a permit use it within half a second. Removes the
 * app secret of a former owner. @throws AssignmentRefused
 */
export async function assignSender(
  database: Database,
  actor: Actor,
  id: string,
  owner: SenderOwner,
): Promise<Sender | null> {
  return changeSender(database, actor, 'sender.assign', id, async (connection) => {
    const { accountId, applicationIds } = await checkOwner(connection, owner);
    await connection.sql.execute`
      update senders set account_id = ${accountId}::uuid, application_ids = ${applicationIds}::uuid[],
        encrypted_app_secret = case when account_id is not distinct from ${accountId}::uuid then encrypted_app_secret end
      where id = ${id}::uuid`;
    return {};
  });
}

/** Returns the columns of an owner. @throws AssignmentRefused */
async function checkOwner(
  { sql }: Connection,
  owner: SenderOwner,
): Promise<{ accountId: string | null; applicationIds: string[] | null }> {
  if (owner === 'shared') return { accountId: null, applicationIds: null };
  const wanted = [...new Set(owner.applicationIds)].toSorted();
  const rows = await sql.query<{ id: string | null }[]>`
    select p.id from accounts a
    left join applications p on p.account_id = a.id and p.mode = 'live' and p.id = any (${wanted}::uuid[])
    where a.id = ${owner.accountId}::uuid`;
  if (rows.length === 0) throw new AssignmentRefused('unknown_account');
  if (rows.filter(({ id }) => id !== null).length < wanted.length)
    throw new AssignmentRefused('unknown_application');
  return { accountId: owner.accountId, applicationIds: wanted.length === 0 ? null : wanted };
}

/** The fields of a sender that can be changed. Another phone number id is another sender. */
export type SenderChange = Partial<Pick<Sender, Editable | 'throughput'>> & {
  businessAccountId?: string;
  secrets?: SenderSecrets;
};

/** Changes a sender, ends its own failures, and requests a read. The sender gets no permit for two seconds. */
export async function editSender(
  database: Database,
  actor: Actor,
  key: SenderKey,
  { secrets, ...wanted }: SenderChange,
): Promise<Sender | null> {
  return changeSender(database, actor, 'sender.edit', key, async (connection, { id }) => {
    // Facts about the former token do not apply to the new one.
    if (secrets?.token !== undefined)
      await connection.sql.execute`update provider_facts set facts = facts - 'token' where subject = ${id}`;
    const data = { ...wanted, ...(secrets && encryptSecrets(id, secrets)) };
    await connection.prisma.sender.update({ where: { id }, data });
    await endBlocks(connection, id, Prisma.sql`b.scope = 'sender' and b.cause in ('fault', 'limit')`);
    const now = (await requestReading(connection, id)) as Date;
    await syncProviderBlocks(connection, id, now);
    // Workers cache the senders for a second after a read. A message with the former token would block the sender again. One that already has
    // its permit still can, for a minute.
    await connection.sql.execute`
      insert into sender_permits as p (sender_id, free_at) values (${id}::uuid, clock_timestamp() + interval '2 seconds')
      on conflict (sender_id) do update set free_at = greatest(p.free_at, excluded.free_at)`;
    return {
      ...(secrets?.token !== undefined && { tokenReplaced: true }),
      ...(secrets?.appSecret !== undefined && { hasOwnApp: secrets.appSecret !== null }),
    };
  });
}

/** Logs the steps of a setup, or a test code, and requests a read. If a step registered the number, stores this. */
export async function noteSenderSetup(
  database: Database,
  actor: Actor,
  key: SenderKey,
  action: 'sender.setup' | 'sender.test',
  details: { stepsDone: string[] } | { state: string },
): Promise<Sender | null> {
  return changeSender(database, actor, action, key, async (connection, { id }) => {
    if ('stepsDone' in details && details.stepsDone.includes('registration'))
      await connection.prisma.sender.update({ where: { id }, data: { isRegistered: true } });
    await requestReading(connection, id);
    return details;
  });
}

/** Removes a sender: it stops sending, and its token and app secret are erased. Its past sends keep its number. */
export async function removeSender(database: Database, actor: Actor, key: SenderKey): Promise<Sender | null> {
  return changeSender(database, actor, 'sender.remove', key, async (connection, sender) => {
    const { id, phoneNumberId, number } = sender;
    await connection.sql.execute`
      update senders set removed_at = clock_timestamp(), encrypted_token = '', encrypted_app_secret = null where id = ${id}::uuid`;
    await endBlocks(connection, id, Prisma.sql`b.scope = 'sender'`);
    return { phoneNumberId, number };
  });
}

/** Changes a sender. `change` returns additional details for the audit log. */
async function changeSender(
  database: Database,
  actor: Actor,
  action: string,
  key: SenderKey,
  change: (connection: Connection, before: SenderRow) => Promise<object>,
): Promise<Sender | null> {
  const where = { ...(typeof key === 'string' ? { id: key } : key), removedAt: null };
  const read = ({ prisma }: Connection) => prisma.sender.findUnique({ where, select: SELECTED });
  const row = { action, table: 'senders', id: where.id, read } as const;
  const changed = await changeRow(database, actor, row, change);
  return changed && (await withBlocks(database, [changed]))[0]!;
}
