import { decrypt } from '@onecode/domain';
import {
  deleteOldEntries,
  dropMail,
  endEntry,
  noteMailSender,
  postponeEntry,
  queueFindingAlerts,
  queueKeyExpiryAlerts,
  queueLowBalanceAlerts,
  queueSenderBlockedAlerts,
  takeDueMails,
  type DueMail,
} from '@onecode/store/mails';
import type { WorkerContext } from '../context.js';
import { CONNECTIONS, type Mailer } from './mailer.js';
import { mailText } from './mailText.js';

export type MailContext = Pick<WorkerContext, 'database' | 'secretKey' | 'log'> & {
  /** Null if this worker sends no mail. */
  mailer: Mailer | null;
  consoleUrl: string | null;
  /** Returns whether mails may be due. If not, a run does not query for them. */
  hasMails?: () => boolean;
};

/**
 * Returns a loop run that sends the due mails. The first run stores the sender address in the database, which turns the queueing of mails
 * on, or off if this worker sends no mail.
 *
 * @param which `urgent` sends only urgent mails, so that they do not wait while a slow server accepts other mails
 */
export function createMailRun(context: MailContext, which: 'all' | 'urgent' = 'all'): () => Promise<void> {
  const { database, mailer, hasMails = () => true } = context;
  let isNoted = false;
  return async () => {
    if (!isNoted) await noteMailSender(database, mailer?.from ?? null);
    isNoted = true;
    if (mailer === null || !hasMails()) return;
    for (;;) {
      const mails = await takeDueMails(database, CONNECTIONS[which], which);
      const sent = await Promise.allSettled(mails.map((mail) => sendMail({ ...context, mailer }, mail)));
      for (const one of sent) if (one.status === 'rejected') throw one.reason;
      if (mails.length < CONNECTIONS[which]) return;
    }
  };
}

async function sendMail(
  { database, secretKey, mailer, consoleUrl, log }: MailContext & { mailer: Mailer },
  mail: DueMail,
): Promise<void> {
  const { id, kind, recipient, encryptedLink } = mail;
  if (!isStillWanted(mail)) return dropMail(database, id);
  if (mail.isOver) {
    await endEntry(database, mail, 'given_up');
    log.error({ mail_id: id, kind, tries: mail.tries }, 'mail given up');
    return;
  }
  try {
    const link = encryptedLink && decrypt(secretKey, id, encryptedLink);
    await mailer.send(id, recipient, mailText({ ...mail, link }, consoleUrl));
  } catch (error) {
    const code = codeOf(error);
    await postponeEntry(database, mail, code);
    // Only the code is logged, because the server's reply may repeat the address.
    log.warn({ mail_id: id, kind, tries: mail.tries, code }, 'mail postponed');
    return;
  }
  await endEntry(database, mail, 'sent');
}

/**
 * Returns false for a password reset of an unknown address, for a change to an address that another user has, and for an incident that no
 * longer fails.
 */
function isStillWanted({
  kind,
  isKnown,
  isCurrent,
}: Pick<DueMail, 'kind' | 'isKnown' | 'isCurrent'>): boolean {
  if (!isCurrent) return false;
  if (kind === 'password_reset') return isKnown;
  return kind !== 'address_change' || !isKnown;
}

/** Returns the codes of the SMTP client and the server, such as `EAUTH 535`. */
function codeOf(error: unknown): string {
  const { code, responseCode } = error as { code?: unknown; responseCode?: unknown };
  return (
    [code, responseCode]
      .filter((part) => typeof part === 'string' || typeof part === 'number')
      .join(' ')
      .slice(0, 100) || 'unknown'
  );
}

/** Queues mails about low balances, expiring keys, incidents and blocked senders, and deletes old outbox entries. */
export async function queueStandingAlerts({ database }: Pick<WorkerContext, 'database'>): Promise<void> {
  const steps = [
    queueLowBalanceAlerts(database),
    queueKeyExpiryAlerts(database),
    queueFindingAlerts(database),
    queueSenderBlockedAlerts(database),
    deleteOldEntries(database),
  ];
  for (const one of await Promise.allSettled(steps)) if (one.status === 'rejected') throw one.reason;
}
