-- Three defences against abuse. The release before this one runs on it: it writes none of the new columns and tables, and meets
-- the outcome `country_refused`, which it does not know, only once an account has a list of countries.

-- Null is off. A hundred is the most that NIST SP 800-63B-4, 3.2.2, allows.
alter table settings add column guess_budget integer default 100 check (guess_budget between 5 and 100);

-- Wrong codes in a row of a recipient, whatever send they were guesses at. A success deletes the row. Test and live stand apart,
-- so that playing in test mode locks nobody out.
create table guess_budgets (
  account_id uuid not null references accounts,
  mode text not null check (mode in ('test', 'live')),
  recipient text not null check (recipient ~ '^\+[1-9][0-9]{4,14}$'),
  wrong_in_a_row integer not null check (wrong_in_a_row > 0),
  last_wrong_at timestamptz(3) not null,
  primary key (account_id, mode, recipient)
);

alter table accounts
  -- Null is every country, and numbers of none.
  add column allowed_countries text[]
    check (array_to_string(allowed_countries, ',', '?') ~ '^[A-Z]{2}(,[A-Z]{2})*$'),
  -- Null is off.
  add column breaker_unverified_percent integer check (breaker_unverified_percent between 1 and 100),
  add column breaker_min_sends integer check (breaker_min_sends between 1 and 1000),
  add constraint breaker_is_whole check ((breaker_unverified_percent is null) = (breaker_min_sends is null));

-- The last time that an account was stopped from sending to a country. Numbers of no country are `ZZ`, which ISO 3166 leaves
-- to its users. A trip that is over stays, because only sends after its end are evidence for another.
create table breaker_trips (
  account_id uuid not null references accounts,
  country text not null check (country ~ '^[A-Z]{2}$'),
  tripped_at timestamptz(3) not null,
  open_until timestamptz(3) not null check (open_until >= tripped_at),
  sends integer not null,
  unverified integer not null check (unverified between 0 and sends),
  primary key (account_id, country)
);

-- Creates a send, or says why not. The account's row lock puts creations of one account in a line, so that the idempotency
-- key, the windows and the units are exact under any concurrency; a refusal writes nothing.
create or replace function create_send(
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

  -- A number of no country is on no list.
  if not coalesce(p_country = any (v_account.allowed_countries), v_account.allowed_countries is null) then
    outcome := 'country_refused';
    return;
  end if;

  select * into strict v_settings from settings;
  select * into strict v_application from applications where id = p_application_id and account_id = p_account_id;

  select max(w.opens_at) into v_open_at from (
    -- Each window opens again when the nth latest send leaves it; the numbers make that one index probe.
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
    union all
    -- No time resets a guess budget that is used up: an hour is when to ask again, not when it will be granted.
    select now + interval '1 hour' from guess_budgets b
      where v_settings.guess_budget is not null
        and b.account_id = p_account_id and b.mode = v_application.mode and b.recipient = p_recipient
        and b.wrong_in_a_row >= v_settings.guess_budget
    union all
    select t.open_until from breaker_trips t
      where v_account.breaker_unverified_percent is not null and v_application.mode = 'live'
        and t.account_id = p_account_id and t.country = coalesce(p_country, 'ZZ')
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
