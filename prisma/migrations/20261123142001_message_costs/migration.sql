-- What the provider says a message costs, in its receipts.
alter table receipts add column pricing jsonb;

-- Messages counted by day (UTC), country and price.
create table message_costs (
  day date not null,
  -- 'ZZ' for numbers of no country.
  country text not null,
  category text not null,
  type text not null,
  billable boolean not null,
  pricing_model text not null,
  messages bigint not null,
  delivered bigint not null,
  free_sends bigint not null,
  credits bigint not null,
  primary key (day, country, category, type, billable, pricing_model)
);

-- Which messages are counted already, as priced and as delivered: their receipts repeat for seven days.
create table counted_messages (
  attempt_id uuid not null,
  is_delivery boolean not null,
  primary key (attempt_id, is_delivery)
);
