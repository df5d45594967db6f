import {
  canonicalNumber,
  recipientKeys,
  type Denial,
  type Keyring,
  type Pricing,
  type ProviderChange,
  type Receipt,
} from '@onecode/domain';
import { changeOf } from './changes.js';
import { classifyError } from './errors.js';
import { elements, isMetaId, members, objects, parseJson, timeOf } from './json.js';
import { attemptNameOf, messageIdOf } from './message.js';

/** The reports of a webhook, in their order, with duplicates. */
export interface WebhookReports {
  receipts: Receipt[];
  denials: Denial[];
  /** Changes of templates, numbers and business accounts. */
  changes: ProviderChange[];
  /** The ids of the business accounts that messages were attributed to, by phone number id. */
  businessAccounts: Map<string, string>;
}

/**
 * Returns the reports in the raw body of a webhook. Other objects, fields and members are ignored, and so are messages from recipients that
 * are not denials. Source: Meta, "Webhooks reference" of the WhatsApp Business Platform.
 *
 * @param numberPepper hashes recipients' numbers, which no report contains
 * @returns null if the body is not JSON
 */
export function parseWebhook(rawBody: Buffer, numberPepper: Keyring): WebhookReports | null {
  const post = parseJson(rawBody.toString());
  if (post === undefined) return null;
  const reports: WebhookReports = { receipts: [], denials: [], changes: [], businessAccounts: new Map() };
  const { object, entry: entries } = members(post);
  if ((object ?? 'whatsapp_business_account') !== 'whatsapp_business_account') return reports;
  for (const { id, time, changes } of objects(entries))
    for (const { field, value } of objects(changes)) {
      const content = members(value);
      if ((field ?? 'messages') === 'messages') addMessages(reports, id, content, numberPepper);
      const change = changeOf(field, content, id, time);
      if (change !== null) reports.changes.push(change);
    }
  return reports;
}

/** Adds the reports in a change of the field `messages`: the statuses of our messages, and denials. */
function addMessages(
  { receipts, denials, businessAccounts }: WebhookReports,
  businessAccountId: unknown,
  { metadata, statuses, messages }: Record<string, unknown>,
  numberPepper: Keyring,
): void {
  const { phone_number_id: phoneNumberId } = members(metadata);
  for (const status of objects(statuses)) {
    const receipt = receiptOf(status, phoneNumberId, numberPepper);
    if (receipt !== null) receipts.push(receipt);
  }
  for (const message of objects(messages)) {
    const denial = denialOf(message);
    if (denial !== null) denials.push(denial);
  }
  if (isMetaId(phoneNumberId) && isMetaId(businessAccountId))
    businessAccounts.set(phoneNumberId, businessAccountId);
}

/**
 * Returns the receipt in a status, or null for a status that is not about a message or has no valid message id.
 *
 * @param phoneNumberId the id of the sending number, from the webhook
 */
function receiptOf(
  status: Record<string, unknown>,
  phoneNumberId: unknown,
  numberPepper: Keyring,
): Receipt | null {
  const { id, status: name, type, timestamp, biz_opaque_callback_data: opaque, errors, pricing } = status;
  const { recipient_identity_key_hash: identityHash, recipient_id: recipient } = status;
  const messageId = messageIdOf(id);
  // The same array has the statuses of payments, which can also be `failed`.
  if ((type ?? 'message') !== 'message' || !isReceiptStatus(name) || messageId === null) return null;
  const price = pricingOf(members(pricing));
  return {
    ...(price !== null && { pricing: price }),
    ...(isIdentityHash(identityHash) && { identityHash }),
    messageId,
    attempt: attemptNameOf(opaque),
    status: name,
    occurredAt: timeOf(timestamp),
    failure:
      name === 'failed'
        ? {
            ...classifyError(null, elements(errors)[0]),
            ...(isMetaId(phoneNumberId) && { phoneNumberId }),
            ...(isMetaId(recipient) && {
              recipientKeys: recipientKeys(numberPepper, canonicalNumber(`+${recipient}`)),
            }),
          }
        : null,
  };
}

const isReceiptStatus = (name: unknown): name is Receipt['status'] =>
  name === 'sent' || name === 'delivered' || name === 'read' || name === 'failed';

/** Meta's identity hashes are 8 bytes in base64. */
const isIdentityHash = (value: unknown): value is string =>
  typeof value === 'string' && /^[\w+/=-]{1,128}$/.test(value);

/** Limits the length of a price's words, because they become keys of statistics. */
const PRICE_WORD = /^[\w-]{1,40}$/;

/** Returns the price in a status, or null without a category. Source: Meta, "status messages webhook reference". */
function pricingOf(pricing: Record<string, unknown>): Pricing | null {
  const { category, type, billable, pricing_model: model } = pricing;
  // Meta's references write one category as both `authentication-international` and `authentication_international`.
  const word = (value: unknown): string | null =>
    typeof value === 'string' && PRICE_WORD.test(value) ? value.replaceAll('-', '_') : null;
  const known = word(category);
  if (known === null) return null;
  return {
    category: known,
    type: word(type) ?? 'unknown',
    billable: billable !== false,
    model: word(model) ?? 'unknown',
  };
}

/**
 * Returns the denial in an incoming message: a press of the button "I didn't request a code". `context.id` is the id of the message with
 * the code. Other incoming messages are not read.
 * Source: Meta, "Authentication templates",
 * https://developers.facebook.com/documentation/business-messaging/whatsapp/templates/authentication-templates/authentication-templates
 *
 * @returns null for any other message
 */
function denialOf({ type, button, context, timestamp }: Record<string, unknown>): Denial | null {
  if (type !== 'button' || members(button)['payload'] !== 'DID_NOT_REQUEST_CODE') return null;
  const messageId = messageIdOf(members(context)['id']);
  return messageId === null ? null : { messageId, occurredAt: timeOf(timestamp) };
}
