create table settings (
  id boolean primary key default true check (id),
  free_sends integer not null default 10 check (free_sends between 0 and 1000000),
  -- Ninety minutes is the longest expiry that the provider lets a template state.
  code_validity_seconds integer not null default 600 check (code_validity_seconds between 1 and 5400),
  account_rate_per_minute integer not null default 600 check (account_rate_per_minute between 1 and 1000000)
);
insert into settings default values;

create table accounts (
  id uuid primary key,
  name text not null check (length(name) between 1 and 200),
  language text not null check (language in ('pt-BR', 'en')),
  free_quota integer not null check (free_quota >= 0),
  credits integer not null default 0 check (credits >= 0),
  rate_per_minute integer check (rate_per_minute between 1 and 1000000),
  sends_created bigint not null default 0,
  created_at timestamptz(3) not null default now()
);

create table applications (
  id uuid primary key,
  account_id uuid not null references accounts,
  name text not null check (length(name) between 1 and 200),
  mode text not null check (mode in ('test', 'live')),
  per_minute integer check (per_minute between 1 and 1000000),
  per_recipient_hour integer check (per_recipient_hour between 1 and 1000000),
  sends_created bigint not null default 0,
  created_at timestamptz(3) not null default now(),
  unique (id, account_id, mode)
);
create index applications_account_id_idx on applications (account_id);

create table api_keys (
  id uuid primary key,
  application_id uuid not null references applications,
  hash bytea not null unique check (octet_length(hash) = 32),
  hint text not null,
  created_at timestamptz(3) not null default now(),
  revoked_at timestamptz(3)
);
create index api_keys_application_id_idx on api_keys (application_id);

create table senders (
  id uuid primary key,
  phone_number_id text not null unique check (phone_number_id ~ '^[0-9]{1,32}$'),
  number text not null check (number ~ '^\+[1-9][0-9]{4,14}$'),
  token_box bytea not null,
  template text not null check (template ~ '^[a-z0-9_]+$' and length(template) <= 512),
  english text not null check (english in ('en', 'en_US')),
  faults integer not null default 0 check (faults >= 0),
  paused_at timestamptz(3),
  paused_until timestamptz(3),
  pause_reason text,
  created_at timestamptz(3) not null default now(),
  check ((paused_at is null) = (pause_reason is null)),
  check (paused_at is not null or paused_until is null)
);

create table sender_country_blocks (
  sender_id uuid not null references senders,
  country text not null check (country ~ '^[A-Z]{2}$'),
  blocked_until timestamptz(3) not null,
  error_code integer,
  primary key (sender_id, country)
);

create table sends (
  id uuid primary key,
  account_id uuid not null references accounts,
  application_id uuid not null,
  mode text not null,
  account_number bigint not null,
  application_number bigint not null,
  idempotency_key bytea check (octet_length(idempotency_key) between 1 and 255),
  body_hash bytea check (octet_length(body_hash) = 32),
  recipient text not null check (recipient ~ '^\+[1-9][0-9]{4,14}$'),
  country text check (country ~ '^[A-Z]{2}$'),
  locale text not null check (locale in ('pt-BR', 'en')),
  unit text check (unit in ('free_quota', 'credit')),
  code_hash bytea not null check (octet_length(code_hash) = 33),
  code_box bytea,
  status text not null default 'queued'
    check (status in ('queued', 'sending', 'sent', 'delivered', 'read', 'failed')),
  verification text not null default 'pending' check (verification in ('pending', 'verified', 'locked')),
  wrong_guesses smallint not null default 0 check (wrong_guesses between 0 and 5),
  channel text,
  from_number text,
  sender_id uuid references senders,
  attempts smallint not null default 0 check (attempts >= 0),
  attempt_id uuid,
  receipt_until timestamptz(3),
  awaiting_sender boolean not null default false,
  due_at timestamptz(3),
  ring_at timestamptz(3),
  created_at timestamptz(3) not null,
  expires_at timestamptz(3) not null check (expires_at > created_at),
  sent_at timestamptz(3),
  delivered_at timestamptz(3),
  read_at timestamptz(3),
  verified_at timestamptz(3),
  failed_at timestamptz(3),
  failure_reason text
    check (failure_reason in ('expired_before_delivery', 'attempts_exhausted', 'rejected_by_provider')),
  version integer not null default 0,

  foreign key (application_id, account_id, mode) references applications (id, account_id, mode),
  constraint idempotency_key_with_body check ((idempotency_key is null) = (body_hash is null)),
  constraint live_takes_a_unit check ((mode = 'live') = (unit is not null)),
  constraint test_has_no_box check (mode = 'live' or code_box is null),
  constraint box_only_while_needed check (code_box is null or status in ('queued', 'sending')),
  constraint box_while_needed check (mode = 'test' or code_box is not null or status not in ('queued', 'sending')),
  constraint channel_fits_mode check (channel = case mode when 'test' then 'sandbox' else 'whatsapp' end),
  constraint channel_once_routed check (status = 'failed' or (status = 'queued') = (channel is null)),
  constraint sender_fits_channel check (
    (channel is not distinct from 'whatsapp') = (from_number is not null)
    and (from_number is null) = (sender_id is null)
  ),
  constraint test_is_queued_or_read check (mode = 'live' or status in ('queued', 'read')),
  constraint state_says_when check (
    (status <> 'sent' or sent_at is not null)
    and (status <> 'delivered' or delivered_at is not null)
    and (status <> 'read' or read_at is not null)
    and (mode = 'live' or status <> 'read' or (sent_at is not null and delivered_at is not null))
  ),
  constraint times_in_order check (
    coalesce(sent_at >= created_at, true)
    and coalesce(delivered_at >= coalesce(sent_at, created_at), true)
    and coalesce(read_at >= coalesce(delivered_at, sent_at, created_at), true)
  ),
  constraint only_waiting_sends_await check (not awaiting_sender or status in ('queued', 'sending')),
  constraint failed_says_why check (
    (status = 'failed') = (failed_at is not null) and (status = 'failed') = (failure_reason is not null)
  ),
  constraint verified_says_when check ((verification = 'verified') = (verified_at is not null)),
  constraint locked_after_five check ((verification = 'locked') = (wrong_guesses = 5)),
  constraint verified_in_time check (verified_at is null or verified_at < expires_at),
  -- No send that nothing will ever ring again.
  constraint waiting_is_rung check ((status in ('queued', 'sending')) = (due_at is not null)),
  constraint due_is_rung check ((due_at is null) = (ring_at is null))
);
create unique index sends_idempotency_key on sends (application_id, idempotency_key) where idempotency_key is not null;
create unique index sends_account_number on sends (account_id, account_number);
create unique index sends_application_number on sends (application_id, application_number);
create index sends_recipient_window on sends (application_id, recipient, created_at);
create index sends_ring_at on sends (ring_at) where ring_at is not null;
create index sends_awaiting_sender on sends (created_at) where awaiting_sender;

create table attempts (
  id uuid primary key,
  send_id uuid not null references sends,
  sender_id uuid references senders,
  outcome text check (outcome in ('accepted', 'retry', 'unknown', 'sender', 'recipient', 'config')),
  error_code integer,
  message_id text,
  started_at timestamptz(3) not null default clock_timestamp(),
  finished_at timestamptz(3),
  check ((outcome is null) = (finished_at is null))
);
create index attempts_send_id_idx on attempts (send_id);
create index attempts_message_id_idx on attempts (message_id) where message_id is not null;

create table ledger_entries (
  id bigint primary key generated always as identity,
  account_id uuid not null references accounts,
  send_id uuid references sends,
  kind text not null check (kind in ('granted', 'reserved', 'returned')),
  bucket text not null check (bucket in ('free_quota', 'credit')),
  units integer not null check (units > 0),
  reason text,
  created_at timestamptz(3) not null default clock_timestamp(),
  check ((kind = 'granted') = (send_id is null)),
  check (send_id is null or units = 1)
);
-- One reservation and one return for a send, whatever the code does.
create unique index ledger_entries_once on ledger_entries (send_id, kind) where send_id is not null;
create index ledger_entries_account_id_idx on ledger_entries (account_id, id);

create table receipts (
  id bigint primary key generated always as identity,
  message_id text not null,
  attempt_id uuid,
  status text not null check (status in ('sent', 'delivered', 'read', 'failed')),
  occurred_at timestamptz(3) not null,
  failure jsonb,
  received_at timestamptz(3) not null default now(),
  due_at timestamptz(3) default now(),
  tries integer not null default 0,
  result text check (result in ('applied', 'ignored', 'unmatched')),
  check ((due_at is null) = (result is not null))
);
create unique index receipts_once on receipts (message_id, status);
create index receipts_due_at on receipts (due_at) where due_at is not null;
create index receipts_received_at on receipts (received_at);

-- Creates a send, or says why not. The account's row lock puts creations of one account in a line, so that the idempotency
-- key, the windows and the units are exact under any concurrency; a refusal writes nothing.
create function create_send(
  p_id uuid,
  p_account_id uuid,
  p_application_id uuid,
  p_idempotency_key bytea,
  p_body_hash bytea,
  p_recipient text,
  p_country text,
  p_locale text,
  p_code_hash bytea,
  p_code_box bytea,
  out outcome text,
  out retry_after_seconds integer,
  out now timestamptz,
  out send sends
) language plpgsql as $$
declare
  v_account accounts;
  v_application applications;
  v_settings settings;
  v_open_at timestamptz;
  v_unit text;
begin
  select * into strict v_account from accounts where id = p_account_id for no key update;
  -- After the lock, so that numbers and times of one account grow together.
  now := clock_timestamp();

  if p_idempotency_key is not null then
    select * into send from sends s
      where s.application_id = p_application_id and s.idempotency_key = p_idempotency_key;
    if found then
      outcome := case when send.body_hash = p_body_hash then 'existing' else 'reused' end;
      return;
    end if;
  end if;

  select * into strict v_settings from settings;
  select * into strict v_application from applications where id = p_application_id and account_id = p_account_id;

  -- Each window opens again when the nth latest send leaves it; the numbers make that one index probe.
  select max(w.opens_at) into v_open_at from (
    select s.created_at + interval '1 minute' as opens_at from sends s
      where s.account_id = p_account_id
        and s.account_number = v_account.sends_created + 1 - coalesce(v_account.rate_per_minute, v_settings.account_rate_per_minute)
    union all
    select s.created_at + interval '1 minute' from sends s
      where v_application.per_minute is not null
        and s.application_id = p_application_id
        and s.application_number = v_application.sends_created + 1 - v_application.per_minute
    union all
    (select s.created_at + interval '1 hour' from sends s
      where v_application.per_recipient_hour is not null
        and s.application_id = p_application_id
        and s.recipient = p_recipient
      order by s.created_at desc
      offset coalesce(v_application.per_recipient_hour, 1) - 1 limit 1)
  ) w;
  if v_open_at > now then
    outcome := 'rate_limited';
    retry_after_seconds := ceil(extract(epoch from v_open_at - now));
    return;
  end if;

  if v_application.mode = 'live' then
    v_unit := case when v_account.free_quota > 0 then 'free_quota' when v_account.credits > 0 then 'credit' end;
    if v_unit is null then
      outcome := 'insufficient_credits';
      return;
    end if;
  end if;

  update accounts set
    sends_created = sends_created + 1,
    free_quota = free_quota - (v_unit is not distinct from 'free_quota')::integer,
    credits = credits - (v_unit is not distinct from 'credit')::integer
    where id = p_account_id;
  update applications set sends_created = sends_created + 1 where id = p_application_id;
  insert into sends (
    id, account_id, application_id, mode, account_number, application_number, idempotency_key, body_hash,
    recipient, country, locale, unit, code_hash, code_box, due_at, ring_at, created_at, expires_at
  ) values (
    p_id, p_account_id, p_application_id, v_application.mode, v_account.sends_created + 1, v_application.sends_created + 1,
    p_idempotency_key, p_body_hash, p_recipient, p_country, coalesce(p_locale, v_account.language), v_unit,
    p_code_hash, p_code_box, now, now + interval '2 seconds', now,
    now + make_interval(secs => v_settings.code_validity_seconds)
  ) returning * into send;
  if v_unit is not null then
    insert into ledger_entries (account_id, send_id, kind, bucket, units)
      values (p_account_id, p_id, 'reserved', v_unit, 1);
  end if;
  outcome := 'created';
end
$$;
