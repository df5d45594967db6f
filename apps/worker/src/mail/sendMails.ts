import { decrypt } from '@onecode/domain';
import {
  deleteOldEntries,
  dropMail,
  endEntry,
  noteMailSender,
  postponeEntry,
  queueFindingAlerts,
  queueLowBalanceAlerts,
  takeDueMails,
  type DueMail,
} from '@onecode/store/mails';
import { waitUnlessAborted, type WorkerContext } from '../context.js';
import { CONNECTIONS, type Mailer } from './mailer.js';
import { mailText } from './mailText.js';

export type MailContext = Pick<WorkerContext, 'database' | 'secretKey' | 'log' | 'releaseClaims'> & {
  /** Null: this worker sends no mail. */
  mailer: Mailer | null;
  consoleUrl: string | null;
  /** Whether some may be due: otherwise a round looks for none. */
  hasMails?: () => boolean;
};

/**
 * Returns a round that sends the mails that are due. The first one notes who they are from, so that mails are written from then on.
 *
 * @param which `urgent`: a round that sends only urgent mails, so that these do not wait for a slow server to take others
 */
export function createMailRound(context: MailContext, which: 'all' | 'urgent' = 'all'): () => Promise<void> {
  const { database, mailer, releaseClaims, hasMails = () => true } = context;
  let isNoted = false;
  return async () => {
    if (!isNoted) await noteMailSender(database, mailer?.from ?? null);
    isNoted = true;
    if (mailer === null || !hasMails()) return;
    while (!releaseClaims.aborted) {
      const mails = await takeDueMails(database, CONNECTIONS[which], which);
      const sent = await Promise.allSettled(mails.map((mail) => sendOne({ ...context, mailer }, mail)));
      for (const one of sent) if (one.status === 'rejected') throw one.reason;
      if (mails.length < CONNECTIONS[which]) return;
    }
  };
}

async function sendOne(
  { database, secretKey, mailer, consoleUrl, releaseClaims, log }: MailContext & { mailer: Mailer },
  mail: DueMail,
): Promise<void> {
  const { id, kind, recipient, encryptedLink } = mail;
  if (!isMeant(mail)) return dropMail(database, id);
  if (mail.isOver) {
    await endEntry(database, mail, 'given_up');
    log.error({ mail_id: id, kind }, 'a mail was given up: the SMTP server did not take it in time');
    return;
  }
  try {
    const link = encryptedLink && decrypt(secretKey, id, encryptedLink);
    const sending = mailer.send(id, recipient, mailText({ ...mail, link }, consoleUrl));
    if (
      (await waitUnlessAborted(
        sending.then(() => 'sent'),
        releaseClaims,
      )) === null
    )
      return;
  } catch (error) {
    const code = codeOf(error);
    await postponeEntry(database, mail, code);
    // The server's answer may repeat the address.
    log.warn({ mail_id: id, kind, tries: mail.tries, code }, 'a mail was not sent yet');
    return;
  }
  await endEntry(database, mail, 'sent');
}

/** A password is reset for whoever has the address, and an address that somebody has cannot become another's: then it is for nobody. */
function isMeant({ kind, isKnown }: Pick<DueMail, 'kind' | 'isKnown'>): boolean {
  if (kind === 'password_reset') return isKnown;
  return kind !== 'address_change' || !isKnown;
}

/** The SMTP client's code and the server's, such as `EAUTH 535`. */
function codeOf(error: unknown): string {
  const { code, responseCode } = error as { code?: unknown; responseCode?: unknown };
  return (
    [code, responseCode]
      .filter((part) => typeof part === 'string' || typeof part === 'number')
      .join(' ')
      .slice(0, 100) || 'unknown'
  );
}

/** Tells what no request tells: balances that have fallen, and findings that last. Deletes what was told long ago. */
export async function queueStandingAlerts({ database }: Pick<WorkerContext, 'database'>): Promise<void> {
  const steps = [queueLowBalanceAlerts(database), queueFindingAlerts(database), deleteOldEntries(database)];
  for (const one of await Promise.allSettled(steps)) if (one.status === 'rejected') throw one.reason;
}
