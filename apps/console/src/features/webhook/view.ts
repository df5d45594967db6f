import type { EventDelivery, EventWebhook } from '@onecode/store/mails';
import type { Json } from '../../http/json.js';

/** An account's webhook for its events, and the latest of them, the newest first. */
export type WebhookView = Json<{ webhook: EventWebhook | null; deliveries: EventDelivery[] }>;

export type DeliveryView = WebhookView['deliveries'][number];

/** The secret of a new webhook, or the new secret of one; it is shown once. Null for a webhook that keeps its own. */
export interface WebhookSecretView {
  secret: string | null;
}
