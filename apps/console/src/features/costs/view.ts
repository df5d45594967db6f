import type { MessageCost, MessagePrice, MessagePrices, MonthlyCost } from '@onecode/store';

export type MonthlyCostView = MonthlyCost;
export type PriceView = MessagePrice;

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
];
