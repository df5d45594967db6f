-- What was sent, what came of it and what the webhook got, counted in spans of ten seconds for health findings and metrics. The counts of
-- older spans are added up in one that began at '-infinity'.
create table traffic_counts (
  began_at timestamptz(3) not null,
  event text not null,
  country text not null,
  sender_id text not null,
  reason text not null,
  count bigint not null,
  constraint traffic_counts_pkey primary key (began_at, event, country, sender_id, reason),
  constraint traffic_counts_count_check check (count > 0)
);

-- The last reading of the whole service's health, which all API processes share.
create table health_readings (
  id boolean default true not null,
  read_at timestamptz(3) not null,
  reading jsonb not null,
  constraint health_readings_pkey primary key (id),
  constraint health_readings_id_check check (id)
);
