import type { Denial } from '@onecode/domain';
import { members } from './json.js';
import { messageIdOf } from './messageId.js';
import { timeOf } from './timestamp.js';

/**
 * The denial in an incoming message: the button below a code by which a person says that they did not request it. It names our message in
 * `context.id`. Nothing else is read of what people write back.
 * Source: Meta, "Authentication templates", https://developers.facebook.com/documentation/business-messaging/whatsapp/templates/authentication-templates/authentication-templates
 *
 * @returns null for any other message
 */
export function denialOf({ type, button, context, timestamp }: Record<string, unknown>): Denial | null {
  if (type !== 'button' || members(button)['payload'] !== 'DID_NOT_REQUEST_CODE') return null;
  const messageId = messageIdOf(members(context)['id']);
  return messageId === null ? null : { messageId, occurredAt: timeOf(timestamp) };
}
