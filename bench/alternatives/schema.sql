create table accounts (
  id uuid primary key,
  free_quota integer not null,
  credits integer not null,
  rate_per_minute integer not null
);

create table api_keys (
  id uuid primary key,
  account_id uuid not null references accounts,
  hash bytea not null unique
);

create table sends (
  id uuid primary key,
  account_id uuid not null references accounts,
  idempotency_key text,
  body_hash bytea,
  recipient text not null,
  code_hash bytea not null,
  encrypted_code bytea,
  status text not null default 'queued',
  created_at timestamptz(3) not null default now(),
  expires_at timestamptz(3) not null,
  unique (account_id, idempotency_key)
);
create index on sends (account_id, created_at);

create table ledger_entries (
  id bigserial primary key,
  account_id uuid not null references accounts,
  send_id uuid not null references sends,
  kind text not null,
  units integer not null,
  created_at timestamptz(3) not null default now(),
  unique (send_id, kind)
);
