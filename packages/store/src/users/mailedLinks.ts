import type { Keyring, Locale } from '@onecode/domain';
import { audited, type Actor } from '../audit/audit.js';
import type { Connection, Database } from '../client/database.js';
import { newId } from '../client/ids.js';
import { Prisma } from '../generated/prisma/client.js';
import { makeLink, readLink, useLink } from '../mails/links.js';
import { sendsMail, writeLinkMail, writeMails } from '../mails/writeMails.js';
import { takeTry } from './countedTries.js';

/** Mails that anybody may have sent to an address in an hour: more would be a way to bother its owner. */
const MAILS_PER_ADDRESS = { max: 5, seconds: 3_600 };
const MAILS_PER_NETWORK = { max: 30, seconds: 3_600 };

/** How long a link that sets a password is valid. */
export const RESET_MINUTES = 60;
/** How long a link that confirms an address is valid. */
export const CONFIRMATION_MINUTES = 24 * 60;

/** Who asks for a mail with a link, and where the link leads. */
export interface LinkRequest {
  /** Lower case. It is not looked at who has it: what happens here is the same for every address. */
  email: string;
  /** Of the page; that of a person who has chosen one counts more. */
  language: Locale;
  /** The network of the client's address, as one text. */
  network: string;
  /** The page that the link opens, without its token. */
  page: string;
  /** What follows the token. */
  suffix?: string;
}

/** `not_sent`: workers send no mail. */
type Requested = 'accepted' | 'too_many' | 'not_sent';

/** What a link is for, by the kind of its mail, and how long it is valid. */
const LINKS = {
  password_reset: { purpose: 'password-reset', minutes: RESET_MINUTES },
  sign_up: { purpose: 'sign-up', minutes: CONFIRMATION_MINUTES },
  address_change: { purpose: 'address-change', minutes: CONFIRMATION_MINUTES },
} as const;

/** Has a link mailed to an address. An address that had too many is sent none, and the answer is the same. */
async function requestLink(
  database: Database,
  keyring: Keyring,
  { email, language, network, page, suffix = '' }: LinkRequest,
  kind: keyof typeof LINKS,
  value: string,
): Promise<Requested> {
  if (!(await sendsMail(database))) return 'not_sent';
  if ((await takeTry(database, `mails of ${network}`, MAILS_PER_NETWORK)) === null) return 'too_many';
  if ((await takeTry(database, `mails to ${email}`, MAILS_PER_ADDRESS)) === null) return 'accepted';
  const { purpose, minutes } = LINKS[kind];
  await database.transaction(async (connection) => {
    const token = await makeLink(connection, purpose, value, minutes);
    const mail = { kind, facts: {}, recipient: email, language, link: `${page}#${token}${suffix}`, minutes };
    await writeLinkMail(connection, keyring, mail);
  });
  return 'accepted';
}

/** Has a link mailed that sets a new password, to whoever has this address. */
export const requestPasswordReset = (
  database: Database,
  keyring: Keyring,
  request: LinkRequest,
): Promise<Requested> => requestLink(database, keyring, request, 'password_reset', request.email);

/** Somebody who signed up and whose address is not confirmed yet: nobody signs in as them. */
export interface PendingSignUp {
  name: string;
  email: string;
  language: Locale;
  /** Of the password that they chose, as the credentials have it. */
  passwordHash: string;
}

/** Has a link mailed that confirms the address of a sign-up. Whoever has signed up with it is told so by mail, and by nothing else. */
export const requestSignUp = (
  database: Database,
  keyring: Keyring,
  request: LinkRequest,
  pending: PendingSignUp,
): Promise<Requested> => requestLink(database, keyring, request, 'sign_up', JSON.stringify(pending));

/** The sign-up that a link confirms; null when it was used or has expired. */
export async function findSignUp(database: Connection, token: string): Promise<PendingSignUp | null> {
  const value = await readLink(database, 'sign-up', token);
  return value === null ? null : (JSON.parse(value) as PendingSignUp);
}

/** Creates the person of a sign-up whose link was opened by somebody who knows its password. @returns false where nobody was created */
export async function confirmSignUp(database: Database, token: string): Promise<boolean> {
  const pending = await findSignUp(database, token);
  if (pending === null) return false;
  const { name, email, language, passwordHash } = pending;
  const id = newId();
  return audited(database, { kind: 'user', id, name }, async (connection, log) => {
    if ((await useLink(connection, 'sign-up', token)) === null) return false;
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

/** Has a link mailed to the new address of a signed-in person, which makes it theirs. */
export const requestAddressChange = (
  database: Database,
  keyring: Keyring,
  request: LinkRequest,
  userId: string,
): Promise<Requested> =>
  requestLink(database, keyring, request, 'address_change', JSON.stringify({ userId, email: request.email }));

/** Gives a person the address that a link confirms. The old one is told. @returns false where nothing was changed */
export async function confirmAddressChange(database: Database, token: string): Promise<boolean> {
  try {
    return await changeAddress(database, token);
  } catch (error) {
    // Somebody else has confirmed the same address at this moment.
    if (error instanceof Prisma.PrismaClientKnownRequestError && error.code === 'P2002') return false;
    throw error;
  }
}

async function changeAddress(database: Database, token: string): Promise<boolean> {
  const value = await readLink(database, 'address-change', token);
  if (value === null) return false;
  const { userId, email } = JSON.parse(value) as { userId: string; email: string };
  const user = await database.prisma.user.findUnique({ where: { id: userId }, select: { name: true } });
  if (user === null) return false;
  const actor: Actor = { kind: 'user', id: userId, name: user.name };
  return audited(database, actor, async (connection, log) => {
    if ((await useLink(connection, 'address-change', token)) === null) return false;
    const [taken] = await connection.sql.query<{ id: string }[]>`
      select id from users where email = ${email}`;
    if (taken !== undefined) return false;
    const before = await connection.prisma.user.findUniqueOrThrow({ where: { id: userId } });
    const event = `address_changed ${newId()}`;
    // To the old address, which nobody has from here on.
    await writeMails(connection, { kind: 'address_changed', event, facts: { to: email } }, { userId });
    await connection.prisma.user.update({ where: { id: userId }, data: { email, emailVerified: true } });
    const details = { before: { email: before.email }, after: { email } };
    await log({ action: 'user.address', subject: userId, details });
    return true;
  });
}
