import { newMessageId } from './identity.js';
import type { Message } from './messages.js';
import type { SenderProfile } from './senders.js';

const DID_NOT_REQUEST_CODE = 'DID_NOT_REQUEST_CODE';

/**
 * The webhook of the button below a code by which a person says that they did not ask for it.
 * Source: https://developers.facebook.com/documentation/business-messaging/whatsapp/templates/authentication-templates/authentication-templates
 */
export function didNotRequestCode(message: Message, sender: SenderProfile, identityKeyHash: string) {
  const text = message.language.startsWith('pt') ? 'Não solicitei um código' : "I didn't request a code";
  return replyWebhook(message, sender, identityKeyHash, {
    context: { from: sender.displayPhoneNumber, id: message.id },
    from_logical_id: '131063108133020',
    type: 'button',
    button: { payload: DID_NOT_REQUEST_CODE, text },
  });
}

/** The webhook of a text that a person writes back. */
export function textReply(message: Message, sender: SenderProfile, identityKeyHash: string, body: string) {
  return replyWebhook(message, sender, identityKeyHash, { type: 'text', text: { body } });
}

function replyWebhook(
  { waId }: Message,
  sender: SenderProfile,
  identityKeyHash: string,
  parts: Record<string, unknown>,
) {
  const { context, ...rest } = parts;
  const reply = {
    ...(context === undefined ? {} : { context }),
    from: waId,
    id: newMessageId(waId),
    timestamp: String(Math.floor(Date.now() / 1000)),
    ...rest,
  };
  const value = {
    messaging_product: 'whatsapp',
    metadata: { display_phone_number: sender.displayPhoneNumber, phone_number_id: sender.phoneNumberId },
    contacts: [
      {
        profile: { name: 'Ana' },
        wa_id: waId,
        ...(sender.identityKeyCheck ? { identity_key_hash: identityKeyHash } : {}),
      },
    ],
    messages: [reply],
  };
  return {
    object: 'whatsapp_business_account',
    entry: [{ id: sender.wabaId, changes: [{ value, field: 'messages' }] }],
  };
}
