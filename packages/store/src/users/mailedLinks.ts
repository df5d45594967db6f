import type { Keyring, Locale } from '@onecode/domain';
import { audited } from '../operations/audit.js';
import type { Connection, Database } from '../client/database.js';
import { newId } from '../client/ids.js';
import { Prisma } from '../generated/prisma/client.js';
import { makeLink, readLink, useLink, writePendingPasswordHash } from '../mails/links.js';
import { sendsMail, writeLinkMail, writeMails } from '../mails/writeMails.js';
import { secondsUntilTry, takeTry } from './countedTries.js';
import { LimitReached, normalizeMailbox } from './outwardLimits.js';

const HOUR_SECONDS = 3_600;
const DAY_SECONDS = 86_400;

const MAILS_PER_NETWORK = { max: 30, seconds: HOUR_SECONDS };
/** How many new addresses a person may request per day, from any network. */
const ADDRESS_CHANGES = { max: 5, seconds: DAY_SECONDS };

/** How long a link that sets a password is valid. */
const RESET_MINUTES = 60;
/** How long a link that confirms an address is valid. */
const CONFIRMATION_MINUTES = 24 * 60;

/** A request for a mail with a link. */
export interface LinkRequest {
  /** Lower case. This code never checks whether a user has the address: it does the same for every address. */
  email: string;
  /** The page's language; the chosen language of a user takes precedence. */
  language: Locale;
  /** The network of the client's address, as text. */
  network: string;
  /** The page that the link opens, without its token. */
  page: string;
  /** Text after the token. */
  suffix?: string;
}

/** `not_sent`: workers send no mail. */
type Requested = 'accepted' | 'not_sent';

/**
 * The links by kind of mail, with their lifetime, and how many of these mails an address may get. Each kind has its own count, so that
 * other mails cannot use up a person's password resets. Resets are sent only to users. Other mails are sent to any address, so their limits
 * are lower.
 */
const LINKS = {
  password_reset: { minutes: RESET_MINUTES, perAddress: { max: 5, seconds: HOUR_SECONDS } },
  sign_up: { minutes: CONFIRMATION_MINUTES, perAddress: { max: 5, seconds: DAY_SECONDS } },
  address_change: { minutes: CONFIRMATION_MINUTES, perAddress: { max: 5, seconds: DAY_SECONDS } },
} as const;

/**
 * Mails a link to an address. If the address reached its limit, no mail is sent, and the response is the same.
 *
 * @throws LimitReached if the network requested too many
 */
async function requestLink(
  database: Database,
  keyring: Keyring,
  { email, language, network, page, suffix = '' }: LinkRequest,
  kind: keyof typeof LINKS,
  value: string,
  pendingHash?: string,
): Promise<Requested> {
  if (!(await sendsMail(database))) return 'not_sent';
  await takeMail(database, `mails of ${network}`, MAILS_PER_NETWORK);
  const { minutes, perAddress } = LINKS[kind];
  if ((await takeTry(database, `${kind} mails to ${normalizeMailbox(email)}`, perAddress)) === null)
    return 'accepted';
  await database.transaction(async (connection) => {
    const token = await makeLink(connection, kind, value, minutes);
    const mail = { kind, facts: {}, recipient: email, language, link: `${page}#${token}${suffix}`, minutes };
    await writeLinkMail(connection, keyring, mail);
    if (pendingHash !== undefined) await writePendingPasswordHash(connection, email, pendingHash, minutes);
  });
  return 'accepted';
}

async function takeMail(
  database: Database,
  subject: string,
  limit: { max: number; seconds: number },
): Promise<void> {
  if ((await takeTry(database, subject, limit)) === null)
    throw new LimitReached('mail', await secondsUntilTry(database, subject));
}

/** Mails a link that sets a new password to the user with this address. */
export const requestPasswordReset = (
  database: Database,
  keyring: Keyring,
  request: LinkRequest,
): Promise<Requested> => requestLink(database, keyring, request, 'password_reset', request.email);

/** A person who signed up but has not confirmed the address. They cannot sign in yet. */
export interface PendingSignUp {
  name: string;
  email: string;
  language: Locale;
  /** The hash of their chosen password, in the format of the credentials. */
  passwordHash: string;
}

/**
 * Mails a link that confirms the address of a sign-up. If a user already has the address, the response is the same, and only the mail
 * mentions it.
 */
export const requestSignUp = (
  database: Database,
  keyring: Keyring,
  request: LinkRequest,
  pending: PendingSignUp,
): Promise<Requested> =>
  requestLink(database, keyring, request, 'sign_up', JSON.stringify(pending), pending.passwordHash);

/** Returns the sign-up that a link confirms; null if it was used or has expired. */
export async function findSignUp(database: Connection, token: string): Promise<PendingSignUp | null> {
  const value = await readLink(database, 'sign_up', token);
  return value === null ? null : (JSON.parse(value) as PendingSignUp);
}

/** Creates the user of a sign-up, after its link was opened by a person who knows its password. @returns false if no user was created */
export async function confirmSignUp(database: Database, token: string): Promise<boolean> {
  const pending = await findSignUp(database, token);
  if (pending === null) return false;
  const { name, email, language, passwordHash } = pending;
  const id = newId();
  return audited(database, { kind: 'user', id, name: email }, async (connection, log) => {
    if ((await useLink(connection, 'sign_up', token)) === null) return false;
    const { count } = await connection.prisma.user.createMany({
      data: { id, name, email, language, emailVerified: true },
      skipDuplicates: true,
    });
    if (count === 0) return false;
    await connection.prisma.userCredential.create({
      data: { id: newId(), userId: id, accountId: id, providerId: 'credential', password: passwordHash },
    });
    await log({ action: 'user.create', subject: id, details: { after: { name, email, language } } });
    return true;
  });
}

/**
 * Mails a link to the new address of a signed-in person. Opening the link confirms the change.
 *
 * @throws LimitReached if the person or the network requested too many
 */
export async function requestAddressChange(
  database: Database,
  keyring: Keyring,
  request: LinkRequest,
  userId: string,
): Promise<Requested> {
  await takeMail(database, `address changes of ${userId}`, ADDRESS_CHANGES);
  const value = JSON.stringify({ userId, email: request.email });
  return requestLink(database, keyring, request, 'address_change', value);
}

/**
 * Changes a user's address to the one that their link confirms, and notifies the old address. Another user cannot use the link: otherwise,
 * the owner of the address could open the link of a stranger's change, and the stranger would get a confirmed address with their own
 * password and passkeys.
 *
 * @returns false if nothing changed
 */
export async function confirmAddressChange(
  database: Database,
  user: { id: string; email: string },
  token: string,
): Promise<boolean> {
  try {
    return await changeAddress(database, user, token);
  } catch (error) {
    // Another user confirmed the same address at the same time.
    if (error instanceof Prisma.PrismaClientKnownRequestError && error.code === 'P2002') return false;
    throw error;
  }
}

function changeAddress(
  database: Database,
  { id, email: name }: { id: string; email: string },
  token: string,
): Promise<boolean> {
  return audited(database, { kind: 'user', id, name }, async (connection, log) => {
    const value = await readLink(connection, 'address_change', token);
    if (value === null) return false;
    const { userId, email } = JSON.parse(value) as { userId: string; email: string };
    if (userId !== id || (await useLink(connection, 'address_change', token)) === null) return false;
    const [taken] = await connection.sql.query<{ id: string }[]>`
      select id from users where email = ${email}`;
    if (taken !== undefined) return false;
    const before = await connection.prisma.user.findUniqueOrThrow({ where: { id } });
    const event = `address_changed ${newId()}`;
    // Written before the change, because the recipient is the old address.
    await writeMails(connection, { kind: 'address_changed', event, facts: { to: email } }, { userId: id });
    await connection.prisma.user.update({ where: { id }, data: { email, emailVerified: true } });
    const details = { before: { email: before.email }, after: { email } };
    await log({ action: 'user.address', subject: id, details });
    return true;
  });
}
