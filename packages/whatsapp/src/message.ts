import { hash } from 'node:crypto';
import type { AttemptName } from '@onecode/domain';

/** A code for a recipient. `to` is E.164 with `+`; `language` is the template's, such as `pt_BR`. */
export interface AuthenticationMessage {
  to: string;
  code: string;
  template: string;
  language: string;
  /** Returned in receipts as opaque data. */
  attempt: AttemptName;
  /** Meta's hash of the expected owner: the message is delivered only to them. Null delivers it to the current owner of the number. */
  identityHash: string | null;
}

/**
 * Returns the body of `POST /{phone number id}/messages` for an authentication template with a copy-code, one-tap or zero-tap button.
 *
 * The body contains the code twice. The button's `sub_type` is `url` although the template's button is a code button: Meta refuses
 * `copy_code` here (132018). Source: Meta, "Copy code button authentication templates".
 */
export function messageBody(message: AuthenticationMessage) {
  const parameters = [{ type: 'text', text: message.code }];
  return {
    messaging_product: 'whatsapp',
    recipient_type: 'individual',
    to: message.to,
    ...(message.identityHash !== null && { recipient_identity_key_hash: message.identityHash }),
    type: 'template',
    template: {
      name: message.template,
      language: { code: message.language },
      components: [
        { type: 'body', parameters },
        { type: 'button', sub_type: 'url', index: '0', parameters },
      ],
    },
    // Meta repeats this in the message's receipts: see `attemptNameOf`.
    biz_opaque_callback_data: `${message.attempt.sendId}.${message.attempt.number}`,
  };
}

const OPAQUE_DATA = /^([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\.([1-9][0-9]{0,4})$/;
const NUMBER_MAX = 32_767;

/** Returns the attempt in a `biz_opaque_callback_data`; null for any other value. */
export function attemptNameOf(value: unknown): AttemptName | null {
  const [, sendId, digits] = (typeof value === 'string' ? OPAQUE_DATA.exec(value) : null) ?? [];
  const number = Number(digits);
  return sendId === undefined || number > NUMBER_MAX ? null : { sendId, number };
}

const MESSAGE_ID_CHARACTERS_MAX = 512;

/**
 * Returns the SHA-256 of Meta's message id, in base64url. The id itself contains the recipient's number in base64, and its 72 random bits
 * make the hash irreversible. (Observed in ids of the Cloud API; Meta does not document their form.)
 *
 * @returns null unless the value is a string of 1 to 512 characters without control characters and without lone surrogates. UTF-8 cannot
 * encode lone surrogates, so different ids would get the same hash.
 */
export function messageIdOf(value: unknown): string | null {
  const isMessageId =
    typeof value === 'string' &&
    value.length > 0 &&
    value.length <= MESSAGE_ID_CHARACTERS_MAX &&
    !/[\p{Cc}\p{Cs}]/u.test(value);
  return isMessageId ? hash('sha256', value, 'base64url') : null;
}
