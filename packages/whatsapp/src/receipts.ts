import { canonicalNumber, recipientKeys, type Keyring, type Pricing, type Receipt } from '@onecode/domain';
import { classifyError, providerErrorOf } from './errors.js';
import { elements, isAbsentOr, isMetaId, members, timeOf } from './json.js';
import { attemptNameOf, messageIdOf } from './message.js';

/**
 * Returns the receipt in a status of a webhook, or null for a status that is not about a message or has no valid message id.
 *
 * @param phoneNumberId the id of the sending number, from the webhook
 * @param numberPepper hashes the recipient's number
 */
export function receiptOf(
  status: Record<string, unknown>,
  phoneNumberId: unknown,
  numberPepper: Keyring,
): Receipt | null {
  const { id, status: name, type, timestamp, biz_opaque_callback_data: opaque, errors, pricing } = status;
  const { recipient_identity_key_hash: identityHash, recipient_id: recipient } = status;
  const messageId = messageIdOf(id);
  // The same array has the statuses of payments, which can also be `failed`.
  if (!isAbsentOr(type, 'message') || !isReceiptStatus(name) || messageId === null) return null;
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
            ...classifyError(providerErrorOf(null, elements(errors)[0])),
            ...(isMetaId(phoneNumberId) && { phoneNumberId }),
            ...(isMetaId(recipient) && {
              recipientKeys: recipientKeys(numberPepper, canonicalNumber(`+${recipient}`)),
            }),
          }
        : null,
  };
}

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

function isReceiptStatus(name: unknown): name is Receipt['status'] {
  return name === 'sent' || name === 'delivered' || name === 'read' || name === 'failed';
}
