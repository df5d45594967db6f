import type { Transporter } from 'nodemailer';
import type { WorkerConfig } from '../config.js';
import type { Letter } from './letter.js';

/** In milliseconds. Their sum is less than the lease of a mail. */
const TIMEOUTS = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 30_000 };
const LOOPBACK = /^(?:localhost|127\.[\d.]+|\[::1\])$/;

/** Connections for all mails, and one reserved for urgent mails. A mail that waits for a connection could outlive its lease. */
export const CONNECTIONS = { all: 2, urgent: 1 };

export interface Mailer {
  from: string;
  /** @param id becomes the Message-ID, so that a mail that is sent again has the same one */
  send(id: string, to: string, letter: Letter): Promise<void>;
  close(): void;
}

/** Opens an SMTP client for `SMTP_URL`. @returns null without `SMTP_URL` */
export async function openMailer({
  SMTP_URL: url,
  MAIL_FROM: from,
}: Pick<WorkerConfig, 'SMTP_URL' | 'MAIL_FROM'>): Promise<Mailer | null> {
  if (url === '') return null;
  // Loaded only by workers that send mail.
  const { createTransport } = await import('nodemailer');
  const { username, hostname } = new URL(url);
  const transport: Transporter = createTransport({
    url,
    pool: true,
    maxConnections: CONNECTIONS.all + CONNECTIONS.urgent,
    ...TIMEOUTS,
    // A password is never sent without TLS, even if an attacker on the network removes STARTTLS.
    requireTLS: username !== '' && !LOOPBACK.test(hostname),
    disableFileAccess: true,
    disableUrlAccess: true,
  } as Parameters<typeof createTransport>[0]);
  const domain = /@([^\s@<>]+)>?\s*$/.exec(from)?.[1] ?? 'localhost';
  return {
    from,
    async send(id, to, { subject, text, html }) {
      await transport.sendMail({
        from,
        to: { name: '', address: to },
        subject,
        text,
        html,
        messageId: `<${id}@${domain}>`,
        // Prevents out-of-office replies.
        headers: { 'Auto-Submitted': 'auto-generated' },
      });
    },
    close: () => transport.close(),
  };
}
