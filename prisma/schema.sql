-- The database as it is after all migrations; its functions are in functions/, a file each. Made by `npm run generate`: a test fails
-- when it is stale.

create type permit_source as (sender_id uuid, number text, business_account_id text, portfolio_id text, has_recipient_room boolean, account_id uuid, application_ids uuid[], spacing interval, free_at timestamp with time zone, taken integer);

create unlogged table account_turns (
  account_id uuid not null,
  served_at timestamp(6) with time zone not null,
  constraint account_turns_pkey PRIMARY KEY (account_id)
) with (fillfactor=50);

create table accounts (
  id uuid not null,
  name text not null,
  language text not null,
  free_quota integer not null,
  credits integer default 0 not null,
  rate_per_minute integer,
  sends_created bigint default 0 not null,
  minute_sends json default '[]'::json not null,
  created_at timestamp(3) with time zone default now() not null,
  allowed_countries text[],
  breaker_unverified_percent integer,
  breaker_min_sends integer,
  suspended_at timestamp(3) with time zone,
  suspension_reason text,
  trial_countries text[],
  senders text default 'shared'::text not null,
  delete_at timestamp(3) with time zone,
  allows_premium_rate boolean default true not null,
  units_per_day integer,
  units_per_month integer,
  units_on date default '1970-01-01'::date not null,
  units_of_day integer default 0 not null,
  units_of_month integer default 0 not null,
  low_balance integer,
  low_balance_at timestamp(3) with time zone,
  constraint accounts_pkey PRIMARY KEY (id),
  constraint accounts_counters_check CHECK (credits >= 0 AND units_of_day >= 0 AND units_of_month >= 0)
) with (fillfactor=50);
CREATE INDEX accounts_low_balance ON public.accounts USING btree (id) WHERE (low_balance IS NOT NULL);

create table api_keys (
  id uuid not null,
  application_id uuid not null,
  hash bytea not null,
  hint text not null,
  name text,
  created_at timestamp(3) with time zone default now() not null,
  revoked_at timestamp(3) with time zone,
  last_used_at timestamp(3) with time zone,
  expires_at timestamp(3) with time zone,
  is_tryout boolean default false not null,
  constraint api_keys_pkey PRIMARY KEY (id),
  constraint api_keys_hash_key UNIQUE (hash),
  constraint api_keys_application_id_fkey FOREIGN KEY (application_id) REFERENCES applications(id),
  constraint api_keys_hash_check CHECK (octet_length(hash) = 32),
  constraint api_keys_name_check CHECK (length(name) >= 1 AND length(name) <= 100),
  constraint api_keys_tryout_check CHECK (expires_at IS NOT NULL OR NOT is_tryout)
);
CREATE INDEX api_keys_application_id_idx ON public.api_keys USING btree (application_id);
CREATE INDEX api_keys_expires_at ON public.api_keys USING btree (expires_at) WHERE (expires_at IS NOT NULL);

create table applications (
  id uuid not null,
  account_id uuid not null,
  name text not null,
  mode text not null,
  per_minute integer,
  per_recipient_hour integer,
  sends_created bigint default 0 not null,
  minute_sends json default '[]'::json not null,
  identity_check text default 'off'::text not null,
  created_at timestamp(3) with time zone default now() not null,
  constraint applications_pkey PRIMARY KEY (id),
  constraint applications_id_account_id_mode_key UNIQUE (id, account_id, mode),
  constraint applications_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id)
) with (fillfactor=50);
CREATE INDEX applications_account_id_idx ON public.applications USING btree (account_id);

create table attempts (
  send_id uuid not null,
  number smallint not null,
  sender_id uuid,
  outcome text not null,
  error_code integer,
  message_id text,
  started_at timestamp(3) with time zone not null,
  finished_at timestamp(3) with time zone not null,
  reported_at timestamp(3) with time zone,
  reported_code integer,
  message_status text,
  constraint attempts_pkey PRIMARY KEY (send_id, number),
  constraint attempts_message_status_check CHECK (message_status = ANY (ARRAY['held_for_quality_assessment'::text, 'paused'::text])),
  constraint attempts_number_check CHECK (number > 0),
  constraint attempts_outcome_check CHECK (outcome = ANY (ARRAY['accepted'::text, 'retry'::text, 'unknown'::text, 'sender'::text, 'recipient'::text, 'config'::text]))
);
CREATE INDEX attempts_finished_at_idx ON public.attempts USING btree (finished_at);
CREATE INDEX attempts_held_idx ON public.attempts USING btree (finished_at, sender_id) WHERE (message_status IS NOT NULL);
CREATE INDEX attempts_message_id_idx ON public.attempts USING btree (message_id) WHERE (message_id IS NOT NULL);
CREATE INDEX attempts_sender_id_outcome_finished_at_idx ON public.attempts USING btree (sender_id, outcome, finished_at);

create table audit_entries (
  id bigint generated always as identity not null,
  at timestamp(3) with time zone default clock_timestamp() not null,
  actor_kind text not null,
  actor_id uuid,
  actor_name text not null,
  action text collate "C" not null,
  account_id uuid,
  subject text,
  details jsonb default '{}'::jsonb not null,
  constraint audit_entries_pkey PRIMARY KEY (id),
  constraint audit_entries_action_check CHECK (action ~ '^[a-z_]+\.[a-z_]+$'::text),
  constraint audit_entries_actor_kind_check CHECK (actor_kind = ANY (ARRAY['user'::text, 'staff'::text, 'command_line'::text]))
);
CREATE INDEX audit_entries_account_id ON public.audit_entries USING btree (account_id, id);
CREATE INDEX audit_entries_action ON public.audit_entries USING btree (action, id);
CREATE TRIGGER audit_entries_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.audit_entries FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();

create table breaker_trips (
  account_id uuid not null,
  country text not null,
  tripped_at timestamp(3) with time zone not null,
  open_until timestamp(3) with time zone not null,
  sends integer not null,
  unverified integer not null,
  constraint breaker_trips_pkey PRIMARY KEY (account_id, country),
  constraint breaker_trips_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint breaker_trips_country_check CHECK (country ~ '^[A-Z]{2}$'::text),
  constraint trip_counts_its_sends CHECK (unverified >= 0 AND unverified <= sends),
  constraint trip_ends_after_it_begins CHECK (open_until >= tripped_at)
);

create table counted_tries (
  key_hash bytea not null,
  tries integer not null,
  ends_at timestamp(3) with time zone not null,
  constraint counted_tries_pkey PRIMARY KEY (key_hash),
  constraint counted_tries_key_hash_check CHECK (octet_length(key_hash) = 32),
  constraint counted_tries_tries_check CHECK (tries >= 0)
);
CREATE INDEX counted_tries_ends_at_idx ON public.counted_tries USING btree (ends_at);

create table credit_grants (
  id bigint generated always as identity not null,
  account_id uuid not null,
  expires_at timestamp(3) with time zone,
  units integer not null,
  constraint credit_grants_pkey PRIMARY KEY (id),
  constraint credit_grants_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint credit_grants_units_check CHECK (units >= 0)
);
CREATE INDEX credit_grants_expires_at_idx ON public.credit_grants USING btree (expires_at);
CREATE UNIQUE INDEX credit_grants_of_account ON public.credit_grants USING btree (account_id, expires_at) NULLS NOT DISTINCT;

create table cursors (
  name text not null,
  position uuid default '00000000-0000-0000-0000-000000000000'::uuid not null,
  constraint cursors_pkey PRIMARY KEY (name),
  constraint cursors_name_check CHECK (name = ANY (ARRAY['codes'::text, 'statistics'::text, 'numbers'::text, 'test_sends'::text, 'sends'::text, 'deliveries'::text]))
);

create table daily_statistics (
  application_id uuid not null,
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
  constraint daily_statistics_pkey PRIMARY KEY (application_id, day, country, locale),
  constraint daily_statistics_application_id_fkey FOREIGN KEY (application_id) REFERENCES applications(id)
);

create table delivery_hours (
  hour timestamp(3) with time zone not null,
  country text not null,
  sender_id uuid not null,
  accepted integer not null,
  undelivered integer not null,
  constraint delivery_hours_pkey PRIMARY KEY (hour, country, sender_id)
);

create table event_webhooks (
  account_id uuid not null,
  url text not null,
  encrypted_secret bytea not null,
  set_at timestamp(3) with time zone default clock_timestamp() not null,
  constraint event_webhooks_pkey PRIMARY KEY (account_id),
  constraint event_webhooks_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint event_webhooks_url_check CHECK (length(url) <= 2000)
);

create table guess_budgets (
  account_id uuid not null,
  recipient_key text not null,
  id uuid default gen_random_uuid() not null,
  points integer not null,
  guess_cost smallint default 1 not null,
  last_wrong_at timestamp(3) with time zone not null,
  constraint guess_budgets_pkey PRIMARY KEY (account_id, recipient_key),
  constraint guess_budgets_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint guess_budgets_points_check CHECK (points >= 0),
  constraint guess_budgets_recipient_key_check CHECK (recipient_key ~ '^[1-9][0-9]{0,2}:[A-Za-z0-9_-]{22}$'::text)
);

create table holds (
  kind text not null,
  target text not null,
  reason text not null,
  since timestamp(3) with time zone default clock_timestamp() not null,
  set_by text not null,
  constraint holds_pkey PRIMARY KEY (kind, target),
  constraint holds_kind_check CHECK (kind = ANY (ARRAY['live'::text, 'country'::text, 'account'::text])),
  constraint holds_reason_check CHECK (length(reason) >= 1 AND length(reason) <= 200),
  constraint holds_target_check CHECK (
CASE kind
    WHEN 'live'::text THEN target = ''::text
    WHEN 'country'::text THEN target ~ '^[A-Z]{2}$'::text
    ELSE target ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'::text
END)
);

create table incidents (
  id uuid default gen_random_uuid() not null,
  name text not null,
  subject text not null,
  began_at timestamp(3) with time zone default clock_timestamp() not null,
  seen_at timestamp(3) with time zone default clock_timestamp() not null,
  failing_at timestamp(3) with time zone,
  finding jsonb not null,
  acknowledged_at timestamp(3) with time zone,
  acknowledged_by text,
  note text,
  constraint incidents_pkey PRIMARY KEY (id),
  constraint incidents_acknowledged_check CHECK ((acknowledged_at IS NULL) = (acknowledged_by IS NULL) AND (note IS NULL OR acknowledged_at IS NOT NULL))
);

create table invitations (
  id uuid not null,
  account_id uuid not null,
  email text not null,
  role text not null,
  token_hash bytea not null,
  invited_by uuid,
  created_at timestamp(3) with time zone default now() not null,
  expires_at timestamp(3) with time zone not null,
  constraint invitations_pkey PRIMARY KEY (id),
  constraint invitations_account_id_email_key UNIQUE (account_id, email),
  constraint invitations_token_hash_key UNIQUE (token_hash),
  constraint invitations_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint invitations_invited_by_fkey FOREIGN KEY (invited_by) REFERENCES users(id) ON DELETE SET NULL,
  constraint invitations_email_check CHECK (email = lower(email)),
  constraint invitations_role_check CHECK (role = ANY (ARRAY['admin'::text, 'developer'::text, 'viewer'::text])),
  constraint invitations_token_hash_check CHECK (octet_length(token_hash) = 32)
);

create table ledger_entries (
  id bigint generated always as identity not null,
  account_id uuid not null,
  send_id uuid,
  kind text not null,
  bucket text not null,
  units integer not null,
  reason text,
  grant_id uuid,
  reference text,
  expires_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone default clock_timestamp() not null,
  constraint ledger_entries_pkey PRIMARY KEY (id),
  constraint ledger_entries_units_check CHECK (units > 0 AND (send_id IS NULL OR units = 1))
);
CREATE INDEX ledger_entries_account_id_idx ON public.ledger_entries USING btree (account_id, id);
CREATE UNIQUE INDEX ledger_entries_grant ON public.ledger_entries USING btree (grant_id) WHERE (grant_id IS NOT NULL);
CREATE UNIQUE INDEX ledger_entries_once ON public.ledger_entries USING btree (send_id, kind) WHERE (send_id IS NOT NULL);

create table members (
  account_id uuid not null,
  user_id uuid not null,
  role text not null,
  created_at timestamp(3) with time zone default now() not null,
  constraint members_pkey PRIMARY KEY (account_id, user_id),
  constraint members_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint members_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE,
  constraint members_role_check CHECK (role = ANY (ARRAY['admin'::text, 'developer'::text, 'viewer'::text]))
);
CREATE INDEX members_user_id_idx ON public.members USING btree (user_id);

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
  payer uuid default '00000000-0000-0000-0000-000000000000'::uuid not null,
  constraint message_costs_pkey PRIMARY KEY (day, country, category, type, billable, pricing_model, payer)
);

create table outbox (
  id uuid not null,
  event text collate "C" not null,
  recipient text not null,
  account_id uuid,
  language text,
  kind text not null,
  facts jsonb default '{}'::jsonb not null,
  encrypted_link bytea,
  created_at timestamp(3) with time zone default clock_timestamp() not null,
  due_at timestamp(3) with time zone default clock_timestamp(),
  gives_up_at timestamp(3) with time zone not null,
  tries integer default 0 not null,
  error text,
  answer smallint,
  ended_at timestamp(3) with time zone,
  outcome text,
  constraint outbox_pkey PRIMARY KEY (id),
  constraint outbox_event_recipient_key UNIQUE (event, recipient),
  constraint outbox_account_id_fkey FOREIGN KEY (account_id) REFERENCES event_webhooks(account_id) ON DELETE CASCADE,
  constraint outbox_end_check CHECK (
CASE
    WHEN outcome IS NULL THEN due_at IS NOT NULL AND ended_at IS NULL
    ELSE due_at IS NULL AND ended_at IS NOT NULL AND encrypted_link IS NULL AND (facts = '{}'::jsonb OR account_id IS NOT NULL)
END),
  constraint outbox_is_mail_or_event CHECK (
CASE
    WHEN account_id IS NULL THEN language IS NOT NULL
    ELSE recipient = account_id::text AND language IS NULL AND encrypted_link IS NULL
END),
  constraint outbox_language_check CHECK (language = ANY (ARRAY['pt-BR'::text, 'en'::text])),
  constraint outbox_outcome_check CHECK (outcome = ANY (ARRAY['sent'::text, 'given_up'::text])),
  constraint outbox_recipient_check CHECK (recipient = lower(recipient))
);
CREATE INDEX outbox_account ON public.outbox USING btree (account_id, created_at) WHERE (account_id IS NOT NULL);
CREATE INDEX outbox_due ON public.outbox USING btree (due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX outbox_ended ON public.outbox USING btree (ended_at) WHERE (ended_at IS NOT NULL);

create table processes (
  id uuid not null,
  kind text not null,
  release text not null,
  last_migration text not null,
  started_at timestamp(3) with time zone default clock_timestamp() not null,
  seen_at timestamp(3) with time zone default clock_timestamp() not null,
  stopped_at timestamp(3) with time zone,
  clock_ahead_ms double precision not null,
  deliver_at timestamp(3) with time zone,
  sweep_at timestamp(3) with time zone,
  breaker_at timestamp(3) with time zone,
  clean_up_at timestamp(3) with time zone,
  constraint processes_pkey PRIMARY KEY (id),
  constraint processes_kind_check CHECK (kind = ANY (ARRAY['api'::text, 'worker'::text, 'console'::text]))
) with (fillfactor=50);

create table provider_facts (
  subject text not null,
  template text default ''::text not null,
  language text default ''::text not null,
  facts jsonb default '{}'::jsonb not null,
  alerts jsonb default '[]'::jsonb not null,
  constraint provider_facts_pkey PRIMARY KEY (subject, template, language),
  constraint template_has_a_language CHECK ((template = ''::text) = (language = ''::text))
);

create table provider_reports (
  key text collate "C" not null,
  reporter uuid,
  kind text not null,
  report json not null,
  due_at timestamp(3) with time zone default now() not null,
  tries smallint default 0 not null,
  constraint provider_reports_pkey PRIMARY KEY (key),
  constraint provider_reports_kind_check CHECK (kind = ANY (ARRAY['receipt'::text, 'denial'::text, 'change'::text]))
) with (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=10000);
CREATE INDEX provider_reports_of_own_apps ON public.provider_reports USING btree (reporter, key) WHERE (reporter IS NOT NULL);

create table refused_requests (
  request_id uuid not null,
  account_id uuid not null,
  application_id uuid not null,
  key_id uuid not null,
  refused_at timestamp(3) with time zone not null,
  route text not null,
  status smallint not null,
  code text not null,
  detail text not null,
  fields text[],
  idempotency_key_hash bytea,
  count integer not null,
  constraint refused_requests_pkey PRIMARY KEY (request_id),
  constraint refused_requests_count_check CHECK (count > 0)
);
CREATE INDEX refused_requests_account ON public.refused_requests USING btree (account_id, refused_at, request_id);
CREATE INDEX refused_requests_refused_at ON public.refused_requests USING btree (refused_at);

create table send_identities (
  send_id uuid not null,
  application_id uuid not null,
  recipient_key text not null,
  identity_hash text,
  has_changed boolean not null,
  seen_at timestamp(3) with time zone default now() not null,
  constraint send_identities_pkey PRIMARY KEY (send_id),
  constraint send_identities_application_id_fkey FOREIGN KEY (application_id) REFERENCES applications(id)
);
CREATE INDEX send_identities_recipient ON public.send_identities USING btree (application_id, recipient_key, seen_at);

create table sender_blocks (
  cause text not null,
  scope text not null,
  subject text not null,
  only_for text default ''::text not null,
  source text not null,
  error_code integer,
  reason text not null,
  is_configuration boolean default false not null,
  failures integer default 1 not null,
  since timestamp(3) with time zone default now() not null,
  until timestamp(3) with time zone,
  free_at timestamp(6) with time zone,
  constraint sender_blocks_pkey PRIMARY KEY (cause, scope, subject, only_for),
  constraint block_ends_as_it_began CHECK ((until IS NOT NULL) = (cause = ANY (ARRAY['fault'::text, 'limit'::text]))),
  constraint only_failures_are_cleared CHECK (failures > 0 OR (cause = ANY (ARRAY['fault'::text, 'limit'::text]))),
  constraint sender_blocks_cause_check CHECK (cause = ANY (ARRAY['operator'::text, 'provider'::text, 'fault'::text, 'limit'::text])),
  constraint sender_blocks_failures_check CHECK (failures >= 0),
  constraint sender_blocks_only_for_check CHECK (only_for ~ '^([A-Z]{2}|en|pt-BR)?$'::text),
  constraint sender_blocks_reason_check CHECK (length(reason) >= 1 AND length(reason) <= 1000),
  constraint sender_blocks_scope_check CHECK (scope = ANY (ARRAY['sender'::text, 'business'::text, 'portfolio'::text])),
  constraint sender_blocks_source_check CHECK (
CASE
    WHEN cause = ANY (ARRAY['operator'::text, 'provider'::text]) THEN source = cause
    ELSE source = ANY (ARRAY['answer'::text, 'receipt'::text])
END),
  constraint sender_blocks_subject_check CHECK (subject <> ''::text)
);

create unlogged table sender_permits (
  sender_id uuid not null,
  free_at timestamp(6) with time zone not null,
  constraint sender_permits_pkey PRIMARY KEY (sender_id),
  constraint sender_permits_sender_id_fkey FOREIGN KEY (sender_id) REFERENCES senders(id) ON DELETE CASCADE
) with (fillfactor=50);

create table senders (
  id uuid not null,
  account_id uuid,
  application_ids uuid[],
  phone_number_id text not null,
  number text not null,
  business_account_id text,
  portfolio_id text,
  encrypted_token bytea not null,
  encrypted_app_secret bytea,
  template text not null,
  english_template_language text not null,
  throughput integer default 80 not null,
  is_registered boolean default false not null,
  created_at timestamp(3) with time zone default now() not null,
  removed_at timestamp(3) with time zone,
  read_due_at timestamp(3) with time zone default now() not null,
  read_tried_at timestamp(3) with time zone,
  read_at timestamp(3) with time zone,
  read_failures jsonb default '{}'::jsonb not null,
  recipients_24h integer,
  has_recipient_room boolean default true not null,
  constraint senders_pkey PRIMARY KEY (id),
  constraint senders_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint only_own_sender_is_of_applications CHECK (account_id IS NOT NULL OR application_ids IS NULL),
  constraint senders_application_ids_check CHECK (cardinality(application_ids) > 0),
  constraint senders_business_account_id_check CHECK (business_account_id ~ '^[0-9]{1,32}$'::text),
  constraint senders_english_template_language_check CHECK (english_template_language = ANY (ARRAY['en'::text, 'en_US'::text])),
  constraint senders_number_check CHECK (number ~ '^\+[1-9][0-9]{4,14}$'::text),
  constraint senders_phone_number_id_check CHECK (phone_number_id ~ '^[0-9]{1,32}$'::text),
  constraint senders_portfolio_id_check CHECK (portfolio_id ~ '^[0-9]{1,32}$'::text),
  constraint senders_template_check CHECK (template ~ '^[a-z0-9_]+$'::text AND length(template) <= 512),
  constraint senders_throughput_check CHECK (throughput >= 1 AND throughput <= 1000)
);
CREATE INDEX senders_account_id_idx ON public.senders USING btree (account_id);
CREATE UNIQUE INDEX senders_phone_number_id_key ON public.senders USING btree (phone_number_id) WHERE (removed_at IS NULL);

create table sends (
  id uuid not null,
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
  guess_cost smallint default 1 not null,
  status text default 'queued'::text not null,
  phase text default 'ready'::text not null,
  is_waiting boolean generated always as ((phase = 'waiting'::text) AND (verification = 'pending'::text)) stored not null,
  verification text default 'pending'::text not null,
  wrong_guess_times timestamp(3) with time zone[],
  channel text,
  from_number text,
  sender_id uuid,
  attempts smallint default 0 not null,
  attempt_number smallint default 0 not null,
  claimed_at timestamp(3) with time zone,
  claimed_until timestamp(3) with time zone,
  receipt_until timestamp(3) with time zone,
  due_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone not null,
  expires_at timestamp(3) with time zone not null,
  sent_at timestamp(3) with time zone,
  delivered_at timestamp(3) with time zone,
  read_at timestamp(3) with time zone,
  verified_at timestamp(3) with time zone,
  locked_at timestamp(3) with time zone,
  failed_at timestamp(3) with time zone,
  failure_reason text,
  version integer default 0 not null,
  request_id uuid not null,
  traceparent text,
  pricing jsonb,
  denied_at timestamp(3) with time zone,
  constraint sends_pkey PRIMARY KEY (id),
  constraint sends_application_id_account_id_mode_fkey FOREIGN KEY (application_id, account_id, mode) REFERENCES applications(id, account_id, mode),
  constraint sends_are_valid CHECK (send_is_valid(sends.*))
) with (fillfactor=75);
CREATE INDEX sends_awaiting_turn ON public.sends USING btree (account_id, application_id, country, locale, expires_at DESC) WHERE is_waiting;
CREATE INDEX sends_denied ON public.sends USING btree (account_id, denied_at) WHERE (denied_at IS NOT NULL);
CREATE INDEX sends_due_at ON public.sends USING btree (due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX sends_failed ON public.sends USING btree (application_id, id) WHERE (failed_at IS NOT NULL);
CREATE UNIQUE INDEX sends_idempotency_key ON public.sends USING btree (application_id, idempotency_key) WHERE (idempotency_key IS NOT NULL);
CREATE INDEX sends_locked ON public.sends USING btree (application_id, id) WHERE (locked_at IS NOT NULL);
CREATE INDEX sends_of_application ON public.sends USING btree (application_id, id);
CREATE INDEX sends_to_recipient ON public.sends USING btree (account_id, mode, recipient_key, created_at);

create table settings (
  id boolean default true not null,
  free_sends integer default 10 not null,
  code_validity_seconds integer default 600 not null,
  account_rate_per_minute integer default 600 not null,
  guess_budget integer default 100,
  trial_sends_per_day integer default 500 not null,
  trial_account_sends_per_day integer default 20 not null,
  sign_ups_per_network_day integer default 20 not null,
  sign_ups_per_domain_day integer default 100 not null,
  staff_two_factor text default 'optional'::text not null,
  price_currency text,
  message_prices jsonb default '[]'::jsonb not null,
  retain_numbers_days integer default 90,
  retain_sends_days integer,
  mail_from text,
  trial_sends_on date default '1970-01-01'::date not null,
  trial_sends_of_day integer default 0 not null,
  constraint settings_pkey PRIMARY KEY (id),
  constraint settings_account_rate_per_minute_check CHECK (account_rate_per_minute >= 1 AND account_rate_per_minute <= 1000000),
  constraint settings_code_validity_seconds_check CHECK (code_validity_seconds >= 1 AND code_validity_seconds <= 5400),
  constraint settings_free_sends_check CHECK (free_sends >= 0 AND free_sends <= 1000000),
  constraint settings_guess_budget_check CHECK (guess_budget >= 5 AND guess_budget <= 100),
  constraint settings_id_check CHECK (id),
  constraint settings_price_currency_check CHECK (price_currency ~ '^[A-Z]{3}$'::text),
  constraint settings_retain_numbers_days_check CHECK (retain_numbers_days >= 1 AND retain_numbers_days <= 3650),
  constraint settings_retain_sends_days_check CHECK (retain_sends_days >= 30 AND retain_sends_days <= 3650),
  constraint settings_sign_ups_per_domain_day_check CHECK (sign_ups_per_domain_day >= 1 AND sign_ups_per_domain_day <= 1000000),
  constraint settings_sign_ups_per_network_day_check CHECK (sign_ups_per_network_day >= 1 AND sign_ups_per_network_day <= 1000000),
  constraint settings_staff_two_factor_check CHECK (staff_two_factor = ANY (ARRAY['optional'::text, 'required'::text])),
  constraint settings_trial_account_sends_per_day_check CHECK (trial_account_sends_per_day >= 0 AND trial_account_sends_per_day <= 1000000),
  constraint settings_trial_sends_of_day_check CHECK (trial_sends_of_day >= 0),
  constraint settings_trial_sends_per_day_check CHECK (trial_sends_per_day >= 0 AND trial_sends_per_day <= 1000000)
);

create table traffic_counts (
  began_at timestamp(3) with time zone not null,
  event text not null,
  country text not null,
  sender_id text not null,
  account_id text default ''::text not null,
  reason text not null,
  count bigint not null,
  constraint traffic_counts_pkey PRIMARY KEY (began_at, event, country, sender_id, account_id, reason),
  constraint traffic_counts_count_check CHECK (count > 0)
);

create table user_credentials (
  id uuid not null,
  user_id uuid not null,
  account_id text not null,
  provider_id text not null,
  access_token text,
  refresh_token text,
  id_token text,
  access_token_expires_at timestamp(3) with time zone,
  refresh_token_expires_at timestamp(3) with time zone,
  scope text,
  password text,
  created_at timestamp(3) with time zone default now() not null,
  updated_at timestamp(3) with time zone not null,
  constraint user_credentials_pkey PRIMARY KEY (id),
  constraint user_credentials_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);
CREATE INDEX user_credentials_user_id_idx ON public.user_credentials USING btree (user_id);

create table user_passkeys (
  id uuid not null,
  user_id uuid not null,
  name text,
  credential_id text not null,
  public_key text not null,
  counter integer not null,
  device_type text not null,
  backed_up boolean not null,
  transports text,
  aaguid text,
  created_at timestamp(3) with time zone default now(),
  constraint user_passkeys_pkey PRIMARY KEY (id),
  constraint user_passkeys_credential_id_key UNIQUE (credential_id),
  constraint user_passkeys_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE,
  constraint user_passkeys_name_check CHECK (length(name) >= 1 AND length(name) <= 100)
);
CREATE INDEX user_passkeys_user_id_idx ON public.user_passkeys USING btree (user_id);

create table user_sessions (
  id uuid not null,
  user_id uuid not null,
  token text not null,
  ip_address text,
  user_agent text,
  expires_at timestamp(3) with time zone not null,
  created_at timestamp(3) with time zone default now() not null,
  updated_at timestamp(3) with time zone not null,
  confirmed_at timestamp(3) with time zone,
  both_factors boolean default false not null,
  constraint user_sessions_pkey PRIMARY KEY (id),
  constraint user_sessions_token_key UNIQUE (token),
  constraint user_sessions_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);
CREATE INDEX user_sessions_user_id_idx ON public.user_sessions USING btree (user_id);

create table user_two_factors (
  id uuid not null,
  user_id uuid not null,
  secret text not null,
  backup_codes text not null,
  verified boolean default true,
  failed_verification_count integer default 0,
  locked_until timestamp(3) with time zone,
  constraint user_two_factors_pkey PRIMARY KEY (id),
  constraint user_two_factors_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);
CREATE INDEX user_two_factors_secret_idx ON public.user_two_factors USING btree (secret);
CREATE INDEX user_two_factors_user_id_idx ON public.user_two_factors USING btree (user_id);

create table user_verifications (
  id uuid not null,
  identifier text not null,
  value text not null,
  expires_at timestamp(3) with time zone not null,
  created_at timestamp(3) with time zone default now() not null,
  updated_at timestamp(3) with time zone default now() not null,
  constraint user_verifications_pkey PRIMARY KEY (id)
);
CREATE INDEX user_verifications_identifier_idx ON public.user_verifications USING btree (identifier);

create table users (
  id uuid not null,
  name text not null,
  email text not null,
  email_verified boolean default false not null,
  image text,
  language text default 'pt-BR'::text,
  staff text,
  two_factor_enabled boolean default false,
  created_at timestamp(3) with time zone default now() not null,
  updated_at timestamp(3) with time zone default now() not null,
  account_made_at timestamp(3) with time zone,
  muted_mails text[] default '{}'::text[],
  constraint users_pkey PRIMARY KEY (id),
  constraint users_email_key UNIQUE (email),
  constraint users_email_check CHECK (email = lower(email)),
  constraint users_language_check CHECK (language = ANY (ARRAY['pt-BR'::text, 'en'::text])),
  constraint users_name_check CHECK (length(name) >= 1 AND length(name) <= 200),
  constraint users_staff_check CHECK (staff = ANY (ARRAY['operator'::text, 'on_call'::text]))
);
CREATE INDEX users_staff ON public.users USING btree (id) WHERE (staff IS NOT NULL);
