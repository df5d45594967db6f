import type { CsvColumns } from '../../http/csv.js';
import type { MessageCost, MessagePrice, MessagePrices, MonthlyCost } from '@onecode/store/reports';

export type MonthlyCostView = MonthlyCost;
export type PriceView = MessagePrice;

/** What the provider charges an account for messages from its own senders. */
export interface OwnCostsView {
  /** Newest month first; without prices, which are the operator's. */
  costs: MonthlyCostView[];
}

export interface CostsView extends MessagePrices {
  /** Newest month first. */
  costs: MonthlyCostView[];
}

/** The messages of a day in the download. */
export const COST_COLUMNS: CsvColumns<MessageCost> = {
  day: (cost) => cost.day,
  country: (cost) => cost.country,
  category: (cost) => cost.category,
  type: (cost) => cost.type,
  pricing_model: (cost) => cost.pricingModel,
  billable: (cost) => String(cost.billable),
  messages: (cost) => cost.messages,
  free_sends: (cost) => cost.freeSends,
  credits: (cost) => cost.credits,
  account_id: (cost) => cost.accountId,
};
