import type { MessageCost, MessagePrice, MessagePrices, MonthlyCost } from '@onecode/store';

export type MonthlyCostView = MonthlyCost;
export type PriceView = MessagePrice;

/** What the provider charges an account for messages by its own senders. */
export interface OwnCostsView {
  /** Newest month first; without prices, which are the operator's. */
  costs: MonthlyCostView[];
}

export interface CostsView extends MessagePrices {
  /** Newest month first. */
  costs: MonthlyCostView[];
}

export const COST_COLUMNS = [
  'day',
  'country',
  'category',
  'type',
  'pricing_model',
  'billable',
  'messages',
  'free_sends',
  'credits',
  'account_id',
];

/** The messages of a day in the download, with `COST_COLUMNS`. */
export const costRow = (cost: MessageCost) => [
  cost.day,
  cost.country,
  cost.category,
  cost.type,
  cost.pricingModel,
  String(cost.billable),
  cost.messages,
  cost.freeSends,
  cost.credits,
  cost.accountId,
];
