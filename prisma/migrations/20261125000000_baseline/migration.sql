-- The database of the first release. Tables and columns are described in schema.prisma, functions in functions/; the comments here are
-- about the rest.

-- ── What operators set ───────────────────────────────────────────────────────────────────────────────────────────────────────────

create table settings (
  id boolean primary key default true check (id),
  free_sends integer not null default 10 check (free_sends between 0 and 1000000),
  -- Ninety minutes is the longest expiry that the provider allows in a template.
  code_validity_seconds integer not null default 600 check (code_validity_seconds between 1 and 5400),
  account_rate_per_minute integer not null default 600 check (account_rate_per_minute between 1 and 1000000),
  -- A hundred is the maximum of NIST SP 800-63B-4, 3.2.2.
  guess_budget integer default 100 check (guess_budget between 5 and 100),
  trial_sends_per_day integer not null default 500 check (trial_sends_per_day between 0 and 1000000),
  -- Twice the free sends, and low enough that one network's sign-ups per day cannot exhaust the shared limit.
  trial_account_sends_per_day integer not null default 20 check (trial_account_sends_per_day between 0 and 1000000),
  sign_ups_per_network_day integer not null default 20 check (sign_ups_per_network_day between 1 and 1000000),
  sign_ups_per_domain_day integer not null default 100 check (sign_ups_per_domain_day between 1 and 1000000),
  staff_two_factor text not null default 'optional' check (staff_two_factor in ('optional', 'required')),
  price_currency text check (price_currency ~ '^[A-Z]{3}$'),
  message_prices jsonb not null default '[]',
  retain_numbers_days integer default 90 check (retain_numbers_days between 1 and 3650),
  retain_sends_days integer check (retain_sends_days between 30 and 3650),
  mail_from text,
  trial_sends_on date not null default '1970-01-01',
  trial_sends_of_day integer not null default 0 check (trial_sends_of_day >= 0)
);
insert into settings default values;

-- ── Accounts, applications and keys ──────────────────────────────────────────────────────────────────────────────────────────────

create table accounts (
  id uuid primary key,
  name text not null,
  language text not null,
  free_quota integer not null,
  credits integer not null default 0,
  rate_per_minute integer,
  sends_created bigint not null default 0,
  minute_sends json not null default '[]',
  created_at timestamptz(3) not null default now(),
  allowed_countries text[],
  breaker_unverified_percent integer,
  breaker_min_sends integer,
  suspended_at timestamptz(3),
  suspension_reason text,
  trial_countries text[],
  senders text not null default 'shared',
  delete_at timestamptz(3),
  allows_premium_rate boolean not null default true,
  units_per_day integer,
  units_per_month integer,
  units_on date not null default '1970-01-01',
  units_of_day integer not null default 0,
  units_of_month integer not null default 0,
  low_balance integer,
  low_balance_at timestamptz(3),
  -- Every creation writes the row, so there is no check of the format of columns that it does not write, and one check for all counters:
  -- PostgreSQL prepares each check again for each statement.
  constraint accounts_counters_check check (credits >= 0 and units_of_day >= 0 and units_of_month >= 0)
)
-- Room on each page for the next version of a row that every creation updates, so that it needs no new entries in indexes.
with (fillfactor = 50);

-- The index looks at the alert only, so a creation still updates its account's row in place.
create index accounts_low_balance on accounts (id) where low_balance is not null;

create table applications (
  id uuid primary key,
  account_id uuid not null references accounts,
  name text not null,
  mode text not null,
  per_minute integer,
  per_recipient_hour integer,
  sends_created bigint not null default 0,
  minute_sends json not null default '[]',
  identity_check text not null default 'off',
  created_at timestamptz(3) not null default now(),
  unique (id, account_id, mode)
) with (fillfactor = 50);
create index applications_account_id_idx on applications (account_id);

create table api_keys (
  id uuid primary key,
  application_id uuid not null references applications,
  hash bytea not null unique check (octet_length(hash) = 32),
  hint text not null,
  name text check (length(name) between 1 and 100),
  created_at timestamptz(3) not null default now(),
  revoked_at timestamptz(3),
  last_used_at timestamptz(3),
  expires_at timestamptz(3),
  is_tryout boolean not null default false,
  constraint api_keys_tryout_check check (expires_at is not null or not is_tryout)
);
create index api_keys_application_id_idx on api_keys (application_id);
create index api_keys_expires_at on api_keys (expires_at) where expires_at is not null;

-- For fourteen days. Without foreign keys: their checks would lock the account's row, which every creation takes.
create table refused_requests (
  request_id uuid primary key,
  account_id uuid not null,
  application_id uuid not null,
  key_id uuid not null,
  refused_at timestamptz(3) not null,
  route text not null,
  status smallint not null,
  code text not null,
  detail text not null,
  fields text[],
  idempotency_key_hash bytea,
  count integer not null check (count > 0)
);
create index refused_requests_account on refused_requests (account_id, refused_at, request_id);
create index refused_requests_refused_at on refused_requests (refused_at);

-- ── Senders ──────────────────────────────────────────────────────────────────────────────────────────────────────────────────────

create table senders (
  id uuid primary key,
  account_id uuid references accounts,
  -- No reference: applications are never deleted.
  application_ids uuid[] check (cardinality(application_ids) > 0),
  phone_number_id text not null check (phone_number_id ~ '^[0-9]{1,32}$'),
  number text not null check (number ~ '^\+[1-9][0-9]{4,14}$'),
  business_account_id text check (business_account_id ~ '^[0-9]{1,32}$'),
  portfolio_id text check (portfolio_id ~ '^[0-9]{1,32}$'),
  encrypted_token bytea not null,
  encrypted_app_secret bytea,
  template text not null check (template ~ '^[a-z0-9_]+$' and length(template) <= 512),
  english_template_language text not null check (english_template_language in ('en', 'en_US')),
  throughput integer not null default 80 check (throughput between 1 and 1000),
  is_registered boolean not null default false,
  created_at timestamptz(3) not null default now(),
  removed_at timestamptz(3),
  read_due_at timestamptz(3) not null default now(),
  read_tried_at timestamptz(3),
  read_at timestamptz(3),
  read_failures jsonb not null default '{}',
  recipients_24h integer,
  has_recipient_room boolean not null default true,
  constraint only_own_sender_is_of_applications check (account_id is not null or application_ids is null)
);
create index senders_account_id_idx on senders (account_id);
create unique index senders_phone_number_id_key on senders (phone_number_id) where removed_at is null;

-- An ended block stays for a while, because results of messages started before its end must be ignored. No reference to `senders`: business
-- accounts and portfolios are not rows of it.
create table sender_blocks (
  cause text not null check (cause in ('operator', 'provider', 'fault', 'limit')),
  scope text not null check (scope in ('sender', 'business', 'portfolio')),
  subject text not null check (subject <> ''),
  only_for text not null default '' check (only_for ~ '^([A-Z]{2}|en|pt-BR)?$'),
  source text not null,
  error_code integer,
  reason text not null check (length(reason) between 1 and 1000),
  is_configuration boolean not null default false,
  failures integer not null default 1 check (failures >= 0),
  since timestamptz(3) not null default now(),
  until timestamptz(3),
  free_at timestamptz(6),
  primary key (cause, scope, subject, only_for),
  constraint sender_blocks_source_check check (
    case when cause in ('operator', 'provider') then source = cause else source in ('answer', 'receipt') end
  ),
  constraint block_ends_as_it_began check ((until is not null) = (cause in ('fault', 'limit'))),
  constraint only_failures_are_cleared check (failures > 0 or cause in ('fault', 'limit'))
);

create table provider_facts (
  subject text not null,
  template text not null default '',
  language text not null default '',
  facts jsonb not null default '{}',
  alerts jsonb not null default '[]',
  primary key (subject, template, language),
  constraint template_has_a_language check ((template = '') = (language = ''))
);

-- A crash of the database may lose recent permits: the table is unlogged, so that a permit writes no write-ahead log.
create unlogged table sender_permits (
  sender_id uuid primary key references senders on delete cascade,
  free_at timestamptz(6) not null
) with (fillfactor = 50);

-- A crash may lose the turns. No reference to `accounts`: its check would lock the account's row.
create unlogged table account_turns (
  account_id uuid primary key,
  served_at timestamptz(6) not null
) with (fillfactor = 50);

-- ── Sends ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────

create table sends (
  id uuid primary key,
  account_id uuid not null,
  application_id uuid not null,
  mode text not null,
  application_number bigint not null,
  idempotency_key bytea,
  body_hash bytea,
  recipient text not null,
  recipient_key text not null,
  country text not null,
  locale text not null,
  charged_from text,
  code_hash bytea not null,
  encrypted_code bytea,
  guess_cost smallint not null default 1,
  status text not null default 'queued',
  phase text not null default 'ready',
  -- For the index of waiting sends: an index on `phase` would prevent claims and receipts from updating the row in place.
  is_waiting boolean not null generated always as (phase = 'waiting' and verification = 'pending') stored,
  verification text not null default 'pending',
  wrong_guess_times timestamptz(3)[],
  channel text,
  from_number text,
  sender_id uuid,
  attempts smallint not null default 0,
  attempt_number smallint not null default 0,
  claimed_at timestamptz(3),
  claimed_until timestamptz(3),
  receipt_until timestamptz(3),
  due_at timestamptz(3),
  created_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  sent_at timestamptz(3),
  delivered_at timestamptz(3),
  read_at timestamptz(3),
  verified_at timestamptz(3),
  locked_at timestamptz(3),
  failed_at timestamptz(3),
  failure_reason text,
  version integer not null default 0,
  request_id uuid not null,
  traceparent text,
  pricing jsonb,
  denied_at timestamptz(3),
  foreign key (application_id, account_id, mode) references applications (id, account_id, mode)
  -- Free space on the row's page for updates by a claim and receipts, so that they need no new index entries.
) with (fillfactor = 75);
create unique index sends_idempotency_key on sends (application_id, idempotency_key) where idempotency_key is not null;
create index sends_of_application on sends (application_id, id);
create index sends_to_recipient on sends (account_id, mode, recipient_key, created_at);
create index sends_due_at on sends (due_at) where due_at is not null;
create index sends_failed on sends (application_id, id) where failed_at is not null;
create index sends_locked on sends (application_id, id) where locked_at is not null;
create index sends_denied on sends (account_id, denied_at) where denied_at is not null;
-- Grouped by the columns that decide which senders may serve them; the latest expiry first.
create index sends_awaiting_turn on sends (account_id, application_id, country, locale, expires_at desc) where is_waiting;

create or replace function send_is_valid(send sends) returns boolean
language plpgsql immutable as $$
declare
  v_broken text := case
    when not case send.phase
      when 'calling' then send.status in ('sending', 'sent') and send.due_at is not null
      when 'unconfirmed' then send.status = 'sent' and send.due_at is null
      when 'done' then send.status in ('sent', 'delivered', 'read', 'failed') and send.due_at is null
      else send.phase in ('ready', 'waiting', 'backing_off', 'giving_up') and send.status in ('queued', 'sending', 'sent')
        and send.due_at is not null
    end then 'phase_fits'
    when not (
      (send.phase = 'calling') = (send.claimed_at is not null) and (send.phase = 'calling') = (send.claimed_until is not null)
      and (send.phase <> 'calling' or send.attempt_number > 0)
    ) then 'calling_has_claim'
    when (send.mode = 'live' and send.phase <> 'done') <> (send.encrypted_code is not null) then 'encrypted_code_until_done'
    when send.mode = 'test' and not (send.status in ('queued', 'read') and send.sender_id is null) then 'test_is_not_sent'
    when (send.mode = 'live') <> coalesce(send.charged_from in ('free_quota', 'credit'), false) then 'live_takes_a_unit'
    when (send.status = 'failed') <> (send.failed_at is not null) or (send.status = 'failed') <> coalesce(
      send.failure_reason in ('expired_before_delivery', 'attempts_exhausted', 'rejected_by_provider'), false
    ) then 'failed_has_reason'
    when not case send.verification
      when 'pending' then send.verified_at is null and send.locked_at is null
      when 'verified' then coalesce(send.verified_at < send.expires_at, false) and send.locked_at is null
      when 'locked' then send.verified_at is null and send.locked_at is not null
      else false
    end then 'verification_fits'
    when coalesce(cardinality(send.wrong_guess_times), 0) > 5
      or (send.verification = 'locked') <> (coalesce(cardinality(send.wrong_guess_times), 0) = 5) then 'locked_after_five'
  end;
begin
  if v_broken is not null then
    raise check_violation using
      message = format('new row for relation "sends" violates check constraint "%s"', v_broken),
      table = 'sends', constraint = v_broken;
  end if;
  return true;
end
$$;
alter table sends add constraint sends_are_valid check (send_is_valid(sends));

-- An attempt is written when it has ended. No references: their checks would lock, and so write, the send's row.
create table attempts (
  send_id uuid not null,
  number smallint not null check (number > 0),
  sender_id uuid,
  outcome text not null check (outcome in ('accepted', 'retry', 'unknown', 'sender', 'recipient', 'config')),
  error_code integer,
  message_id text,
  started_at timestamptz(3) not null,
  finished_at timestamptz(3) not null,
  reported_at timestamptz(3),
  reported_code integer,
  message_status text check (message_status in ('held_for_quality_assessment', 'paused')),
  primary key (send_id, number)
);
create index attempts_message_id_idx on attempts (message_id) where message_id is not null;
create index attempts_finished_at_idx on attempts (finished_at);
create index attempts_held_idx on attempts (finished_at, sender_id) where message_status is not null;
create index attempts_sender_id_outcome_finished_at_idx on attempts (sender_id, outcome, finished_at);

-- Reports of the provider that are not applied yet. A row is deleted when it is applied. `reporter`: the account with the Meta app that sent it; null for the operator's app.
create table provider_reports (
  key text collate "C" primary key,
  reporter uuid,
  kind text not null check (kind in ('receipt', 'denial', 'change')),
  report json not null,
  due_at timestamptz(3) not null default now(),
  tries smallint not null default 0
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000);
create index provider_reports_of_own_apps on provider_reports (reporter, key) where reporter is not null;

create table cursors (
  name text primary key check (name in ('codes', 'statistics', 'numbers', 'test_sends', 'sends', 'deliveries')),
  position uuid not null default '00000000-0000-0000-0000-000000000000'
);
insert into cursors (name) values ('codes'), ('statistics'), ('numbers'), ('test_sends'), ('sends'), ('deliveries');

create table send_identities (
  send_id uuid primary key,
  application_id uuid not null references applications,
  recipient_key text not null,
  identity_hash text,
  has_changed boolean not null,
  seen_at timestamptz(3) not null default now()
);
create index send_identities_recipient on send_identities (application_id, recipient_key, seen_at);

-- ── The ledger and costs ─────────────────────────────────────────────────────────────────────────────────────────────────────────

create table ledger_entries (
  id bigint primary key generated always as identity,
  account_id uuid not null,
  send_id uuid,
  kind text not null,
  bucket text not null,
  units integer not null,
  reason text,
  grant_id uuid,
  reference text,
  expires_at timestamptz(3),
  created_at timestamptz(3) not null default clock_timestamp(),
  -- Short, because every creation writes such rows: checks of kind, bucket and expiry cost as much as the insert.
  constraint ledger_entries_units_check check (units > 0 and (send_id is null or units = 1))
);

-- One reservation and one return for a send, whatever the code does.
create unique index ledger_entries_once on ledger_entries (send_id, kind) where send_id is not null;
create unique index ledger_entries_grant on ledger_entries (grant_id) where grant_id is not null;
create index ledger_entries_account_id_idx on ledger_entries (account_id, id);

-- For accounts with expiring credits: all their credits by expiry (null: never), as of the last grant or expiry. The difference to the
-- balance was used in the meantime.
create table credit_grants (
  id bigint primary key generated always as identity,
  account_id uuid not null references accounts,
  expires_at timestamptz(3),
  units integer not null check (units >= 0)
);
create unique index credit_grants_of_account on credit_grants (account_id, expires_at) nulls not distinct;
create index credit_grants_expires_at_idx on credit_grants (expires_at);

create or replace function remaining_credit_grants(p_account_id uuid) returns table (expires_at timestamptz, units integer)
language sql stable as $$
  with grants as (
    select l.expires_at, l.units, sum(l.units) over (order by l.expires_at) - l.units as earlier, sum(l.units) over () - a.credits as used
    from credit_grants l join accounts a on a.id = l.account_id where l.account_id = p_account_id
  )
  select expires_at, (units - least(units, greatest(used - earlier, 0)) + case when expires_at is null then greatest(-used, 0) else 0 end)::integer
  from grants
$$;

create or replace function may_have_arrived(p_send_id uuid) returns boolean
language sql stable as $$
  select exists (select from attempts where send_id = p_send_id and (message_id is not null or outcome in ('accepted', 'unknown')))
$$;

create or replace function reclaim_unit(p_send_id uuid, p_account_id uuid, p_charged_from text) returns boolean
language plpgsql as $$
declare
  v_bucket text;
begin
  if not may_have_arrived(p_send_id) then
    return false;
  end if;
  select case
    when credits > 0 and (p_charged_from = 'credit' or free_quota <= 0) then 'credit'
    else 'free_quota'
  end into strict v_bucket from accounts where id = p_account_id for no key update;
  update accounts set
    free_quota = free_quota - (v_bucket = 'free_quota')::integer,
    credits = credits - (v_bucket = 'credit')::integer
  where id = p_account_id;
  -- Follows the update, so that the entry's id is assigned under the account's lock and ids follow the order of changes.
  insert into ledger_entries (account_id, send_id, kind, bucket, units) values (p_account_id, p_send_id, 'reclaimed', v_bucket, 1);
  return true;
end
$$;

create or replace function expire_credits(p_account_id uuid) returns void
language plpgsql as $$
begin
  perform from accounts where id = p_account_id for no key update;
  update credit_grants l set units = n.units from remaining_credit_grants(p_account_id) n
  where l.account_id = p_account_id and l.expires_at is not distinct from n.expires_at and l.units <> n.units;
  with ended as (
    delete from credit_grants where account_id = p_account_id and expires_at <= clock_timestamp() returning expires_at, units
  ), expired as (
    insert into ledger_entries (account_id, kind, bucket, units, expires_at)
    select p_account_id, 'expired', 'credit', units, expires_at from ended where units > 0 order by expires_at returning units
  )
  update accounts set credits = credits - (select sum(units) from expired) where id = p_account_id and exists (select from expired);
end
$$;

create table daily_statistics (
  application_id uuid not null references applications,
  day date not null,
  country text not null,
  locale text not null,
  created integer not null,
  delivered integer not null,
  verified integer not null,
  expired_before_delivery integer not null,
  attempts_exhausted integer not null,
  rejected_by_provider integer not null,
  failed_verified integer not null,
  undelivered integer not null,
  delivery_times integer[],
  primary key (application_id, day, country, locale)
);

create table message_costs (
  day date not null,
  country text not null,
  category text not null,
  type text not null,
  billable boolean not null,
  pricing_model text not null,
  messages bigint not null,
  free_sends bigint not null,
  credits bigint not null,
  -- The account that the provider charges, which owns the sender; the nil id is the operator.
  payer uuid not null default '00000000-0000-0000-0000-000000000000',
  primary key (day, country, category, type, billable, pricing_model, payer)
);

-- ── Against abuse ────────────────────────────────────────────────────────────────────────────────────────────────────────────────

create table guess_budgets (
  account_id uuid not null references accounts,
  recipient_key text not null check (recipient_key ~ '^[1-9][0-9]{0,2}:[A-Za-z0-9_-]{22}$'),
  id uuid not null default gen_random_uuid(),
  points integer not null check (points >= 0),
  guess_cost smallint not null default 1,
  last_wrong_at timestamptz(3) not null,
  primary key (account_id, recipient_key)
);

-- A trip that is over stays, because only sends after its end are evidence for another.
create table breaker_trips (
  account_id uuid not null references accounts,
  country text not null check (country ~ '^[A-Z]{2}$'),
  tripped_at timestamptz(3) not null,
  open_until timestamptz(3) not null,
  sends integer not null,
  unverified integer not null,
  primary key (account_id, country),
  constraint trip_ends_after_it_begins check (open_until >= tripped_at),
  constraint trip_counts_its_sends check (unverified between 0 and sends)
);

create table counted_tries (
  key_hash bytea primary key check (octet_length(key_hash) = 32),
  tries integer not null check (tries >= 0),
  ends_at timestamptz(3) not null
);
create index counted_tries_ends_at_idx on counted_tries (ends_at);

create table holds (
  kind text not null check (kind in ('live', 'country', 'account')),
  target text not null,
  reason text not null check (length(reason) between 1 and 200),
  since timestamptz(3) not null default clock_timestamp(),
  set_by text not null,
  primary key (kind, target),
  constraint holds_target_check check (case kind
    when 'live' then target = ''
    when 'country' then target ~ '^[A-Z]{2}$'
    else target ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
  end)
);
create or replace function is_held(holds text[], account_id uuid, country text) returns boolean
language sql immutable as $$
  select array['live ', 'country ' || country, 'account ' || account_id::text] && holds
$$;

-- ── What creates and routes sends ────────────────────────────────────────────────────────────────────────────────────────────────

create or replace function block_subject(p_scope text, p_sender_id uuid, p_business_account_id text, p_portfolio_id text) returns text
language sql immutable return case p_scope
  when 'sender' then p_sender_id::text
  when 'business' then coalesce(p_business_account_id, p_sender_id::text)
  else coalesce(p_portfolio_id, p_business_account_id, p_sender_id::text)
end;

create or replace function may_serve(
  sender_account_id uuid, application_ids uuid[], senders text, account_id uuid, application_id uuid
) returns boolean
language sql immutable as $$
  select case when senders = 'shared' then sender_account_id is null
    else sender_account_id = account_id and (application_ids is null or application_id = any (application_ids)) end
$$;

create type permit_source as (
  sender_id uuid, number text, business_account_id text, portfolio_id text, has_recipient_room boolean, account_id uuid,
  application_ids uuid[], spacing interval, free_at timestamptz, taken integer
);

create or replace function first_id_at(at timestamptz) returns uuid
language sql immutable as $$
  select (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '70008000000000000000')::uuid
$$;

create or replace function is_worth_sending(created_at timestamptz, expires_at timestamptz, at timestamptz) returns boolean
language sql stable as $$ select expires_at - least(interval '30 seconds', (expires_at - created_at) * 0.1::double precision) > at $$;

create or replace function next_turns(p_limit integer, p_until timestamptz)
returns setof uuid
language plpgsql set plan_cache_mode = force_generic_plan as $$
declare
  v_holds text[] := array(select kind || ' ' || target from holds);
  v_nil constant uuid := '00000000-0000-0000-0000-000000000000';
begin
  return query with recursive blocks as materialized (
    select b.scope, b.subject, b.only_for from sender_blocks b
    where b.failures > 0 and greatest(coalesce(b.until, 'infinity'), b.free_at) > p_until
  ), available as materialized (
    -- The senders with a permit that starts by `p_until`, and the countries and languages for which each is blocked until then.
    select r.account_id, r.application_ids, t.blocked_for
    from senders r left join sender_permits p on p.sender_id = r.id cross join lateral (
      select array(
        select b.only_for from blocks b where b.subject = block_subject(b.scope, r.id, r.business_account_id, r.portfolio_id)
      ) as blocked_for
    ) t
    -- An empty text blocks all messages.
    where r.removed_at is null and coalesce(p.free_at <= p_until, true) and '' <> all (t.blocked_for)
  ), waiting as (
    -- The groups of waiting sends that the same senders may serve. Each step reads one row of an index: the send of the next group that
    -- expires last. It reads none while no sender has a permit or all live sends are held. The first row only starts the search.
    select v_nil as account_id, v_nil as application_id, '' as country, '' as locale, false as is_worth_sending
    where exists (select from available) and 'live ' <> all (v_holds)
    union all
    select n.* from waiting g cross join lateral (
      select s.account_id, s.application_id, s.country, s.locale, is_worth_sending(s.created_at, s.expires_at, p_until)
      from sends s
      where s.is_waiting
        and (s.account_id, s.application_id, s.country, s.locale) > (g.account_id, g.application_id, g.country, g.locale)
      order by s.account_id, s.application_id, s.country, s.locale, s.expires_at desc limit 1
    ) n
  ), sendable as materialized (
    select g.*, t.served_at
    from waiting g join accounts c on c.id = g.account_id left join account_turns t on t.account_id = c.id
    where g.is_worth_sending and not is_held(v_holds, g.account_id, g.country) and exists (
      select from available a
      where not a.blocked_for && array[g.country, g.locale]
        and may_serve(a.account_id, a.application_ids, c.senders, g.account_id, g.application_id)
    )
  ), turns as materialized (
    -- Each account may get an equal share of the limit, rounded up.
    select a.account_id, row_number() over (order by a.served_at nulls first, a.account_id) as turn, (p_limit - 1) / count(*) over () + 1 as share
    from (select distinct g.account_id, g.served_at from sendable g order by g.served_at nulls first, g.account_id limit p_limit) a
  )
  select n.id from (
    -- nth: 1 for the account's first send, 2 for its second
    select s.id, t.turn, row_number() over (partition by t.turn order by s.expires_at desc, s.id desc) as nth
    from turns t join sendable g on g.account_id = t.account_id cross join lateral (
      select w.id, w.expires_at from sends w
      where w.is_waiting and w.account_id = g.account_id and w.application_id = g.application_id
        and w.country = g.country and w.locale = g.locale
        -- The first condition ends the scan of the index before the expired sends.
        and w.expires_at > p_until and is_worth_sending(w.created_at, w.expires_at, p_until)
      order by w.expires_at desc limit t.share for no key update skip locked
    ) s
  ) n
  order by n.nth, n.turn limit p_limit;
end
$$;

create or replace function claim_sends(p_ids uuid[], p_now timestamptz, p_until timestamptz, p_lease interval)
returns table (send sends, wait_ms integer)
language plpgsql set plan_cache_mode = force_generic_plan as $$
declare
  v_claimed integer;
begin
  return query
    with permits as materialized (select * from take_permits(p_ids, p_now, p_until))
    update sends s set
      status = case s.status when 'queued' then 'sending' else s.status end, phase = 'calling', channel = 'whatsapp', from_number = p.number,
      sender_id = p.sender_id, attempts = s.attempts + 1, attempt_number = s.attempt_number + 1, claimed_at = p_now,
      claimed_until = p.permit_at + p_lease, version = s.version + 1,
      due_at = case s.phase when 'waiting' then p_now else s.due_at end
    from permits p
    where s.id = any (array(select permits.id from permits)) and s.id = p.id
    returning s, ceil(extract(epoch from p.permit_at - p_now) * 1000)::integer;
  get diagnostics v_claimed = row_count;
  if v_claimed < cardinality(p_ids) then
    return query
      update sends s set phase = 'waiting', due_at = s.expires_at, version = s.version + 1
      where s.id = any (p_ids) and s.phase in ('ready', 'backing_off')
      returning s, null::integer;
  end if;
end
$$;

create or replace function take_deliveries(p_ids uuid[], p_limit integer, p_lease interval)
returns table (send sends, wait_ms integer)
language plpgsql set plan_cache_mode = force_generic_plan as $$
declare
  -- The longest wait for the permit of a send at its account's turn, and of any other send.
  v_turn_wait constant interval := '500 milliseconds';
  v_wait constant interval := '250 milliseconds';
  v_now timestamptz;
  v_candidates uuid[];
  -- The candidates that may be sent now, in the same order, and the others.
  v_sendable uuid[];
  v_unsendable uuid[];
  v_turns uuid[];
  v_turns_at timestamptz;
begin
  perform pg_advisory_xact_lock(hashtextextended('permits', 0));
  -- Read after waiting for the lock, so that times never decrease. Columns store milliseconds.
  v_now := date_trunc('milliseconds', clock_timestamp());
  v_candidates := coalesce(p_ids, array(
    select s.id from sends s
    where s.due_at <= statement_timestamp() and coalesce(s.claimed_until <= v_now, true)
      -- New sends are left to their jobs at first.
      and (s.attempt_number > 0 or s.created_at <= v_now - interval '2 seconds')
    order by s.due_at limit p_limit for no key update skip locked
  ));

  select coalesce(array_agg(s.id order by u.ordinal) filter (where s.is_sendable), '{}'), array_agg(s.id) filter (where not s.is_sendable)
  into v_sendable, v_unsendable
  from unnest(v_candidates) with ordinality as u (id, ordinal) cross join lateral (
    select id, mode = 'live' and phase in ('ready', 'backing_off') and verification = 'pending' and due_at <= v_now
      and is_worth_sending(created_at, expires_at, v_now + v_wait) as is_sendable
    -- Waiting for a locked row would delay every other claim.
    from sends where id = u.id for no key update skip locked
  ) s;
  if cardinality(v_sendable) > 0 then
    return query select * from claim_sends(v_sendable, v_now, v_now + v_wait, p_lease);
  end if;
  if v_unsendable is not null then
    return query select s, null::integer from sends s where s.id = any (v_unsendable);
  end if;

  if p_ids is null and cardinality(v_sendable) < p_limit and exists (select from sends where is_waiting) then
    v_turns := array(select next_turns(p_limit - cardinality(v_sendable), v_now + v_turn_wait));
    return query select * from claim_sends(v_turns, v_now, v_now + v_turn_wait, p_lease);
    -- Read once: a plan may evaluate a call in the statement for each row, and in any order of the rows.
    v_turns_at := clock_timestamp();
    -- Records only the turns of sends that were claimed just now. The microseconds and the position make the times unique.
    insert into account_turns as t (account_id, served_at)
      select s.account_id, max(v_turns_at + u.ordinal * interval '1 microsecond')
      from unnest(v_turns) with ordinality as u (id, ordinal) join sends s on s.id = u.id and s.claimed_at = v_now group by 1
      on conflict (account_id) do update set served_at = excluded.served_at;
  end if;
end
$$;

create or replace function take_permits(p_ids uuid[], p_now timestamptz, p_until timestamptz)
returns table (id uuid, sender_id uuid, number text, permit_at timestamptz)
-- One plan per connection: planning takes longer than choosing a sender.
language plpgsql set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
  v_holds text[] := array(select kind || ' ' || target from holds);
  -- The senders that may serve some of the sends: when the next permit of each begins, and how many this call has taken since.
  v_senders permit_source[];
  v_blocks sender_blocks[];
  v_chosen integer;
  w record;
begin
  -- Locks the blocks that are changed below, in the order in which `endBlocks` locks them. Permanent blocks let no message through.
  perform from sender_blocks t where t.until is not null and t.failures > 0
  order by t.cause, t.scope, t.subject, t.only_for for update;
  v_blocks := array(select t from sender_blocks t where t.failures > 0);
  v_senders := array(
    select (r.id, r.number, r.business_account_id, r.portfolio_id, r.has_recipient_room, r.account_id, r.application_ids, t.spacing,
      greatest(p.free_at, p_now - t.spacing * greatest(0, r.throughput / 10.0 - 1)), 0)::permit_source
    from senders r left join sender_permits p on p.sender_id = r.id
    cross join lateral (select ceil(10000000.0 / (9 * r.throughput)) * interval '1 microsecond' as spacing) t
    where r.removed_at is null and (r.account_id is null or r.account_id in (select s.account_id from sends s where s.id = any (p_ids)))
  );

  for w in
    select s.id, s.account_id, s.application_id, s.country, s.locale, c.senders
    from unnest(p_ids) with ordinality as u (id, ordinal) join sends s on s.id = u.id join accounts c on c.id = s.account_id
    where not is_held(v_holds, s.account_id, s.country) order by u.ordinal
  loop
    select r.ordinality, w.id, r.sender_id, r.number, t.at into v_chosen, id, sender_id, number, permit_at
    from unnest(v_senders) with ordinality r cross join lateral (
      select greatest(p_now, r.free_at + r.taken * r.spacing, case when cardinality(v_blocks) > 0 then (
        select max(greatest(coalesce(b.until, 'infinity'), b.free_at)) from unnest(v_blocks) b
        where b.subject = block_subject(b.scope, r.sender_id, r.business_account_id, r.portfolio_id) and b.only_for in ('', w.country, w.locale)
      ) end) as at
    ) t
    where t.at <= p_until and may_serve(r.account_id, r.application_ids, w.senders, w.account_id, w.application_id)
    order by r.has_recipient_room desc, t.at, random() limit 1;
    continue when not found;
    return next;

    v_senders[v_chosen].taken := v_senders[v_chosen].taken + 1;
    if cardinality(v_blocks) > 0 then
      update sender_blocks t set free_at = permit_at + interval '1 second' from unnest(v_blocks) b
      where (t.cause, t.scope, t.subject, t.only_for) = (b.cause, b.scope, b.subject, b.only_for)
        and b.subject = block_subject(b.scope, sender_id, v_senders[v_chosen].business_account_id, v_senders[v_chosen].portfolio_id)
        and b.only_for in ('', w.country, w.locale);
      v_blocks := array(select t from sender_blocks t where t.failures > 0);
    end if;
  end loop;

  insert into sender_permits as p (sender_id, free_at)
    select r.sender_id, r.free_at + r.taken * r.spacing from unnest(v_senders) r where r.taken > 0
    -- A change of the sender may have postponed its next permit in the meantime.
    on conflict (sender_id) do update set free_at = greatest(p.free_at, excluded.free_at);
end
$$;

-- ── Reports ──────────────────────────────────────────────────────────────────────────────────────────────────────────────────────

create table traffic_counts (
  began_at timestamptz(3) not null,
  event text not null,
  country text not null,
  sender_id text not null,
  account_id text not null default '',
  reason text not null,
  count bigint not null check (count > 0),
  primary key (began_at, event, country, sender_id, account_id, reason)
);

create table delivery_hours (
  hour timestamptz(3) not null,
  country text not null,
  sender_id uuid not null,
  accepted integer not null,
  undelivered integer not null,
  primary key (hour, country, sender_id)
);

create table incidents (
  id uuid primary key default gen_random_uuid(),
  name text not null,
  subject text not null,
  began_at timestamptz(3) not null default clock_timestamp(),
  seen_at timestamptz(3) not null default clock_timestamp(),
  failing_at timestamptz(3),
  finding jsonb not null,
  acknowledged_at timestamptz(3),
  acknowledged_by text,
  note text,
  constraint incidents_acknowledged_check check ((acknowledged_at is null) = (acknowledged_by is null)
    and (note is null or acknowledged_at is not null))
);

-- ── Processes and releases ───────────────────────────────────────────────────────────────────────────────────────────────────────

create table processes (
  id uuid primary key,
  kind text not null check (kind in ('api', 'worker', 'console')),
  release text not null,
  last_migration text not null,
  started_at timestamptz(3) not null default clock_timestamp(),
  seen_at timestamptz(3) not null default clock_timestamp(),
  stopped_at timestamptz(3),
  clock_ahead_ms double precision not null,
  deliver_at timestamptz(3),
  sweep_at timestamptz(3),
  breaker_at timestamptz(3),
  clean_up_at timestamptz(3)
) with (fillfactor = 50);

-- ── The users of the console ─────────────────────────────────────────────────────────────────────────────────────────────────────

-- The tables from users to user_passkeys belong to better-auth, with different names: its `account`, a way to sign in, is user_credentials.
create table users (
  id uuid primary key,
  name text not null check (length(name) between 1 and 200),
  email text not null unique check (email = lower(email)),
  email_verified boolean not null default false,
  image text,
  language text default 'pt-BR' check (language in ('pt-BR', 'en')),
  staff text check (staff in ('operator', 'on_call')),
  two_factor_enabled boolean default false,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  account_made_at timestamptz(3),
  muted_mails text[] default '{}'
);
create index users_staff on users (id) where staff is not null;

create table user_sessions (
  id uuid primary key,
  user_id uuid not null references users on delete cascade,
  token text not null unique,
  ip_address text,
  user_agent text,
  expires_at timestamptz(3) not null,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null,
  confirmed_at timestamptz(3),
  both_factors boolean not null default false
);
create index user_sessions_user_id_idx on user_sessions (user_id);

create table user_credentials (
  id uuid primary key,
  user_id uuid not null references users on delete cascade,
  account_id text not null,
  provider_id text not null,
  access_token text,
  refresh_token text,
  id_token text,
  access_token_expires_at timestamptz(3),
  refresh_token_expires_at timestamptz(3),
  scope text,
  password text,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null
);
create index user_credentials_user_id_idx on user_credentials (user_id);

create table user_verifications (
  id uuid primary key,
  identifier text not null,
  value text not null,
  expires_at timestamptz(3) not null,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now()
);
create index user_verifications_identifier_idx on user_verifications (identifier);

create table user_two_factors (
  id uuid primary key,
  user_id uuid not null references users on delete cascade,
  secret text not null,
  backup_codes text not null,
  verified boolean default true,
  failed_verification_count integer default 0,
  locked_until timestamptz(3)
);
create index user_two_factors_user_id_idx on user_two_factors (user_id);
create index user_two_factors_secret_idx on user_two_factors (secret);

create table user_passkeys (
  id uuid primary key,
  user_id uuid not null references users on delete cascade,
  name text check (length(name) between 1 and 100),
  credential_id text not null unique,
  public_key text not null,
  counter integer not null,
  device_type text not null,
  backed_up boolean not null,
  transports text,
  aaguid text,
  created_at timestamptz(3) default now()
);
create index user_passkeys_user_id_idx on user_passkeys (user_id);

create table members (
  account_id uuid not null references accounts,
  user_id uuid not null references users on delete cascade,
  role text not null check (role in ('admin', 'developer', 'viewer')),
  created_at timestamptz(3) not null default now(),
  primary key (account_id, user_id)
);
create index members_user_id_idx on members (user_id);

create table invitations (
  id uuid primary key,
  account_id uuid not null references accounts,
  email text not null check (email = lower(email)),
  role text not null check (role in ('admin', 'developer', 'viewer')),
  token_hash bytea not null unique check (octet_length(token_hash) = 32),
  invited_by uuid references users on delete set null,
  created_at timestamptz(3) not null default now(),
  expires_at timestamptz(3) not null,
  unique (account_id, email)
);

-- ── Mail ─────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────

create table event_webhooks (
  account_id uuid primary key references accounts,
  url text not null check (length(url) <= 2000),
  encrypted_secret bytea not null,
  set_at timestamptz(3) not null default clock_timestamp()
);

-- The outbox of mails and webhook events: a row is written in the transaction of the reported change.
create table outbox (
  id uuid primary key,
  -- Compared byte by byte, so that its index finds prefixes.
  event text collate "C" not null,
  recipient text not null check (recipient = lower(recipient)),
  account_id uuid references event_webhooks on delete cascade,
  language text check (language in ('pt-BR', 'en')),
  kind text not null,
  facts jsonb not null default '{}',
  encrypted_link bytea,
  created_at timestamptz(3) not null default clock_timestamp(),
  due_at timestamptz(3) default clock_timestamp(),
  gives_up_at timestamptz(3) not null,
  tries integer not null default 0,
  error text,
  answer smallint,
  ended_at timestamptz(3),
  outcome text check (outcome in ('sent', 'given_up')),
  unique (event, recipient),
  constraint outbox_is_mail_or_event check (case when account_id is null then language is not null
    else recipient = account_id::text and language is null and encrypted_link is null end),
  -- A mail's values are erased when it ends. An event can be sent again.
  constraint outbox_end_check check (case when outcome is null then due_at is not null and ended_at is null
    else due_at is null and ended_at is not null and encrypted_link is null and (facts = '{}' or account_id is not null) end)
);
create index outbox_due on outbox (due_at) where due_at is not null;
create index outbox_ended on outbox (ended_at) where ended_at is not null;
create index outbox_account on outbox (account_id, created_at) where account_id is not null;

-- ── The audit log ────────────────────────────────────────────────────────────────────────────────────────────────────────────────

-- No reference to `accounts`: entries outlive their account, and the check would lock the row that every creation locks.
create table audit_entries (
  id bigint primary key generated always as identity,
  at timestamptz(3) not null default clock_timestamp(),
  actor_kind text not null check (actor_kind in ('user', 'staff', 'command_line')),
  actor_id uuid,
  actor_name text not null,
  -- Compared byte by byte, so that the index below finds prefixes.
  action text collate "C" not null check (action ~ '^[a-z_]+\.[a-z_]+$'),
  account_id uuid,
  subject text,
  details jsonb not null default '{}'
);
create index audit_entries_account_id on audit_entries (account_id, id);
create index audit_entries_action on audit_entries (action, id);

create or replace function refuse_audit_change() returns trigger
language plpgsql as $$
begin
  raise exception 'the audit log is append-only';
end
$$;
create trigger audit_entries_append_only before update or delete or truncate on audit_entries
  for each statement execute function refuse_audit_change();
