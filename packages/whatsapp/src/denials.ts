import type { Denial } from '@onecode/domain';
import { members } from './json.js';
import { messageIdOf } from './messageId.js';
import { timeOf } from './timestamp.js';

/**
 * Returns the denial in an incoming message: a press of the button "I didn't request a code". `context.id` is the id of the message with
 * the code. Other incoming messages are not read.
 * Source: Meta, "Authentication templates",
 * https://developers.facebook.com/documentation/business-messaging/whatsapp/templates/authentication-templates/authentication-templates
 *
 * @returns null for any other message
 */
export function denialOf({ type, button, context, timestamp }: Record<string, unknown>): Denial | null {
  if (type !== 'button' || members(button)['payload'] !== 'DID_NOT_REQUEST_CODE') return null;
  const messageId = messageIdOf(members(context)['id']);
  return messageId === null ? null : { messageId, occurredAt: timeOf(timestamp) };
}
