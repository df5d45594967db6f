import type { EventDelivery, EventWebhook } from '@onecode/store/mails';
import type { Json } from '../../http/json.js';

/** An account's webhook and its latest events, newest first. */
export type WebhookView = Json<{ webhook: EventWebhook | null; deliveries: EventDelivery[] }>;

export type DeliveryView = WebhookView['deliveries'][number];

/** The new secret of a webhook, returned only once. Null if the secret did not change. */
export interface WebhookSecretView {
  secret: string | null;
}
