import { statusError } from './answers.js';
import type { Business } from './business.js';
import type { SenderProfile } from './businessStates.js';
import type { Fault } from './faults.js';
import { id, integer, oneOf, orNull, read, text, type Member, type ValuesOf } from './input.js';
import { newMessageId, type Message, type Messages } from './log.js';
import type { Settings } from './settings.js';
import type { Timers } from './timers.js';
import type { Webhooks } from './webhooks.js';

const moment: Member<string> = {
  fits: (value): value is string => typeof value === 'string' && !Number.isNaN(Date.parse(value)),
  wanted: 'a date and time in ISO 8601',
};
const RECEIPT = {
  messageId: text(/^.{1,512}$/, 'a message id'),
  status: oneOf('sent', 'delivered', 'read', 'failed'),
  /** The time of the event, ISO 8601; now when absent. Meta reports whole seconds. */
  at: moment,
  /** The error code of a `failed` receipt. */
  code: integer(0, 99_999_999),
  sender: id,
  recipientId: id,
  /** `null` omits `biz_opaque_callback_data`. */
  opaque: orNull(text(/^.{0,512}$/su, 'a text of at most 512 characters')),
};

/** A receipt to post by hand. Absent fields come from the recorded message, if there is one. */
export type Receipt = Pick<ValuesOf<typeof RECEIPT>, 'messageId' | 'status'> &
  Partial<ValuesOf<typeof RECEIPT>>;

/** Parses a receipt from JSON. @throws {InvalidInput} */
export function readReceipt(value: unknown): Receipt {
  return read(value, RECEIPT, ['messageId', 'status']);
}

const UNDELIVERABLE = 131026;

/** Posts receipts of messages as webhooks, in the order and with the delays that settings and faults require. */
export class Receipts {
  constructor(
    readonly business: Business,
    readonly messages: Messages,
    readonly settings: Settings,
    readonly timers: Timers,
    readonly webhooks: Webhooks,
  ) {}

  /**
   * Posts the receipts of an accepted message; resolves when each was posted once. They are posted one after another, so that only a fault
   * or the delays can reorder them.
   */
  async follow(message: Message, fault: Fault): Promise<void> {
    if (fault.acceptThenDrop) return;
    const { sentMs, deliveredMs, readMs } = this.settings.current;
    const steps: { status: Receipt['status']; afterMs: number }[] =
      fault.lateFailure === undefined
        ? [
            { status: 'sent', afterMs: sentMs },
            { status: 'delivered', afterMs: deliveredMs },
            ...(readMs === null ? [] : [{ status: 'read' as const, afterMs: readMs }]),
          ]
        : [{ status: 'failed', afterMs: fault.lateFailureMs ?? sentMs }];
    steps.sort((one, other) => one.afterMs - other.afterMs);

    const { scope } = this.timers;
    const acceptedMs = Date.parse(message.acceptedAt);
    const order = fault.disorder ? steps.toReversed() : steps;
    for (const [slot, { status, afterMs }] of order.entries()) {
      const dueMs = acceptedMs + (steps[slot]?.afterMs ?? afterMs);
      const waitMs = fault.receiptsBeforeAnswer ? 0 : Math.max(0, dueMs - Date.now());
      if (!(await scope.sleep(waitMs))) return;
      const at = new Date(fault.receiptsBeforeAnswer ? acceptedMs : acceptedMs + afterMs);
      const receipt: Receipt = { messageId: message.id, status, at: at.toISOString() };
      if (fault.lateFailure !== undefined) receipt.code = fault.lateFailure;
      for (let copy = 0; copy <= (fault.duplicates ?? 0); copy += 1) {
        await this.post(receipt, message);
      }
    }
  }

  /** Marks a message as read. @returns `false` when it is unknown, was read before, failed, or never arrived */
  async markRead(messageId: string): Promise<boolean> {
    const message = this.messages.get(messageId);
    if (!message || message.dropped || message.status === 'read' || message.status === 'failed') return false;
    await this.post({ messageId, status: 'read' });
    return true;
  }

  /**
   * Reports a code as not requested, like the button below it. Returns `false` when it never arrived or was reported before.
   * Source: https://developers.facebook.com/documentation/business-messaging/whatsapp/templates/authentication-templates/authentication-templates
   */
  async didNotRequest(messageId: string): Promise<boolean> {
    const message = this.messages.get(messageId);
    if (!message || message.dropped || message.status === 'failed' || message.reportedAt !== null)
      return false;
    this.messages.report(message);
    const sender = this.business.sender(message.sender);
    const { waId, language } = message;
    const text = language.startsWith('pt') ? 'Não solicitei um código' : "I didn't request a code";
    const reply = {
      context: { from: sender.displayPhoneNumber, id: messageId },
      from: waId,
      id: newMessageId(waId),
      timestamp: secondsOf(new Date()),
      from_logical_id: '131063108133020',
      type: 'button',
      button: { payload: 'DID_NOT_REQUEST_CODE', text },
    };
    const contacts = [{ profile: { name: 'Ana' }, wa_id: waId }];
    await this.#post(sender, { contacts, messages: [reply] });
    return true;
  }

  /**
   * Posts one receipt and records it on its message. Resolves with the HTTP status of the first attempt, or `null`. Meta's form since v24: no
   * `conversation` for authentication messages, `pricing` on `sent` and `delivered`, `errors` on `failed`.
   * Source: https://developers.facebook.com/documentation/business-messaging/whatsapp/webhooks/reference/messages/status
   */
  post(receipt: Receipt, message = this.messages.get(receipt.messageId)): Promise<number | null> {
    const { messageId, status, opaque = message?.opaque, recipientId = message?.waId ?? '0' } = receipt;
    const at = receipt.at === undefined ? new Date() : new Date(receipt.at);
    const code = status === 'failed' ? (receipt.code ?? UNDELIVERABLE) : null;
    this.messages.advance(messageId, status, at, code);
    const sender = this.business.sender(receipt.sender ?? message?.sender ?? '0');
    const isPriced = status === 'sent' || status === 'delivered';
    const entry = {
      id: messageId,
      status,
      timestamp: secondsOf(at),
      recipient_id: recipientId,
      recipient_identity_key_hash:
        sender.identityKeyCheck && message ? this.business.identityOf(message.to) : undefined,
      biz_opaque_callback_data: opaque ?? undefined,
      pricing: isPriced ? { ...PRICING, category: message?.category ?? 'authentication' } : undefined,
      errors: code === null ? undefined : [statusError(code)],
    };
    return this.#post(sender, { statuses: [entry] });
  }

  /** Posts a webhook about a number's messages if its account is subscribed. */
  async #post({ wabaId, displayPhoneNumber, phoneNumberId }: SenderProfile, parts: object) {
    if (!this.business.account(wabaId).subscribed) return null;
    const metadata = { display_phone_number: displayPhoneNumber, phone_number_id: phoneNumberId };
    const value = { messaging_product: 'whatsapp', metadata, ...parts };
    const entry = [{ id: wabaId, changes: [{ value, field: 'messages' }] }];
    return this.webhooks.post({ object: 'whatsapp_business_account', entry });
  }
}

const PRICING = { billable: true, pricing_model: 'PMP', type: 'regular' };

const secondsOf = (at: Date) => String(Math.floor(at.getTime() / 1000));
