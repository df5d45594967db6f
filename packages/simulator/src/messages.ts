/** How far a message has come, as the phone page shows it. */
export type MessageStatus = 'accepted' | 'sent' | 'delivered' | 'read' | 'failed';

/** One accepted message. Times are ISO 8601 in UTC, `null` until they happen. */
export interface Message {
  id: string;
  /** The sender's phone number id. */
  sender: string;
  /** E.164 with `+`, whatever form the request had. */
  to: string;
  waId: string;
  template: string;
  language: string;
  code: string;
  /** What the phone shows. WhatsApp's own mark-up: the code stands between asterisks. */
  text: string;
  /** The request's `biz_opaque_callback_data`. */
  opaque: string | null;
  status: MessageStatus;
  /** Accepted with a 200 and then lost: no receipt will ever come. */
  dropped: boolean;
  acceptedAt: string;
  sentAt: string | null;
  deliveredAt: string | null;
  readAt: string | null;
  failedAt: string | null;
  failureCode: number | null;
  /** The person said that they did not ask for this code. */
  reportedAt: string | null;
  /** What the receipts say of the price; Meta's category of the template. */
  category: string;
}

const RANK: Readonly<Record<MessageStatus, number>> = {
  accepted: 0,
  sent: 1,
  failed: 2,
  delivered: 3,
  read: 4,
};
const TIME_OF = { sent: 'sentAt', delivered: 'deliveredAt', read: 'readAt', failed: 'failedAt' } as const;

/** The accepted messages, oldest first; beyond `keep` the oldest are forgotten. */
export class Messages {
  readonly #byId = new Map<string, Message>();
  readonly #keep: number;
  readonly #changed: (message: Message) => void;

  constructor(keep: number, changed: (message: Message) => void) {
    this.#keep = keep;
    this.#changed = changed;
  }

  get size(): number {
    return this.#byId.size;
  }

  add(message: Message): void {
    this.#byId.set(message.id, message);
    if (this.#byId.size > this.#keep) {
      const oldest = this.#byId.keys().next();
      if (!oldest.done) this.#byId.delete(oldest.value);
    }
    this.#changed(message);
  }

  get(id: string): Message | undefined {
    return this.#byId.get(id);
  }

  /** Copies, oldest first. */
  all(): Message[] {
    return Array.from(this.#byId.values(), (message) => ({ ...message }));
  }

  /** Copies of the newest ones, newest first, of one recipient (E.164 with `+`) or of all. */
  newest(limit: number, recipient?: string): Message[] {
    const all = [...this.#byId.values()];
    const chosen = recipient === undefined ? all : all.filter(({ to }) => to === recipient);
    return chosen
      .slice(-limit)
      .toReversed()
      .map((message) => ({ ...message }));
  }

  /** Notes a receipt: fills its own time once, and moves the status forward, never back. */
  advance(id: string, status: keyof typeof TIME_OF, at: Date, failureCode: number | null = null): void {
    const message = this.#byId.get(id);
    if (!message) return;
    message[TIME_OF[status]] ??= at.toISOString();
    if (status === 'failed') message.failureCode ??= failureCode;
    if (RANK[status] > RANK[message.status] && message.status !== 'failed') message.status = status;
    this.#changed(message);
  }

  /** Notes that the person did not ask for it. */
  report(id: string): void {
    const message = this.#byId.get(id);
    if (!message) return;
    message.reportedAt ??= new Date().toISOString();
    this.#changed(message);
  }

  clear(): void {
    this.#byId.clear();
  }
}
