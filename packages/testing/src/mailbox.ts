import type { AddressInfo } from 'node:net';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { SMTPServer } from 'smtp-server';

/** A mail that the mailbox received. */
export interface CaughtMail {
  messageId: string;
  from: string;
  to: string;
  subject: string;
  text: string;
  html: string;
  at: Date;
}

/** Returns the server's response to a mail: null accepts it, an SMTP code refuses it, `hang up` closes the connection. */
export type MailFault = (nth: number) => number | 'hang up' | null;

/** The number of mails that are kept. Older ones are deleted. */
const MAILS_MAX = 500;

/** An SMTP server on this machine that keeps every mail in memory. It accepts any password. */
export class Mailbox {
  /** Oldest first. */
  readonly mails: CaughtMail[] = [];
  /** The response to the nth mail, counted from 1. */
  fault: MailFault = () => null;
  /** The addresses that do not exist: mails to them are refused with 550. */
  readonly unknown = new Set<string>();
  /** Called after a mail is stored and before it is answered. */
  onMail: () => Promise<void> = () => Promise.resolve();
  #came = 0;
  readonly #server: SMTPServer;

  private constructor(Server: typeof SMTPServer) {
    this.#server = new Server({
      authOptional: true,
      allowInsecureAuth: true,
      disabledCommands: ['STARTTLS'],
      onAuth: (auth, _session, done) => done(null, { user: auth.username }),
      onRcptTo: ({ address }, _session, done) =>
        done(
          this.unknown.has(address)
            ? Object.assign(new Error('5.1.1 unknown user'), { responseCode: 550 })
            : null,
        ),
      onData: (stream, { envelope: { mailFrom, rcptTo } }, done) => {
        const to = rcptTo.map(({ address }) => address).join(', ');
        const from = mailFrom === false ? '' : mailFrom.address;
        void this.#answer(stream, from, to, done);
      },
    });
    // Connections closed by clients are not errors.
    this.#server.on('error', () => {});
  }

  static async start(port = 0): Promise<Mailbox> {
    // Loaded on demand, as below: few test files receive mails, and all load this package.
    const smtp = await import('smtp-server');
    const mailbox = new Mailbox(smtp.SMTPServer);
    await new Promise<void>((resolve, reject) => {
      mailbox.#server.once('error', reject);
      mailbox.#server.listen(port, '127.0.0.1', resolve);
    });
    return mailbox;
  }

  /** The value for `SMTP_URL`. */
  get url(): string {
    return `smtp://onecode:secret@127.0.0.1:${(this.#server.server.address() as AddressInfo).port}`;
  }

  async #answer(stream: Readable, from: string, to: string, done: (error?: Error) => void): Promise<void> {
    let refusal: Error | undefined;
    try {
      await this.#take(await buffer(stream), from, to);
    } catch (error) {
      refusal = error as Error;
    }
    done(refusal);
  }

  async #take(raw: Buffer, from: string, to: string): Promise<void> {
    this.#came += 1;
    const fault = this.fault(this.#came);
    if (fault === 'hang up')
      for (const connection of this.#server.connections)
        (connection as unknown as { _socket: { destroy(): void } })._socket.destroy();
    if (fault !== null)
      throw Object.assign(new Error(`refused for ${to}`), { responseCode: Number(fault) || 451 });
    const { default: PostalMime } = await import('postal-mime');
    const { messageId = '', subject = '', text = '', html = '' } = await PostalMime.parse(raw);
    this.mails.push({ messageId, from, to, subject, text, html, at: new Date() });
    if (this.mails.length > MAILS_MAX) this.mails.shift();
    await this.onMail();
  }

  /** Returns the mails to this address, oldest first. */
  to(address: string): CaughtMail[] {
    return this.mails.filter(({ to }) => to === address);
  }

  async close(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }
}

/** Returns the address of a mail's button, which is alone on a line of the text. */
export function linkOf({ text }: Pick<CaughtMail, 'text'>): string {
  const link = /^https?:\/\/\S+$/m.exec(text)?.[0];
  if (link === undefined) throw new Error('the mail has no link');
  return link;
}
