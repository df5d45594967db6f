import { audited, changedFields, type Actor } from '../operations/audit.js';
import type { Connection, Database } from '../client/database.js';

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
    select price_currency as currency, (
      select coalesce(jsonb_agg(jsonb_build_object('country', country, 'since', to_char(since, 'YYYY-MM'), 'price', price)
        order by country, message_prices.since desc), '[]') from message_prices
    ) as prices
    from settings`;
  return read;
}

/** A price to set. Null removes it, so that the previous price applies. */
export interface NewMessagePrice {
  country: string;
  /** `2026-11`. */
  since: string;
  price: number | null;
  /** The currency of this and all other prices. */
  currency: string;
}

/** Sets a price from a month on. Earlier months keep theirs. */
export async function setMessagePrice(
  database: Database,
  actor: Actor,
  { country, since, price, currency }: NewMessagePrice,
): Promise<void> {
  await audited(database, actor, async (connection, log) => {
    const { sql } = connection;
    await sql.execute`select from settings for no key update`;
    const before = await readMessagePrices(connection);
    await sql.execute`update settings set price_currency = ${currency}`;
    if (price === null)
      await sql.execute`
        delete from message_prices where country = ${country} and since = to_date(${since}, 'YYYY-MM')`;
    else
      await sql.execute`
        insert into message_prices (country, since, price) values (${country}, to_date(${since}, 'YYYY-MM'), ${price}::numeric)
        on conflict (country, since) do update set price = excluded.price`;
    const of = ({ currency, prices }: MessagePrices) => ({
      currency,
      price: prices.find((one) => one.country === country && one.since === since)?.price ?? null,
    });
    const changed = changedFields(of(before), of(await readMessagePrices(connection)));
    const details = { ...changed, country, month: since };
    if (changed !== null) await log({ action: 'settings.price', subject: country, details });
  });
}
