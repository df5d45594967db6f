import type { MessageCost } from '@onecode/store';

export type CostView = MessageCost;

export interface CostsView {
  /** Newest day first. */
  costs: CostView[];
}
