import type { Denial, Keyring, ProviderChange, Receipt } from '@onecode/domain';
import { changesOf } from './changes.js';
import { elements, isAbsentOr, isMetaId, members, parseJson, timeOf } from './json.js';
import { messageIdOf } from './message.js';
import { receiptOf } from './receipts.js';

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
 * are not denials.
 *
 * @param numberPepper hashes recipients' numbers, which no report contains
 * @returns null if the body is not JSON
 */
export function parseWebhook(rawBody: Buffer, numberPepper: Keyring): WebhookReports | null {
  const parsed = parseJson(new TextDecoder().decode(rawBody));
  if (parsed === undefined) return null;
  const post = members(parsed);
  const isOurs = isAbsentOr(post['object'], 'whatsapp_business_account');
  const entries = isOurs ? elements(post['entry']).map(members) : [];
  const messages = entries.flatMap((entry) =>
    elements(entry['changes'])
      .map(members)
      .filter((change) => isAbsentOr(change['field'], 'messages'))
      .map((change) => ({ businessAccountId: entry['id'], value: members(change['value']) })),
  );
  const values = messages.map(({ value }) => value);
  return {
    receipts: values.flatMap(({ metadata, statuses }) =>
      elements(statuses).flatMap(
        (status) => receiptOf(members(status), members(metadata)['phone_number_id'], numberPepper) ?? [],
      ),
    ),
    denials: values
      .flatMap((value) => elements(value['messages']))
      .flatMap((message) => denialOf(members(message)) ?? []),
    changes: entries.flatMap(changesOf),
    businessAccounts: new Map(
      messages.flatMap(({ businessAccountId, value }) => {
        const phoneNumberId = members(value['metadata'])['phone_number_id'];
        return isMetaId(phoneNumberId) && isMetaId(businessAccountId)
          ? [[phoneNumberId, businessAccountId]]
          : [];
      }),
    ),
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
