-- The least that the hot paths need: the same guarantees and nothing else.
create table accounts (
  id uuid primary key,
  free_quota integer not null,
  credits integer not null,
  rate_per_minute integer not null,
  sends_created bigint not null default 0
);

create table api_keys (
  hash bytea primary key,
  account_id uuid not null references accounts
);

create type send_status as enum ('queued', 'sending', 'sent', 'delivered', 'read');

create table sends (
  id uuid primary key,
  account_id uuid not null references accounts,
  account_number bigint not null,
  idempotency_key text,
  body_hash bytea,
  recipient text not null,
  charged_from text not null,
  code_hash bytea not null,
  encrypted_code bytea,
  status send_status not null default 'queued',
  wrong_guesses smallint not null default 0,
  message_id text,
  next_enqueue_at timestamptz,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  sent_at timestamptz,
  delivered_at timestamptz,
  read_at timestamptz,
  verified_at timestamptz
);
create unique index on sends (account_id, idempotency_key) where idempotency_key is not null;
create unique index on sends (account_id, account_number);
create index on sends (next_enqueue_at) where next_enqueue_at is not null;

create table ledger_entries (
  id bigint primary key generated always as identity,
  account_id uuid not null references accounts,
  send_id uuid not null references sends,
  kind text not null,
  bucket text not null,
  unique (send_id, kind)
);

create table receipts (
  id bigint primary key generated always as identity,
  message_id text not null,
  send_id uuid,
  status send_status not null,
  occurred_at timestamptz not null,
  due_at timestamptz default now(),
  unique (message_id, status)
);
create index on receipts (due_at) where due_at is not null;

-- Checks the key, the idempotency key and the limit, takes a unit and inserts the send with its ledger entry, under the account's lock.
create function create_send(
  p_key_hash bytea, p_id uuid, p_idempotency_key text, p_body_hash bytea, p_recipient text, p_code_hash bytea, p_encrypted_code bytea,
  out outcome text, out send sends
) language plpgsql as $$
declare
  v_account accounts;
  v_charged_from text;
begin
  select a.* into v_account from accounts a
    where a.id = (select k.account_id from api_keys k where k.hash = p_key_hash) for no key update;
  if not found then
    outcome := 'invalid_api_key';
    return;
  end if;
  if p_idempotency_key is not null then
    select * into send from sends s where s.account_id = v_account.id and s.idempotency_key = p_idempotency_key;
    if found then
      outcome := case when send.body_hash = p_body_hash then 'existing' else 'reused' end;
      return;
    end if;
  end if;
  if exists (
    select from sends s where s.account_id = v_account.id
      and s.account_number = v_account.sends_created + 1 - v_account.rate_per_minute
      and s.created_at > clock_timestamp() - interval '1 minute'
  ) then
    outcome := 'rate_limited';
    return;
  end if;
  v_charged_from := case when v_account.free_quota > 0 then 'free_quota' when v_account.credits > 0 then 'credit' end;
  if v_charged_from is null then
    outcome := 'insufficient_credits';
    return;
  end if;
  update accounts set
    sends_created = sends_created + 1,
    free_quota = free_quota - (v_charged_from = 'free_quota')::integer,
    credits = credits - (v_charged_from = 'credit')::integer
    where id = v_account.id;
  insert into sends (
    id, account_id, account_number, idempotency_key, body_hash, recipient, charged_from, code_hash, encrypted_code, next_enqueue_at, created_at, expires_at
  ) values (
    p_id, v_account.id, v_account.sends_created + 1, p_idempotency_key, p_body_hash, p_recipient, v_charged_from, p_code_hash, p_encrypted_code,
    clock_timestamp() + interval '2 seconds', clock_timestamp(), clock_timestamp() + interval '10 minutes'
  ) returning * into send;
  insert into ledger_entries (account_id, send_id, kind, bucket) values (v_account.id, p_id, 'reserved', v_charged_from);
  outcome := 'created';
end
$$;
