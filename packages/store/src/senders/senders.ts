import { seal, type Keyring } from '@onecode/domain';
import { audited, changedFields, type Actor } from '../audit/audit.js';
import type { Connection, Database } from '../client/database.js';
import { newId } from '../client/ids.js';
import type { StopSource } from './coolDown.js';
import { Prisma } from '../generated/prisma/client.js';

/** A sender as operators see it, without its token. */
export interface Sender {
  id: string;
  phoneNumberId: string;
  number: string;
  /** The provider's id of the business account that the number belongs to; null until it is known. */
  businessAccountId: string | null;
  template: string;
  englishTemplateLanguage: 'en' | 'en_US';
  /** Messages a second that the provider accepts from it, 1 to 1,000. */
  throughput: number;
  consecutiveFailures: number;
  pausedAt: Date | null;
  /** The end of a cool-down; null while paused: until an operator resumes it. */
  pausedUntil: Date | null;
  pauseReason: string | null;
  /** How it is known that the sender cannot send; null while it can. */
  pauseSource: StopSource | null;
  createdAt: Date;
}

const SELECTED = {
  id: true,
  phoneNumberId: true,
  number: true,
  businessAccountId: true,
  template: true,
  englishTemplateLanguage: true,
  throughput: true,
  consecutiveFailures: true,
  pausedAt: true,
  pausedUntil: true,
  pauseReason: true,
  pauseSource: true,
  createdAt: true,
} as const;

export interface NewSender {
  phoneNumberId: string;
  /** E.164. */
  number: string;
  /** Left out: a read of the provider finds it. */
  businessAccountId?: string | undefined;
  token: string;
  template: string;
  englishTemplateLanguage: 'en' | 'en_US';
  /** Left out: the provider's usual 80 messages a second. */
  throughput?: number;
}

/** Adds a sender, with its token sealed. @returns null when another sender has the phone number id */
export async function addSender(
  database: Database,
  actor: Actor,
  keyring: Keyring,
  sender: NewSender,
): Promise<Sender | null> {
  const { token, businessAccountId = null, ...rest } = sender;
  const id = newId();
  try {
    return await audited(database, actor, async (connection, log) => {
      const made = await connection.prisma.sender.create({
        data: { id, ...rest, businessAccountId, sealedToken: new Uint8Array(seal(keyring, id, token)) },
        select: SELECTED,
      });
      const { phoneNumberId, template, englishTemplateLanguage, throughput } = made;
      const account = businessAccountId === null ? {} : { businessAccountId };
      const details = {
        after: { phoneNumberId, ...account, template, englishTemplateLanguage, throughput },
      };
      await log({ action: 'sender.add', subject: id, details });
      return made as Sender;
    });
  } catch (error) {
    if (error instanceof Prisma.PrismaClientKnownRequestError && error.code === 'P2002') return null;
    throw error;
  }
}

/** All senders, oldest first. */
export async function listSenders(database: Connection): Promise<Sender[]> {
  return (await database.prisma.sender.findMany({ orderBy: { id: 'asc' }, select: SELECTED })) as Sender[];
}

/**
 * Pauses a sender until an operator resumes it, also one that the provider's word has stopped. A sender that an operator paused already
 * keeps its time and reason.
 *
 * @returns null when there is no such sender
 */
export async function pauseSender(
  database: Database,
  actor: Actor,
  id: string,
  reason = 'paused by an operator',
): Promise<Sender | null> {
  return changeSender(database, actor, 'sender.pause', id, async (connection) => {
    await connection.sql.execute`
      update senders set paused_at = now(), paused_until = null, pause_reason = ${reason}, pause_source = 'operator'
      where id = ${id}::uuid and (paused_at is null or paused_until is not null or pause_source <> 'operator')`;
    return {};
  });
}

/** Ends a sender's pause or cool-down, its country blocks, and what faults stopped by language. @returns null when there is no such sender */
export async function resumeSender(database: Database, actor: Actor, id: string): Promise<Sender | null> {
  return changeSender(database, actor, 'sender.resume', id, async (connection) => {
    const blocks = await connection.prisma.senderCountryBlock.deleteMany({ where: { senderId: id } });
    // What the provider stopped until its template is back stays: the next call would meet it again.
    const stops = await connection.prisma.senderLanguageStop.deleteMany({
      where: { senderId: id, stoppedUntil: { not: null } },
    });
    await connection.prisma.sender.updateMany({
      where: { id },
      data: {
        pausedAt: null,
        pausedUntil: null,
        pauseReason: null,
        pauseSource: null,
        consecutiveFailures: 0,
      },
    });
    return {
      ...(blocks.count === 0 ? {} : { countryBlocksEnded: blocks.count }),
      ...(stops.count === 0 ? {} : { languageStopsEnded: stops.count }),
    };
  });
}

/** Changes a sender's messages a second. @returns null when there is no such sender */
export async function changeThroughput(
  database: Database,
  actor: Actor,
  id: string,
  throughput: number,
): Promise<Sender | null> {
  return changeSender(database, actor, 'sender.change_throughput', id, async (connection) => {
    await connection.prisma.sender.updateMany({ where: { id }, data: { throughput } });
    return {};
  });
}

/** Changes a sender under its lock, so that the audit log's `before` is what the change found. `change` returns further details. */
async function changeSender(
  database: Database,
  actor: Actor,
  action: string,
  id: string,
  change: (connection: Connection) => Promise<Record<string, unknown>>,
): Promise<Sender | null> {
  return audited(database, actor, async (connection, log) => {
    await connection.sql.execute`select from senders where id = ${id}::uuid for no key update`;
    const before = await connection.prisma.sender.findUnique({ where: { id }, select: SELECTED });
    if (before === null) return null;
    const more = await change(connection);
    const after = await connection.prisma.sender.findUniqueOrThrow({ where: { id }, select: SELECTED });
    const details = { ...changedFields(before, after), ...more };
    if (Object.keys(details).length > 0) await log({ action, subject: id, details });
    return after as Sender;
  });
}
