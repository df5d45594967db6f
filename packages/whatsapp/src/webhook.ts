import type { Denial, Receipt } from '@onecode/domain';
import { denialOf } from './denials.js';
import { elements, isAbsentOr, members, parseJson } from './json.js';
import { receiptOf } from './receipts.js';

/** The body of a webhook is not JSON. The message does not repeat it, because it may contain personal data. */
export class UnreadableWebhook extends Error {
  override readonly name = 'UnreadableWebhook';

  constructor() {
    super('The body of the webhook is not JSON.');
  }
}

/** What a webhook reports, in its order, with duplicates. */
export interface WebhookReports {
  receipts: Receipt[];
  denials: Denial[];
}

/**
 * The reports in the raw body of a webhook. Other objects, fields and members are ignored, and so is what people write back.
 *
 * @throws {UnreadableWebhook} only if the body is not JSON.
 */
export function parseWebhook(rawBody: Buffer): WebhookReports {
  const parsed = parseJson(new TextDecoder().decode(rawBody));
  if (parsed === undefined) throw new UnreadableWebhook();
  const post = members(parsed);
  if (!isAbsentOr(post['object'], 'whatsapp_business_account')) return { receipts: [], denials: [] };
  const values = elements(post['entry'])
    .flatMap((entry) => elements(members(entry)['changes']))
    .map(members)
    .filter((change) => isAbsentOr(change['field'], 'messages'))
    .map((change) => members(change['value']));
  return {
    receipts: values
      .flatMap((value) => elements(value['statuses']))
      .flatMap((status) => receiptOf(members(status)) ?? []),
    denials: values
      .flatMap((value) => elements(value['messages']))
      .flatMap((message) => denialOf(members(message)) ?? []),
  };
}
