-- contract: since 0.9.0: refused requests and their counts are one table
-- Requests of known keys that were refused, for fourteen days. Without foreign keys: their checks would lock the account's row, which
-- every creation takes.
drop table refused_request_counts;
drop table refused_requests;
create table refused_requests (
  request_id uuid not null,
  account_id uuid not null,
  application_id uuid not null,
  key_id uuid not null,
  refused_at timestamptz(3) not null,
  -- Method and pattern, never the path itself.
  route text not null,
  status smallint not null,
  code text not null,
  detail text not null,
  -- The names of the faulty fields.
  fields text[],
  -- SHA-256 of the bytes of the header; null without one.
  idempotency_key_hash bytea,
  -- How many refusals the row counts for: its own and, of a flood, those that followed for the same reason.
  count integer not null,
  constraint refused_requests_pkey primary key (request_id),
  constraint refused_requests_count_check check (count > 0)
);
create index refused_requests_account on refused_requests (account_id, refused_at, request_id);
create index refused_requests_refused_at on refused_requests (refused_at);
