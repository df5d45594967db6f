import { statusError } from './errors.js';
import type { SenderProfile, Senders } from './senders.js';

export type ReceiptStatus = 'sent' | 'delivered' | 'read' | 'failed';

/** One entry of `statuses`, and the sender whose change it belongs to. */
export interface StatusEvent {
  sender: string;
  status: Record<string, unknown>;
}

/**
 * One status in Meta's form since v24: no `conversation` for authentication messages, `pricing` on `sent` and `delivered`,
 * `errors` on `failed`.
 * Source: https://developers.facebook.com/documentation/business-messaging/whatsapp/webhooks/reference/messages/status
 */
export function statusEvent(event: {
  id: string;
  status: ReceiptStatus;
  at: Date;
  sender: string;
  recipientId: string;
  opaque: string | null;
  code: number | null;
  category: string;
  /** `null` where the sender does not check identities. */
  identityKeyHash: string | null;
}): StatusEvent {
  const status: Record<string, unknown> = {
    id: event.id,
    status: event.status,
    timestamp: String(Math.floor(event.at.getTime() / 1000)),
    recipient_id: event.recipientId,
  };
  if (event.identityKeyHash !== null) status['recipient_identity_key_hash'] = event.identityKeyHash;
  if (event.opaque !== null) status['biz_opaque_callback_data'] = event.opaque;
  if (event.status === 'sent' || event.status === 'delivered')
    status['pricing'] = {
      billable: true,
      pricing_model: 'PMP',
      type: 'regular',
      category: event.category,
    };
  if (event.code !== null) status['errors'] = [statusError(event.code)];
  return { sender: event.sender, status };
}

/** The webhook of these statuses: an `entry` for each WhatsApp Business account, a `change` for each of its numbers. */
export function statusWebhook(events: readonly StatusEvent[], senders: Senders) {
  const bySender = new Map<string, StatusEvent[]>();
  for (const event of events) {
    const same = bySender.get(event.sender);
    if (same) same.push(event);
    else bySender.set(event.sender, [event]);
  }
  const entries = new Map<string, { id: string; changes: ReturnType<typeof changeOf>[] }>();
  for (const [phoneNumberId, own] of bySender) {
    const sender = senders.describe(phoneNumberId);
    const entry = entries.get(sender.wabaId) ?? { id: sender.wabaId, changes: [] };
    entry.changes.push(changeOf(sender, own));
    entries.set(sender.wabaId, entry);
  }
  return { object: 'whatsapp_business_account', entry: [...entries.values()] };
}

function changeOf(sender: SenderProfile, events: readonly StatusEvent[]) {
  return {
    value: {
      messaging_product: 'whatsapp',
      metadata: {
        display_phone_number: sender.displayPhoneNumber,
        phone_number_id: sender.phoneNumberId,
      },
      statuses: events.map(({ status }) => status),
    },
    field: 'messages',
  };
}
