import { encrypt, newEventSecret, reencrypt, type Keyring } from '@onecode/domain';
import { audited, type Actor } from '../operations/audit.js';
import type { Connection, Database } from '../client/database.js';
import { newId } from '../client/ids.js';
import { writeEvent } from './writeMails.js';
import { takeAction, type Requester } from '../users/outwardLimits.js';

const TEST_EVENT = { type: 'webhook.test', data: {} } as const;

/** An account's webhook for its events, without its secret. */
export interface EventWebhook {
  url: string;
  /** When events were first sent to this address. */
  setAt: Date;
}

export async function findEventWebhook(
  { prisma }: Connection,
  accountId: string,
): Promise<EventWebhook | null> {
  return prisma.eventWebhook.findUnique({ where: { accountId }, select: { url: true, setAt: true } });
}

/** Returns the host of an address for the audit log; its path and query may contain secrets. */
const parseHost = (url: string | undefined): string | null => (url === undefined ? null : new URL(url).host);

const encrypted = (keyring: Keyring, accountId: string, secret: string): Uint8Array<ArrayBuffer> =>
  new Uint8Array(encrypt(keyring, accountId, secret));

/**
 * Sets the address for an account's events. @returns the secret of a new webhook, which is not shown again, or null if only the address
 * changed; null if the account does not exist
 */
export function setEventWebhook(
  database: Database,
  actor: Actor,
  keyring: Keyring,
  accountId: string,
  url: string,
): Promise<{ secret: string | null } | null> {
  return audited(database, actor, async (connection, log) => {
    const { sql, prisma } = connection;
    // The lock makes a concurrent second admin see the first one's webhook.
    await sql.execute`select from accounts where id = ${accountId}::uuid for no key update`;
    if ((await prisma.account.count({ where: { id: accountId } })) === 0) return null;
    const before = await findEventWebhook(connection, accountId);
    if (before?.url === url) return { secret: null };
    const secret = newEventSecret();
    if (before === null)
      await prisma.eventWebhook.create({
        data: { accountId, url, encryptedSecret: encrypted(keyring, accountId, secret) },
      });
    else
      await sql.execute`
        update event_webhooks set url = ${url}, set_at = clock_timestamp() where account_id = ${accountId}::uuid`;
    const details = { before: { host: parseHost(before?.url) }, after: { host: parseHost(url) } };
    await log({ action: 'webhook.set', accountId, subject: accountId, details });
    return { secret: before === null ? secret : null };
  });
}

/** Replaces the secret; the next delivery attempt is signed with the new one. @returns null without a webhook */
export function rotateEventSecret(
  database: Database,
  actor: Actor,
  keyring: Keyring,
  accountId: string,
): Promise<string | null> {
  return audited(database, actor, async ({ prisma }, log) => {
    const secret = newEventSecret();
    const { count } = await prisma.eventWebhook.updateMany({
      where: { accountId },
      data: { encryptedSecret: encrypted(keyring, accountId, secret) },
    });
    if (count === 0) return null;
    await log({ action: 'webhook.rotate_secret', accountId, subject: accountId });
    return secret;
  });
}

/** Removes the webhook with its events. @returns false without a webhook */
export function removeEventWebhook(database: Database, actor: Actor, accountId: string): Promise<boolean> {
  return audited(database, actor, async ({ prisma }, log) => {
    const [removed] = await prisma.eventWebhook.findMany({ where: { accountId }, select: { url: true } });
    const { count } = await prisma.eventWebhook.deleteMany({ where: { accountId } });
    if (count === 0) return false;
    const details = { before: { host: parseHost(removed?.url) } };
    await log({ action: 'webhook.remove', accountId, subject: accountId, details });
    return true;
  });
}

/** Encrypts the secrets with the keyring's current key, like `reencryptTokens`. Secrets that cannot be decrypted stay unchanged. */
export async function reencryptEventSecrets({ prisma, sql }: Connection, keyring: Keyring): Promise<void> {
  await sql.execute`select from event_webhooks order by account_id for no key update`;
  const webhooks = await prisma.eventWebhook.findMany({ select: { accountId: true, encryptedSecret: true } });
  for (const { accountId, encryptedSecret: old } of webhooks) {
    const encryptedSecret = reencrypt(keyring, accountId, old);
    if (encryptedSecret !== null)
      await prisma.eventWebhook.update({ where: { accountId }, data: { encryptedSecret } });
  }
}

/** An event of the last days, and the state of its delivery. */
export interface EventDelivery {
  id: string;
  type: string;
  createdAt: Date;
  tries: number;
  /** `waiting` includes events that a worker is posting now. */
  state: 'waiting' | 'sent' | 'given_up';
  /** The status of the last response; null without one. */
  answer: number | null;
  /** Why the last attempt got no response, as a code. */
  error: string | null;
  /** When a waiting event is tried next. */
  dueAt: Date | null;
  endedAt: Date | null;
}

const DELIVERIES_MAX = 100;

/** Returns the latest events of an account's webhook, newest first. */
export async function listEventDeliveries({ sql }: Connection, accountId: string): Promise<EventDelivery[]> {
  return sql.query<EventDelivery[]>`
    select id, kind as type, created_at as "createdAt", tries, coalesce(outcome, 'waiting') as state, answer, error, due_at as "dueAt",
      ended_at as "endedAt"
    from outbox where account_id = ${accountId}::uuid order by created_at desc, id limit ${DELIVERIES_MAX}::integer`;
}

/** Counts an event that a person posts to the account's webhook by hand. @throws LimitReached */
export async function takeEvent(database: Database, by: Requester): Promise<void> {
  await database.transaction(async (connection) => {
    const webhook = await findEventWebhook(connection, by.accountId);
    if (webhook !== null) await takeAction(connection, 'event', by, new URL(webhook.url).hostname);
  });
}

/**
 * Makes an event due again, with the same id, for one more day, in which its retries slow down like those of a new event.
 *
 * @returns false if it does not exist
 */
export async function repeatEvent({ sql }: Connection, accountId: string, id: string): Promise<boolean> {
  const repeated = await sql.execute`
    update outbox set outcome = null, ended_at = null, tries = 0, due_at = clock_timestamp(), gives_up_at = clock_timestamp() + interval '1 day'
    where id = ${id}::uuid and account_id = ${accountId}::uuid`;
  return repeated === 1;
}

/** Writes a test event. @returns false without a webhook, or if a test event is already waiting */
export async function testEventWebhook(database: Database, accountId: string): Promise<boolean> {
  return database.transaction(async (connection) => {
    await connection.sql
      .execute`select from event_webhooks where account_id = ${accountId}::uuid for no key update`;
    const [waits] = await connection.sql.query<object[]>`
      select 1 from outbox where account_id = ${accountId}::uuid and kind = ${TEST_EVENT.type} and outcome is null limit 1`;
    if (waits !== undefined) return false;
    return (await writeEvent(connection, accountId, TEST_EVENT, `webhook_test ${newId()}`)) === 1;
  });
}
