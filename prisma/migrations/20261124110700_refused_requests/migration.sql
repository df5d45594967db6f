-- Requests of a known key that were refused, for fourteen days. Without foreign keys: their checks would lock the account's row, which
-- every creation takes, and keys and applications are never deleted.
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
  detail text,
  -- The names of the faulty fields; null where none is named.
  fields text[],
  -- SHA-256 of the bytes of the header; null without one.
  idempotency_key_hash bytea,
  constraint refused_requests_pkey primary key (request_id)
);
create index refused_requests_account on refused_requests (account_id, refused_at, request_id);
create index refused_requests_code on refused_requests (account_id, code, refused_at, request_id);
create index refused_requests_idempotency_key on refused_requests (account_id, idempotency_key_hash) where idempotency_key_hash is not null;
create index refused_requests_refused_at on refused_requests (refused_at);

-- All refusals by minute: of a flood only the first requests of a minute are kept above.
create table refused_request_counts (
  account_id uuid not null,
  minute timestamptz(3) not null,
  application_id uuid not null,
  code text not null,
  count bigint not null,
  last_refused_at timestamptz(3) not null,
  constraint refused_request_counts_pkey primary key (account_id, minute, application_id, code),
  constraint refused_request_counts_count_check check (count > 0)
);
create index refused_request_counts_minute on refused_request_counts (minute);
