import { audited, changedFields, type Actor } from '../operations/audit.js';
import type { Connection, Database } from '../client/database.js';
import { OPERATOR } from '../sends/updateSends.js';

/** The delivered messages of a day (UTC) to a country with the same price category, and the units that customers paid for them. */
export interface MessageCost {
  /** `2026-11-23`. */
  day: string;
  /** `NO_COUNTRY` for numbers without a country. */
  country: string;
  /** The provider's terms, for example `authentication`, `regular`, `PMP`. */
  category: string;
  type: string;
  /** Whether the provider charges for them. */
  billable: boolean;
  pricingModel: string;
  /** The owner of the sender, charged by the provider; null if it charges the operator. */
  accountId: string | null;
  messages: number;
  /** How many of the messages used a free send or a credit. */
  freeSends: number;
  credits: number;
}

/** Returns the costs of the messages of the last days (UTC, including today), newest day first. */
export async function listMessageCosts(database: Database, days: number): Promise<MessageCost[]> {
  return database.sql.query<MessageCost[]>`
    select to_char(day, 'YYYY-MM-DD') as day, country, category, type, billable, pricing_model as "pricingModel",
      nullif(payer, ${OPERATOR}::uuid) as "accountId", messages::float8 as messages, free_sends::float8 as "freeSends", credits::float8 as credits
    from message_costs
    where day > (statement_timestamp() at time zone 'UTC')::date - ${days}::integer
    order by message_costs.day desc, country, category, type, billable, pricing_model, payer`;
}

export interface MonthlyCost {
  /** `2026-11`. */
  month: string;
  country: string;
  messages: number;
  /** The messages that the provider charges for. */
  charged: number;
  /** The price of one message, in the currency of the prices; null if the operator has set none. */
  price: number | null;
  /** The price of all charged messages; null if there are some but no price. */
  amount: number | null;
  freeSends: number;
  credits: number;
}

/**
 * Returns the costs of the messages of the last months, including this one: newest month first, then the most expensive.
 *
 * @param payer the owner of the senders that sent the messages, or `OPERATOR` for senders without an account. Prices are the operator's
 */
export async function listMonthlyCosts(
  { sql }: Database,
  months: number,
  payer: string = OPERATOR,
): Promise<MonthlyCost[]> {
  return sql.query<MonthlyCost[]>`
    with by_month as (
      select date_trunc('month', day)::date as month, country, sum(messages) as messages,
        coalesce(sum(messages) filter (where billable), 0) as charged, sum(free_sends) as free_sends, sum(credits) as credits
      from message_costs
      where day >= date_trunc('month', statement_timestamp() at time zone 'UTC') - make_interval(months => ${months - 1}::integer)
        and payer = ${payer}::uuid
      group by 1, 2
    )
    select to_char(m.month, 'YYYY-MM') as month, m.country, m.messages::float8 as messages, m.charged::float8 as charged,
      p.price::float8 as price, case when m.charged = 0 then 0 else (m.charged * p.price)::float8 end as amount,
      m.free_sends::float8 as "freeSends", m.credits::float8 as credits
    from by_month m left join lateral (
      select l.price from settings, jsonb_to_recordset(message_prices) as l (country text, since text, price numeric)
      where l.country = m.country and l.since <= to_char(m.month, 'YYYY-MM') order by l.since desc limit 1
    ) p on ${payer}::uuid = ${OPERATOR}::uuid
    order by m.month desc, amount desc nulls first, m.messages desc, m.country`;
}

/** The provider's price of a message to a country from a month on, as set by an operator. */
export interface MessagePrice {
  country: string;
  /** The first month, such as `2026-11`. */
  since: string;
  price: number;
}

export interface MessagePrices {
  /** The ISO 4217 code of all prices; null without prices. */
  currency: string | null;
  /** By country, newest first. */
  prices: MessagePrice[];
}

export const PRICE_MAX = 1_000;

/** Returns all prices of messages. */
export async function readMessagePrices({ sql }: Connection): Promise<MessagePrices> {
  const [read] = await sql.query<[MessagePrices]>`
    select price_currency as currency, message_prices as prices from settings`;
  return read;
}

/** Sets a price from a month on, or removes it with null, so that the previous price applies. Earlier months keep theirs. */
export async function setMessagePrice(
  database: Database,
  actor: Actor,
  {
    country,
    since,
    price,
    currency,
  }: Omit<MessagePrice, 'price'> & { price: number | null; currency: string },
): Promise<void> {
  await audited(database, actor, async (connection, log) => {
    await connection.sql.execute`select from settings for no key update`;
    const before = await readMessagePrices(connection);
    const isSame = (one: MessagePrice): boolean => one.country === country && one.since === since;
    const others = before.prices.filter((one) => !isSame(one));
    const prices = [...others, ...(price === null ? [] : [{ country, since, price }])].toSorted(
      (one, other) => one.country.localeCompare(other.country) || other.since.localeCompare(one.since),
    );
    await connection.sql.execute`
      update settings set price_currency = ${currency}, message_prices = ${JSON.stringify(prices)}::jsonb`;
    const was = { currency: before.currency, price: before.prices.find(isSame)?.price ?? null };
    const changed = changedFields(was, { currency, price });
    const details = { ...changed, country, month: since };
    if (changed !== null) await log({ action: 'settings.price', subject: country, details });
  });
}
