import type { Business } from './business.js';
import { faultsOf, integer, oneOf, orNull, refuseFaults, text, type Member } from './input.js';
import type { Fault } from './faults.js';
import type { Message, Messages } from './messages.js';
import { didNotRequestCode, textReply } from './replies.js';
import type { Settings } from './settings.js';
import { statusEvent, statusWebhook, type ReceiptStatus, type StatusEvent } from './statusWebhook.js';
import type { Timers } from './timers.js';
import type { Webhooks } from './webhooks.js';

/** A receipt to post by hand. What is left out is taken from the recorded message, where there is one. */
export interface Receipt {
  messageId: string;
  status: ReceiptStatus;
  /** When it happened, ISO 8601; now when absent. Meta tells whole seconds. */
  at?: string;
  /** The error code of a `failed` receipt. */
  code?: number;
  sender?: string;
  recipientId?: string;
  /** `null` leaves `biz_opaque_callback_data` out. */
  opaque?: string | null;
}

const MEMBERS: Readonly<Record<keyof Receipt, Member>> = {
  messageId: text(/^.{1,512}$/, 'a message id'),
  status: oneOf('sent', 'delivered', 'read', 'failed'),
  at: {
    fits: (value) => typeof value === 'string' && !Number.isNaN(Date.parse(value)),
    wanted: 'a date and time in ISO 8601',
  },
  code: integer(0, 99_999_999),
  sender: text(/^\d{1,32}$/, 'a phone number id (digits)'),
  recipientId: text(/^\d{1,32}$/, 'digits'),
  opaque: orNull(text(/^.{0,512}$/su, 'a text of at most 512 characters')),
};

/** Reads a receipt from parsed JSON. @throws {InvalidInput} */
export function readReceipt(value: unknown): Receipt {
  const receipt = value as Receipt;
  const faults = faultsOf(value, MEMBERS);
  for (const key of ['messageId', 'status'] as const)
    if (faults.length === 0 && receipt[key] === undefined) faults.push(`${key} is missing`);
  refuseFaults(faults);
  return receipt;
}

interface Batch {
  events: StatusEvent[];
  posted: Promise<number | null>;
}

/** Meta puts at most so many statuses into one webhook. */
const BATCH_MAX = 1000;
const UNDELIVERABLE = 131026;

/** Turns what happens to messages into status webhooks, in the order and at the pace that settings and faults ask for. */
export class Receipts {
  readonly #messages: Messages;
  readonly #business: Business;
  readonly #settings: Settings;
  readonly #timers: Timers;
  readonly #webhooks: Webhooks;
  #batch: Batch | null = null;

  constructor(parts: {
    messages: Messages;
    business: Business;
    settings: Settings;
    timers: Timers;
    webhooks: Webhooks;
  }) {
    this.#messages = parts.messages;
    this.#business = parts.business;
    this.#settings = parts.settings;
    this.#timers = parts.timers;
    this.#webhooks = parts.webhooks;
  }

  /**
   * Takes an accepted message through its receipts; resolves when each was posted once. Receipts of one message are posted
   * one after another, so that only a fault, or delays that say so, put them out of order.
   */
  async follow(message: Message, fault: Fault = {}): Promise<void> {
    if (fault.acceptThenDrop) return;
    const { sentMs, deliveredMs, readMs } = this.#settings.current;
    const steps: { status: ReceiptStatus; afterMs: number }[] =
      fault.lateFailure === undefined
        ? [
            { status: 'sent', afterMs: sentMs },
            { status: 'delivered', afterMs: deliveredMs },
            ...(readMs === null ? [] : [{ status: 'read' as const, afterMs: readMs }]),
          ]
        : [{ status: 'failed', afterMs: fault.lateFailureMs ?? sentMs }];
    steps.sort((one, other) => one.afterMs - other.afterMs);

    const { scope } = this.#timers;
    const acceptedMs = Date.parse(message.acceptedAt);
    const posts: Promise<unknown>[] = [];
    const order = fault.disorder ? steps.toReversed() : steps;
    for (const [slot, { status, afterMs }] of order.entries()) {
      const dueMs = acceptedMs + (steps[slot]?.afterMs ?? afterMs);
      const waitMs = fault.receiptsBeforeAnswer ? 0 : Math.max(0, dueMs - Date.now());
      if (!(await scope.sleep(waitMs))) return;
      const at = new Date(fault.receiptsBeforeAnswer ? acceptedMs : acceptedMs + afterMs);
      const receipt: Receipt = { messageId: message.id, status, at: at.toISOString() };
      if (fault.lateFailure !== undefined) receipt.code = fault.lateFailure;
      for (let copy = 0; copy <= (fault.duplicates ?? 0); copy += 1) {
        const posted = this.post(receipt, message);
        posts.push(posted);
        // A batch keeps the order by itself, and waiting for it would keep the next receipt out of it.
        if (this.#settings.current.batchMs === 0) await posted;
      }
    }
    await Promise.all(posts);
  }

  /** The person behind the phone reads a message. `false` when it is unknown, was read before, failed, or never arrived. */
  async markRead(id: string): Promise<boolean> {
    const message = this.#messages.get(id);
    if (!message || message.dropped || message.status === 'read' || message.status === 'failed') return false;
    await this.post({ messageId: id, status: 'read' });
    return true;
  }

  /** The person behind the phone says that they did not ask for this code. `false` when it never arrived, or they said so before. */
  async didNotRequest(id: string): Promise<boolean> {
    const message = this.#messages.get(id);
    if (!message || message.dropped || message.status === 'failed' || message.reportedAt !== null)
      return false;
    this.#messages.report(id);
    const { senders, identities } = this.#business;
    await this.#postReply(
      didNotRequestCode(message, senders.describe(message.sender), identities.hashOf(message.to)),
      message,
    );
    return true;
  }

  /** The person writes back. Resolves with the HTTP status of the first attempt, or `null`. */
  reply(message: Message, text: string): Promise<number | null> {
    const { senders, identities } = this.#business;
    const sender = senders.describe(message.sender);
    return this.#postReply(textReply(message, sender, identities.hashOf(message.to), text), message);
  }

  #postReply(payload: unknown, message: Message): Promise<number | null> {
    const { wabaId } = this.#business.senders.describe(message.sender);
    return this.#business.accounts.describe(wabaId).subscribed
      ? this.#webhooks.post(payload)
      : Promise.resolve(null);
  }

  /** Posts one receipt and notes it on its message. Resolves with the HTTP status of the first attempt, or `null`. */
  post(receipt: Receipt, message = this.#messages.get(receipt.messageId)): Promise<number | null> {
    const at = receipt.at === undefined ? new Date() : new Date(receipt.at);
    const code = receipt.status === 'failed' ? (receipt.code ?? UNDELIVERABLE) : null;
    const opaque = receipt.opaque === undefined ? (message?.opaque ?? null) : receipt.opaque;
    this.#messages.advance(receipt.messageId, receipt.status, at, code);
    const sender = receipt.sender ?? message?.sender ?? '0';
    const { wabaId, identityKeyCheck: checksIdentity } = this.#business.senders.describe(sender);
    if (!this.#business.accounts.describe(wabaId).subscribed) return Promise.resolve(null);
    return this.#deliver(
      statusEvent({
        id: receipt.messageId,
        status: receipt.status,
        at,
        sender,
        recipientId: receipt.recipientId ?? message?.waId ?? '0',
        opaque,
        code,
        category: message?.category ?? 'authentication',
        identityKeyHash: checksIdentity && message ? this.#business.identities.hashOf(message.to) : null,
      }),
    );
  }

  #deliver(event: StatusEvent): Promise<number | null> {
    const { batchMs } = this.#settings.current;
    if (batchMs === 0) return this.#webhooks.post(statusWebhook([event], this.#business.senders));
    if (this.#batch === null || this.#batch.events.length >= BATCH_MAX)
      this.#batch = this.#openBatch(batchMs);
    this.#batch.events.push(event);
    return this.#batch.posted;
  }

  #openBatch(batchMs: number): Batch {
    const events: StatusEvent[] = [];
    const posted = this.#timers.scope.sleep(batchMs).then((elapsed) => {
      if (this.#batch?.events === events) this.#batch = null;
      return elapsed ? this.#webhooks.post(statusWebhook(events, this.#business.senders)) : null;
    });
    return { events, posted };
  }
}
