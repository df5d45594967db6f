import { seal, type Keyring } from '@onecode/domain';
import { Prisma } from './generated/prisma/client.js';
import type { Database } from './database.js';
import { newId } from './identifiers.js';

/** A sender as operators see it: never with its token. */
export interface Sender {
  id: string;
  phoneNumberId: string;
  number: string;
  template: string;
  english: 'en' | 'en_US';
  /** Messages a second that the provider takes from it, 1 to 1,000. */
  throughput: number;
  faults: number;
  pausedAt: Date | null;
  /** Null while paused: until an operator resumes it. */
  pausedUntil: Date | null;
  pauseReason: string | null;
  createdAt: Date;
}

const SELECTED = {
  id: true,
  phoneNumberId: true,
  number: true,
  template: true,
  english: true,
  throughput: true,
  faults: true,
  pausedAt: true,
  pausedUntil: true,
  pauseReason: true,
  createdAt: true,
} as const;

export interface NewSender {
  phoneNumberId: string;
  /** E.164. */
  number: string;
  token: string;
  template: string;
  english: 'en' | 'en_US';
  /** The provider's usual 80 messages a second when left out. */
  throughput?: number;
}

/** Adds a sender, its token sealed. @returns null when that phone number id is there already */
export async function addSender(
  database: Database,
  ring: Keyring,
  sender: NewSender,
): Promise<Sender | null> {
  const { token, ...rest } = sender;
  const id = newId();
  try {
    const made = await database.sender.create({
      data: { id, ...rest, tokenBox: new Uint8Array(seal(ring, id, token)) },
      select: SELECTED,
    });
    return made as Sender;
  } catch (error) {
    if (error instanceof Prisma.PrismaClientKnownRequestError && error.code === 'P2002') return null;
    throw error;
  }
}

/** All senders, oldest first. */
export async function listSenders(database: Database): Promise<Sender[]> {
  return (await database.sender.findMany({ orderBy: { id: 'asc' }, select: SELECTED })) as Sender[];
}

/** Pauses a sender until an operator resumes it. @returns null when there is no such sender */
export async function pauseSender(database: Database, id: string): Promise<Sender | null> {
  await database.$executeRaw`
    update senders set paused_at = now(), paused_until = null, pause_reason = 'paused by an operator'
    where id = ${id}::uuid`;
  return (await database.sender.findUnique({ where: { id }, select: SELECTED })) as Sender | null;
}

/** Ends a sender's pause and its country blocks. @returns null when there is no such sender */
export async function resumeSender(database: Database, id: string): Promise<Sender | null> {
  const [, [sender]] = await database.$transaction([
    database.senderCountryBlock.deleteMany({ where: { senderId: id } }),
    database.sender.updateManyAndReturn({
      where: { id },
      data: { pausedAt: null, pausedUntil: null, pauseReason: null, faults: 0 },
      select: SELECTED,
    }),
  ]);
  return (sender as Sender | undefined) ?? null;
}

/** Changes how many messages a second a sender may send. @returns null when there is no such sender */
export async function changeThroughput(
  database: Database,
  id: string,
  throughput: number,
): Promise<Sender | null> {
  const [sender] = await database.sender.updateManyAndReturn({
    where: { id },
    data: { throughput },
    select: SELECTED,
  });
  return (sender as Sender | undefined) ?? null;
}

/** What a call to the provider needs of a sender. */
export interface SenderDetails {
  id: string;
  phoneNumberId: string;
  /** E.164. */
  number: string;
  tokenBox: Uint8Array;
  template: string;
  /** The language under which the English template was approved. */
  english: 'en' | 'en_US';
  faults: number;
}

/** The details of all senders, paused ones too: whether one may send is decided when a slot is taken. */
export async function listSenderDetails(database: Database): Promise<SenderDetails[]> {
  const rows = await database.sender.findMany({
    select: {
      id: true,
      phoneNumberId: true,
      number: true,
      tokenBox: true,
      template: true,
      english: true,
      faults: true,
    },
  });
  return rows as SenderDetails[];
}

/**
 * Rests a sender after a fault of its own. Faults that come in together while it rests already count once, and an operator's
 * pause stays.
 *
 * @returns whether this call began the pause
 */
export async function restSender(
  database: Database,
  id: string,
  rest: { faultsBefore: number; seconds: number; reason: string },
): Promise<boolean> {
  const written = await database.$executeRaw`
    update senders set faults = faults + 1, paused_at = clock_timestamp(), pause_reason = ${rest.reason},
      paused_until = clock_timestamp() + make_interval(secs => ${rest.seconds})
    where id = ${id}::uuid and faults = ${rest.faultsBefore}::integer
      and (paused_at is null or paused_until <= clock_timestamp())`;
  return written === 1;
}

/** Forgets a sender's faults, and its pause if that is over: it has just sent. */
export async function recoverSender(database: Database, id: string): Promise<void> {
  await database.$executeRaw`
    update senders set faults = 0, paused_at = null, paused_until = null, pause_reason = null
    where id = ${id}::uuid and faults > 0 and (paused_at is null or paused_until <= clock_timestamp())`;
}

/** Keeps a sender from messaging a country for a time. @returns whether the block is new */
export async function blockCountry(
  database: Database,
  block: { senderId: string; country: string; seconds: number; errorCode: number | null },
): Promise<boolean> {
  const written = await database.$executeRaw`
    insert into sender_country_blocks as b (sender_id, country, blocked_until, error_code)
    values (${block.senderId}::uuid, ${block.country}, clock_timestamp() + make_interval(secs => ${block.seconds}), ${block.errorCode}::integer)
    on conflict (sender_id, country) do update set blocked_until = excluded.blocked_until, error_code = excluded.error_code
    where b.blocked_until <= clock_timestamp()`;
  return written === 1;
}
