import { canonicalNumber, recipientKeys, type Keyring, type Pricing, type Receipt } from '@onecode/domain';
import { classifyError, providerErrorOf } from './errors.js';
import { elements, isAbsentOr, members } from './json.js';
import { messageIdOf } from './messageId.js';
import { attemptNameOf } from './opaqueData.js';
import { timeOf } from './timestamp.js';

/**
 * The receipt in a status of a webhook, or null for one that reports on no message, or without a possible message id.
 *
 * @param phoneNumberId of the number that sent the message, by the webhook
 * @param numberPepper by which the recipient's number becomes keys
 */
export function receiptOf(
  status: Record<string, unknown>,
  phoneNumberId: unknown,
  numberPepper: Keyring,
): Receipt | null {
  const { id, status: name, type, timestamp, biz_opaque_callback_data: opaque, errors, pricing } = status;
  const { recipient_identity_key_hash: identityHash, recipient_id: recipient } = status;
  const messageId = messageIdOf(id);
  // This array also has the statuses of payments, which can be `failed` too.
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
            ...(isNumber(phoneNumberId) && { phoneNumberId }),
            ...(isNumber(recipient) && {
              recipientKeys: recipientKeys(numberPepper, canonicalNumber(`+${recipient}`)),
            }),
          }
        : null,
  };
}

/** Meta's are 8 bytes in base64. */
const isIdentityHash = (value: unknown): value is string =>
  typeof value === 'string' && /^[\w+/=-]{1,128}$/.test(value);

/** The words of a price are counted by, so there must not be endlessly many. */
const PRICE_WORD = /^\w{1,40}$/;

/** The price in a status, or null without a category. Source: Meta, "status messages webhook reference". */
function pricingOf(pricing: Record<string, unknown>): Pricing | null {
  const { category, type, billable, pricing_model: model } = pricing;
  const word = (value: unknown): string | null =>
    typeof value === 'string' && PRICE_WORD.test(value) ? value : null;
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

const isNumber = (value: unknown): value is string =>
  typeof value === 'string' && /^[0-9]{1,32}$/.test(value);
