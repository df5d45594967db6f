import type { Transporter } from 'nodemailer';
import type { WorkerConfig } from '../config.js';
import type { Letter } from './letter.js';

/** Milliseconds, together less than the lease of a mail. */
const TIMEOUTS = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 30_000 };
const LOOPBACK = /^(?:localhost|127\.[\d.]+|\[::1\])$/;

/** Connections for all mails, and one that is kept for urgent ones. A mail that waits for a connection would outlive its lease. */
export const CONNECTIONS = { all: 2, urgent: 1 };

export interface Mailer {
  from: string;
  /** @param id makes the Message-ID: the same mail, sent again, has the same */
  send(id: string, to: string, letter: Letter): Promise<void>;
  close(): void;
}

/** What sends mails by `SMTP_URL`; null without it. */
export async function openMailer({
  SMTP_URL: url,
  MAIL_FROM: from,
}: Pick<WorkerConfig, 'SMTP_URL' | 'MAIL_FROM'>): Promise<Mailer | null> {
  if (url === '') return null;
  // Loaded only where mail is sent.
  const { createTransport } = await import('nodemailer');
  const { username, hostname } = new URL(url);
  const transport: Transporter = createTransport({
    url,
    pool: true,
    maxConnections: CONNECTIONS.all + CONNECTIONS.urgent,
    ...TIMEOUTS,
    // A password is never sent in the open, whoever sits between us and the server.
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
        // Out-of-office answers stay away.
        headers: { 'Auto-Submitted': 'auto-generated' },
      });
    },
    close: () => transport.close(),
  };
}
