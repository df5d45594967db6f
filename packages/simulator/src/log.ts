import { randomBytes } from 'node:crypto';

/** The status of a message on the phone page. */
type MessageStatus = 'accepted' | 'sent' | 'delivered' | 'read' | 'failed';

/** One accepted message. Times are ISO 8601 in UTC, `null` until they happen. */
export interface Message {
  id: string;
  /** The sender's phone number id. */
  sender: string;
  /** E.164 with `+`, independent of the request's form. */
  to: string;
  waId: string;
  template: string;
  language: string;
  code: string;
  /** The text on the phone in WhatsApp's mark-up, with the code between asterisks. */
  text: string;
  /** The footer in the template's language; `null` when the template has none. */
  footer: string | null;
  /** The request's `biz_opaque_callback_data`. */
  opaque: string | null;
  status: MessageStatus;
  /** Accepted with a 200 and then lost: it never gets a receipt. */
  dropped: boolean;
  acceptedAt: string;
  sentAt: string | null;
  deliveredAt: string | null;
  readAt: string | null;
  failedAt: string | null;
  failureCode: number | null;
  /** The phone's owner reported that they did not request this code. */
  reportedAt: string | null;
  /** The price category in receipts: Meta's category of the template. */
  category: string;
}

type NewMessage = Pick<
  Message,
  'sender' | 'to' | 'template' | 'language' | 'code' | 'opaque' | 'category' | 'dropped'
> & { expirationMinutes: number | null };

/** The outcome of a request to `/messages`; `pending` until it is answered. */
export type Outcome =
  | 'pending'
  | 'accepted'
  | 'refused'
  | 'error'
  | 'hung'
  | 'reset_before'
  | 'reset_after'
  | 'dropped'
  | 'late_failure'
  | 'wrong_body';

/** One request to `/messages`, accepted or not. */
export interface RequestRecord {
  /** Counts from 1. */
  number: number;
  /** Arrival, ISO 8601 in UTC. */
  at: string;
  /** The phone number id in the path. */
  sender: string;
  /** E.164 with `+`; `null` where the body named no recipient. */
  to: string | null;
  opaque: string | null;
  /** The language of the template. */
  language: string | null;
  outcome: Outcome;
  /** The HTTP status of the answer; `null` without one. */
  http: number | null;
  /** The error code in the answer. */
  code: number | null;
  /** The message that the request created, even if no answer returned it. */
  messageId: string | null;
  /** The fault rule that applied. */
  rule: string | null;
}

/** The newest `keep` entries, by key. */
export class Recent<Item extends object> {
  readonly #items = new Map<string | number, Item>();
  /** The number of entries ever added, including dropped ones. */
  count = 0;

  constructor(readonly keep: number) {}

  get(key: string | number): Item | undefined {
    return this.#items.get(key);
  }

  add(key: string | number, item: Item): void {
    this.count += 1;
    this.#items.set(key, item);
    const oldest = this.#items.keys().next();
    if (this.#items.size > this.keep && !oldest.done) this.#items.delete(oldest.value);
  }

  /** Returns copies of matching entries, oldest first. */
  all(fits: (item: Item) => boolean = () => true): Item[] {
    return [...this.#items.values()].filter(fits).map((item) => ({ ...item }));
  }

  clear(): void {
    this.#items.clear();
    this.count = 0;
  }
}

/** A request to `/messages` that has just arrived. */
export function openRequest(requests: Recent<RequestRecord>, sender: string): RequestRecord {
  const record: RequestRecord = {
    number: requests.count + 1,
    at: new Date().toISOString(),
    sender,
    to: null,
    opaque: null,
    language: null,
    outcome: 'pending',
    http: null,
    code: null,
    messageId: null,
    rule: null,
  };
  requests.add(record.number, record);
  return record;
}

const RANK: Readonly<Record<MessageStatus, number>> = {
  accepted: 0,
  sent: 1,
  failed: 2,
  delivered: 3,
  read: 4,
};
const TIME_OF = { sent: 'sentAt', delivered: 'deliveredAt', read: 'readAt', failed: 'failedAt' } as const;

/** The accepted messages. */
export class Messages extends Recent<Message> {
  constructor(
    keep: number,
    readonly changed: (message: Message) => void,
  ) {
    super(keep);
  }

  /** Accepts a message now. */
  accept({ expirationMinutes, ...accepted }: NewMessage): Message {
    const waId = waIdOf(accepted.to);
    const message: Message = {
      ...accepted,
      id: newMessageId(waId),
      waId,
      text: templateText(accepted.language, accepted.code),
      footer: expirationMinutes === null ? null : footerText(accepted.language, expirationMinutes),
      status: 'accepted',
      acceptedAt: new Date().toISOString(),
      sentAt: null,
      deliveredAt: null,
      readAt: null,
      failedAt: null,
      failureCode: null,
      reportedAt: null,
    };
    this.add(message.id, message);
    this.changed(message);
    return message;
  }

  /** Records a receipt: sets its time once, and moves the status only forward. */
  advance(id: string, status: keyof typeof TIME_OF, at: Date, failureCode: number | null): void {
    const message = this.get(id);
    if (!message) return;
    message[TIME_OF[status]] ??= at.toISOString();
    if (status === 'failed') message.failureCode ??= failureCode;
    if (RANK[status] > RANK[message.status] && message.status !== 'failed') message.status = status;
    this.changed(message);
  }

  /** Records that the phone's owner did not request the code. */
  report(message: Message): void {
    message.reportedAt ??= new Date().toISOString();
    this.changed(message);
  }
}

/**
 * Returns Meta's `wa_id` of a recipient: digits without `+`. Brazilian mobile numbers lose their ninth digit and Mexican numbers get a
 * `1`, so an answer's `wa_id` cannot identify the recipient.
 */
export function waIdOf(to: string): string {
  const digits = to.replace(/^\+/, '');
  const brazilianMobile = /^(55[1-9]{2})9(\d{8})$/.exec(digits);
  if (brazilianMobile) return `${brazilianMobile[1]}${brazilianMobile[2]}`;
  const mexican = /^52([2-9]\d{9})$/.exec(digits);
  return mexican ? `521${mexican[1]}` : digits;
}

/** Returns a new message id. Like Meta's, it is base64 of text with the recipient's number, so it is personal data. */
export function newMessageId(waId: string): string {
  return `wamid.${Buffer.from(`${waId} ${randomBytes(9).toString('hex')}`).toString('base64')}`;
}

/** Returns the text of an authentication template, which Meta fixes for each language; asterisks mean bold in WhatsApp. */
function templateText(language: string, code: string): string {
  return language.startsWith('pt')
    ? `*${code}* é seu código de verificação. Para sua segurança, não o compartilhe.`
    : `*${code}* is your verification code. For your security, do not share this code.`;
}

/** Returns the footer of an authentication template, which Meta also fixes for each language. */
function footerText(language: string, minutes: number): string {
  return language.startsWith('pt')
    ? `Este código expira em ${minutes} ${minutes === 1 ? 'minuto' : 'minutos'}.`
    : `This code expires in ${minutes} ${minutes === 1 ? 'minute' : 'minutes'}.`;
}
