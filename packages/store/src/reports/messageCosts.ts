import type { Database } from '../client/database.js';

/** The delivered messages of a day (UTC) to a country that the provider prices alike, beside what customers paid for them. */
export interface MessageCost {
  /** `2026-11-23`. */
  day: string;
  /** `NO_COUNTRY` for numbers of no country. */
  country: string;
  /** The provider's words: `authentication`, `regular`, `PMP` for example. */
  category: string;
  type: string;
  /** Whether the provider charges for them. */
  billable: boolean;
  pricingModel: string;
  messages: number;
  /** Those of sends that took a free send or a credit. */
  freeSends: number;
  credits: number;
}

/** What the messages of the last days (UTC, today included) cost, newest day first. */
export async function listMessageCosts(database: Database, days: number): Promise<MessageCost[]> {
  return database.sql.query<MessageCost[]>`
    select to_char(day, 'YYYY-MM-DD') as day, country, category, type, billable, pricing_model as "pricingModel",
      messages::float8 as messages, free_sends::float8 as "freeSends", credits::float8 as credits
    from message_costs
    where day > (statement_timestamp() at time zone 'UTC')::date - ${days}::integer
    order by message_costs.day desc, country, category, type, billable, pricing_model`;
}
