-- The database as it is after all migrations. Made by `npm run generate`; a test fails when it is stale.

create type active_holds as (all_live boolean, countries text[], accounts uuid[]);

create unlogged table account_turns (
  account_id uuid not null,
  starts_at double precision not null,
  ends_at double precision not null,
  constraint account_turns_pkey PRIMARY KEY (account_id),
  constraint account_turns_check CHECK (ends_at > starts_at)
);
CREATE INDEX account_turns_starts_at_idx ON public.account_turns USING btree (starts_at);

create table accounts (
  id uuid not null,
  name text not null,
  language text not null,
  free_quota integer not null,
  credits integer default 0 not null,
  rate_per_minute integer,
  sends_created bigint default 0 not null,
  created_at timestamp(3) with time zone default now() not null,
  allowed_countries text[],
  breaker_unverified_percent integer,
  breaker_min_sends integer,
  suspended_at timestamp(3) with time zone,
  suspension_reason text,
  trial_countries text[],
  weight integer default 1 not null,
  rate_window_number bigint default 1 not null,
  constraint accounts_pkey PRIMARY KEY (id),
  constraint accounts_allowed_countries_check CHECK (array_to_string(allowed_countries, ','::text, '?'::text) ~ '^[A-Z]{2}(,[A-Z]{2})*$'::text),
  constraint accounts_breaker_min_sends_check CHECK (breaker_min_sends >= 1 AND breaker_min_sends <= 1000),
  constraint accounts_breaker_unverified_percent_check CHECK (breaker_unverified_percent >= 1 AND breaker_unverified_percent <= 100),
  constraint accounts_credits_check CHECK (credits >= 0),
  constraint accounts_free_quota_check CHECK (free_quota >= 0),
  constraint accounts_language_check CHECK (language = ANY (ARRAY['pt-BR'::text, 'en'::text])),
  constraint accounts_name_check CHECK (length(name) >= 1 AND length(name) <= 200),
  constraint accounts_rate_per_minute_check CHECK (rate_per_minute >= 1 AND rate_per_minute <= 1000000),
  constraint accounts_suspension_check CHECK ((suspended_at IS NULL) = (suspension_reason IS NULL)),
  constraint accounts_suspension_reason_check CHECK (length(suspension_reason) >= 1 AND length(suspension_reason) <= 200),
  constraint accounts_trial_countries_check CHECK (array_to_string(trial_countries, ','::text, '?'::text) ~ '^[A-Z]{2}(,[A-Z]{2})*$'::text),
  constraint accounts_weight_check CHECK (weight >= 1 AND weight <= 100) NOT VALID,
  constraint breaker_is_whole CHECK ((breaker_unverified_percent IS NULL) = (breaker_min_sends IS NULL))
) with (fillfactor=50);
CREATE INDEX accounts_name_words ON public.accounts USING gin (array_to_tsvector(name_words(name)));
CREATE TRIGGER accounts_raise_callers_version AFTER UPDATE OF suspended_at ON public.accounts FOR EACH STATEMENT EXECUTE FUNCTION raise_callers_version();

create table api_keys (
  id uuid not null,
  application_id uuid not null,
  hash bytea not null,
  hint text not null,
  name text,
  created_at timestamp(3) with time zone default now() not null,
  revoked_at timestamp(3) with time zone,
  last_used_at timestamp(3) with time zone,
  user_id uuid,
  sealed_key bytea,
  expires_at timestamp(3) with time zone,
  constraint api_keys_pkey PRIMARY KEY (id),
  constraint api_keys_hash_key UNIQUE (hash),
  constraint api_keys_application_id_fkey FOREIGN KEY (application_id) REFERENCES applications(id),
  constraint api_keys_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id),
  constraint api_keys_hash_check CHECK (octet_length(hash) = 32),
  constraint api_keys_name_check CHECK (length(name) >= 1 AND length(name) <= 100),
  constraint api_keys_visit_check CHECK (num_nulls(user_id, sealed_key, expires_at) = ANY (ARRAY[0, 3]))
);
CREATE INDEX api_keys_application_id_idx ON public.api_keys USING btree (application_id);
CREATE INDEX api_keys_expires_at ON public.api_keys USING btree (expires_at) WHERE (expires_at IS NOT NULL);
CREATE TRIGGER keys_raise_callers_version AFTER DELETE OR UPDATE OF hash, application_id, revoked_at ON public.api_keys FOR EACH STATEMENT EXECUTE FUNCTION raise_callers_version();

create table applications (
  id uuid not null,
  account_id uuid not null,
  name text not null,
  mode text not null,
  per_minute integer,
  per_recipient_hour integer,
  sends_created bigint default 0 not null,
  created_at timestamp(3) with time zone default now() not null,
  identity_check text default 'off'::text not null,
  rate_window_number bigint default 1 not null,
  constraint applications_pkey PRIMARY KEY (id),
  constraint applications_id_account_id_mode_key UNIQUE (id, account_id, mode),
  constraint applications_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint applications_identity_check_check CHECK (identity_check = ANY (ARRAY['off'::text, 'observe'::text, 'enforce'::text])),
  constraint applications_mode_check CHECK (mode = ANY (ARRAY['test'::text, 'live'::text])),
  constraint applications_name_check CHECK (length(name) >= 1 AND length(name) <= 200),
  constraint applications_per_minute_check CHECK (per_minute >= 1 AND per_minute <= 1000000),
  constraint applications_per_recipient_hour_check CHECK (per_recipient_hour >= 1 AND per_recipient_hour <= 1000000)
) with (fillfactor=50);
CREATE INDEX applications_account_id_idx ON public.applications USING btree (account_id);
CREATE TRIGGER applications_raise_callers_version AFTER UPDATE OF account_id, mode ON public.applications FOR EACH STATEMENT EXECUTE FUNCTION raise_callers_version();

create table attempts (
  id uuid not null,
  send_id uuid not null,
  sender_id uuid,
  outcome text,
  error_code integer,
  message_id text,
  started_at timestamp(3) with time zone default clock_timestamp() not null,
  finished_at timestamp(3) with time zone,
  constraint attempts_pkey PRIMARY KEY (id),
  constraint attempts_send_id_fkey FOREIGN KEY (send_id) REFERENCES sends(id),
  constraint attempts_sender_id_fkey FOREIGN KEY (sender_id) REFERENCES senders(id),
  constraint attempts_outcome_check CHECK (outcome = ANY (ARRAY['accepted'::text, 'retry'::text, 'unknown'::text, 'sender'::text, 'recipient'::text, 'config'::text])),
  constraint outcome_says_when CHECK ((outcome IS NULL) = (finished_at IS NULL))
);
CREATE INDEX attempts_message_id_idx ON public.attempts USING btree (message_id) WHERE (message_id IS NOT NULL);
CREATE INDEX attempts_send_id_idx ON public.attempts USING btree (send_id);

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
  constraint audit_entries_actor_kind_check CHECK (actor_kind = ANY (ARRAY['user'::text, 'command_line'::text]))
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

create table business_accounts (
  id text not null,
  facts jsonb not null,
  constraint business_accounts_pkey PRIMARY KEY (id)
);

create table callers_version (
  id boolean default true not null,
  token uuid default gen_random_uuid() not null,
  constraint callers_version_pkey PRIMARY KEY (id),
  constraint callers_version_id_check CHECK (id)
);

create table code_erasure (
  id boolean default true not null,
  up_to uuid not null,
  constraint code_erasure_pkey PRIMARY KEY (id),
  constraint code_erasure_id_check CHECK (id)
);

create table counted_messages (
  attempt_id uuid not null,
  is_delivery boolean not null,
  constraint counted_messages_pkey PRIMARY KEY (attempt_id, is_delivery)
);

create table counted_tries (
  key_hash bytea not null,
  tries integer not null,
  first_at timestamp(3) with time zone default clock_timestamp() not null,
  window_seconds integer default 900 not null,
  constraint counted_tries_pkey PRIMARY KEY (key_hash),
  constraint counted_tries_key_hash_check CHECK (octet_length(key_hash) = 32),
  constraint counted_tries_tries_check CHECK (tries >= 0),
  constraint counted_tries_window_seconds_check CHECK (window_seconds >= 900)
);
CREATE INDEX counted_tries_first_at_idx ON public.counted_tries USING btree (first_at);

create table credit_grants (
  id uuid not null,
  account_id uuid not null,
  amount integer not null,
  reason text not null,
  constraint credit_grants_pkey PRIMARY KEY (id),
  constraint credit_grants_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint credit_grants_amount_check CHECK (amount > 0)
);

create table denials (
  message_id text not null,
  occurred_at timestamp(3) with time zone not null,
  received_at timestamp(3) with time zone default now() not null,
  send_id uuid,
  account_id uuid,
  application_id uuid,
  country text,
  due_at timestamp(3) with time zone default now(),
  tries integer default 0 not null,
  constraint denials_pkey PRIMARY KEY (message_id),
  constraint denials_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint denials_application_id_fkey FOREIGN KEY (application_id) REFERENCES applications(id),
  constraint denials_send_id_fkey FOREIGN KEY (send_id) REFERENCES sends(id)
);
CREATE INDEX denials_account_id ON public.denials USING btree (account_id, received_at) WHERE (account_id IS NOT NULL);
CREATE INDEX denials_due_at ON public.denials USING btree (due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX denials_send_id ON public.denials USING btree (send_id) WHERE (send_id IS NOT NULL);
CREATE INDEX denials_unmatched ON public.denials USING btree (received_at) WHERE (send_id IS NULL);

create table guess_budgets (
  account_id uuid not null,
  mode text not null,
  recipient text not null,
  id uuid default gen_random_uuid() not null,
  wrong_in_a_row integer not null,
  guess_points integer default 0 not null,
  guess_cost smallint default 1 not null,
  last_wrong_at timestamp(3) with time zone not null,
  constraint guess_budgets_pkey PRIMARY KEY (account_id, mode, recipient),
  constraint guess_budgets_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint guess_budgets_guess_points_check CHECK (guess_points >= 0),
  constraint guess_budgets_mode_check CHECK (mode = ANY (ARRAY['test'::text, 'live'::text])),
  constraint guess_budgets_recipient_check CHECK (recipient ~ '^\+[1-9][0-9]{4,14}$'::text),
  constraint guess_budgets_wrong_in_a_row_check CHECK (wrong_in_a_row > 0)
);

create table health_readings (
  id boolean default true not null,
  read_at timestamp(3) with time zone not null,
  reading jsonb not null,
  constraint health_readings_pkey PRIMARY KEY (id),
  constraint health_readings_id_check CHECK (id)
);

create unlogged table heartbeats (
  loop text not null,
  worker_id uuid not null,
  ran_at timestamp(3) with time zone default clock_timestamp() not null,
  constraint heartbeats_pkey PRIMARY KEY (loop, worker_id),
  constraint heartbeats_loop_check CHECK (loop = ANY (ARRAY['sweep'::text, 'wake'::text, 'breaker'::text, 'clean_up'::text]))
) with (fillfactor=50);

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
  created_at timestamp(3) with time zone default clock_timestamp() not null,
  constraint ledger_entries_pkey PRIMARY KEY (id),
  constraint ledger_entries_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint ledger_entries_send_id_fkey FOREIGN KEY (send_id) REFERENCES sends(id),
  constraint granted_to_no_send CHECK ((kind = 'granted'::text) = (send_id IS NULL)),
  constraint ledger_entries_bucket_check CHECK (bucket = ANY (ARRAY['free_quota'::text, 'credit'::text])),
  constraint ledger_entries_kind_check CHECK (kind = ANY (ARRAY['granted'::text, 'reserved'::text, 'returned'::text])),
  constraint ledger_entries_units_check CHECK (units > 0),
  constraint one_unit_a_send CHECK (send_id IS NULL OR units = 1)
);
CREATE INDEX ledger_entries_account_id_idx ON public.ledger_entries USING btree (account_id, id);
CREATE UNIQUE INDEX ledger_entries_once ON public.ledger_entries USING btree (send_id, kind) WHERE (send_id IS NOT NULL);

create table logged_reads (
  user_id uuid not null,
  action text not null,
  subject text not null,
  logged_at timestamp(3) with time zone default clock_timestamp() not null,
  constraint logged_reads_pkey PRIMARY KEY (user_id, action, subject),
  constraint logged_reads_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);

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
  delivered bigint not null,
  free_sends bigint not null,
  credits bigint not null,
  constraint message_costs_pkey PRIMARY KEY (day, country, category, type, billable, pricing_model)
);

create table message_templates (
  business_account_id text not null,
  name text not null,
  language text not null,
  facts jsonb not null,
  constraint message_templates_pkey PRIMARY KEY (business_account_id, name, language)
);

create unlogged table processes (
  id uuid not null,
  kind text not null,
  release text not null,
  last_migration text not null,
  started_at timestamp(3) with time zone default clock_timestamp() not null,
  seen_at timestamp(3) with time zone default clock_timestamp() not null,
  stopped_at timestamp(3) with time zone,
  clock_ahead_ms double precision,
  constraint processes_pkey PRIMARY KEY (id),
  constraint processes_kind_check CHECK (kind = ANY (ARRAY['api'::text, 'worker'::text, 'console'::text]))
);

create table provider_changes (
  id bigint generated always as identity not null,
  digest bytea not null,
  business_account_id text not null,
  field text not null,
  value jsonb not null,
  occurred_at timestamp(3) with time zone not null,
  received_at timestamp(3) with time zone default now() not null,
  due_at timestamp(3) with time zone default now(),
  result text,
  constraint provider_changes_pkey PRIMARY KEY (id),
  constraint provider_changes_digest_key UNIQUE (digest),
  constraint provider_changes_done_check CHECK ((due_at IS NULL) = (result IS NOT NULL)),
  constraint provider_changes_result_check CHECK (result = ANY (ARRAY['applied'::text, 'ignored'::text]))
);
CREATE INDEX provider_changes_due_at ON public.provider_changes USING btree (due_at, id) WHERE (due_at IS NOT NULL);
CREATE INDEX provider_changes_received_at ON public.provider_changes USING btree (received_at);

create table receipts (
  id bigint generated always as identity not null,
  message_id text not null,
  attempt_id uuid,
  status text not null,
  occurred_at timestamp(3) with time zone not null,
  failure jsonb,
  received_at timestamp(3) with time zone default now() not null,
  due_at timestamp(3) with time zone default now(),
  tries integer default 0 not null,
  result text,
  pricing jsonb,
  identity_hash text,
  constraint receipts_pkey PRIMARY KEY (id),
  constraint receipts_result_check CHECK (result = ANY (ARRAY['applied'::text, 'ignored'::text, 'unmatched'::text])),
  constraint receipts_status_check CHECK (status = ANY (ARRAY['sent'::text, 'delivered'::text, 'read'::text, 'failed'::text])),
  constraint result_when_done CHECK ((due_at IS NULL) = (result IS NOT NULL))
);
CREATE UNIQUE INDEX receipts_by_attempt ON public.receipts USING btree (attempt_id, message_id, status) NULLS NOT DISTINCT;
CREATE INDEX receipts_due_at ON public.receipts USING btree (due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX receipts_received_at ON public.receipts USING btree (received_at);

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

create table releases (
  release text not null,
  first_started_at timestamp(3) with time zone default clock_timestamp() not null,
  constraint releases_pkey PRIMARY KEY (release)
);

create table schema_contracts (
  migration_name text not null,
  oldest_release text,
  reason text not null,
  applied_at timestamp(3) with time zone default clock_timestamp() not null,
  constraint schema_contracts_pkey PRIMARY KEY (migration_name)
);

create table send_identities (
  send_id uuid not null,
  application_id uuid not null,
  canonical_recipient text not null,
  identity_hash text,
  has_changed boolean not null,
  seen_at timestamp(3) with time zone default now() not null,
  constraint send_identities_pkey PRIMARY KEY (send_id),
  constraint send_identities_application_id_fkey FOREIGN KEY (application_id) REFERENCES applications(id),
  constraint send_identities_send_id_fkey FOREIGN KEY (send_id) REFERENCES sends(id)
);
CREATE INDEX send_identities_recipient ON public.send_identities USING btree (application_id, canonical_recipient, seen_at);

create unlogged table send_slots (
  sender_id uuid not null,
  free_at timestamp(6) with time zone default '1970-01-01 00:00:00+00'::timestamp with time zone not null,
  promised_to timestamp(6) with time zone default '1970-01-01 00:00:00+00'::timestamp with time zone not null,
  constraint send_slots_pkey PRIMARY KEY (sender_id),
  constraint send_slots_sender_id_fkey FOREIGN KEY (sender_id) REFERENCES senders(id) ON DELETE CASCADE
) with (fillfactor=50);

create table sender_country_blocks (
  sender_id uuid not null,
  country text not null,
  blocked_until timestamp(3) with time zone not null,
  error_code integer,
  constraint sender_country_blocks_pkey PRIMARY KEY (sender_id, country),
  constraint sender_country_blocks_sender_id_fkey FOREIGN KEY (sender_id) REFERENCES senders(id),
  constraint sender_country_blocks_country_check CHECK (country ~ '^[A-Z]{2}$'::text)
);

create table sender_language_stops (
  sender_id uuid not null,
  locale text not null,
  code integer,
  source text not null,
  reason text not null,
  consecutive_failures integer default 0 not null,
  stopped_at timestamp(3) with time zone default now() not null,
  stopped_until timestamp(3) with time zone,
  constraint sender_language_stops_pkey PRIMARY KEY (sender_id, locale),
  constraint sender_language_stops_sender_id_fkey FOREIGN KEY (sender_id) REFERENCES senders(id) ON DELETE CASCADE,
  constraint sender_language_stops_consecutive_failures_check CHECK (consecutive_failures >= 0),
  constraint sender_language_stops_locale_check CHECK (locale = ANY (ARRAY['pt-BR'::text, 'en'::text])),
  constraint sender_language_stops_source_check CHECK (source = ANY (ARRAY['answer'::text, 'receipt'::text, 'webhook'::text, 'read'::text]))
);

create table sender_readings (
  sender_id uuid not null,
  facts jsonb default '{}'::jsonb not null,
  due_at timestamp(3) with time zone default now() not null,
  tried_at timestamp(3) with time zone,
  read_at timestamp(3) with time zone,
  failures jsonb default '{}'::jsonb not null,
  recipients_24h integer,
  constraint sender_readings_pkey PRIMARY KEY (sender_id),
  constraint sender_readings_sender_id_fkey FOREIGN KEY (sender_id) REFERENCES senders(id) ON DELETE CASCADE
);
CREATE INDEX sender_readings_due_at ON public.sender_readings USING btree (due_at);

create unlogged table sender_recipient_windows (
  sender_id uuid not null,
  recipient_hash bigint not null,
  free_at timestamp(6) with time zone not null,
  refusals smallint default 0 not null,
  constraint sender_recipient_windows_pkey PRIMARY KEY (sender_id, recipient_hash)
);
CREATE INDEX sender_recipient_windows_free_at ON public.sender_recipient_windows USING btree (free_at);

create table senders (
  id uuid not null,
  phone_number_id text not null,
  number text not null,
  sealed_token bytea not null,
  template text not null,
  english_template_language text not null,
  throughput integer default 80 not null,
  consecutive_failures integer default 0 not null,
  paused_at timestamp(3) with time zone,
  paused_until timestamp(3) with time zone,
  pause_reason text,
  created_at timestamp(3) with time zone default now() not null,
  pause_source text,
  faulted_at timestamp(3) with time zone,
  business_account_id text,
  constraint senders_pkey PRIMARY KEY (id),
  constraint senders_phone_number_id_key UNIQUE (phone_number_id),
  constraint pause_has_a_beginning CHECK (paused_at IS NOT NULL OR paused_until IS NULL),
  constraint pause_says_why CHECK ((paused_at IS NULL) = (pause_reason IS NULL)),
  constraint senders_business_account_id_check CHECK (business_account_id ~ '^[0-9]{1,32}$'::text),
  constraint senders_consecutive_failures_check CHECK (consecutive_failures >= 0),
  constraint senders_english_template_language_check CHECK (english_template_language = ANY (ARRAY['en'::text, 'en_US'::text])),
  constraint senders_number_check CHECK (number ~ '^\+[1-9][0-9]{4,14}$'::text),
  constraint senders_pause_source_check CHECK (pause_source = ANY (ARRAY['operator'::text, 'answer'::text, 'receipt'::text, 'webhook'::text, 'read'::text])),
  constraint senders_phone_number_id_check CHECK (phone_number_id ~ '^[0-9]{1,32}$'::text),
  constraint senders_template_check CHECK (template ~ '^[a-z0-9_]+$'::text AND length(template) <= 512),
  constraint senders_throughput_check CHECK (throughput >= 1 AND throughput <= 1000)
);

create table sends (
  id uuid not null,
  account_id uuid not null,
  application_id uuid not null,
  mode text not null,
  account_number bigint not null,
  application_number bigint not null,
  idempotency_key bytea,
  body_hash bytea,
  recipient text not null,
  canonical_recipient text not null,
  country text,
  locale text not null,
  charged_from text,
  code_hash bytea not null,
  sealed_code bytea,
  guess_cost smallint default 1 not null,
  status text default 'queued'::text not null,
  verification text default 'pending'::text not null,
  wrong_guesses smallint default 0 not null,
  wrong_guess_times timestamp(3) with time zone[],
  channel text,
  from_number text,
  sender_id uuid,
  attempts smallint default 0 not null,
  attempt_id uuid,
  receipt_until timestamp(3) with time zone,
  awaiting_sender boolean default false not null,
  due_at timestamp(3) with time zone,
  next_enqueue_at timestamp(3) with time zone,
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
  promised_until timestamp(3) with time zone,
  lost_at timestamp(3) with time zone,
  request_id uuid,
  traceparent text,
  constraint sends_pkey PRIMARY KEY (id),
  constraint sends_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint sends_application_id_account_id_mode_fkey FOREIGN KEY (application_id, account_id, mode) REFERENCES applications(id, account_id, mode),
  constraint sends_sender_id_fkey FOREIGN KEY (sender_id) REFERENCES senders(id),
  constraint sends_are_valid CHECK (send_is_valid(sends.*))
);
CREATE UNIQUE INDEX sends_account_number ON public.sends USING btree (account_id, account_number);
CREATE UNIQUE INDEX sends_application_number ON public.sends USING btree (application_id, application_number);
CREATE INDEX sends_awaiting_sender ON public.sends USING btree (created_at) WHERE awaiting_sender;
CREATE INDEX sends_awaiting_turn ON public.sends USING btree (account_id, COALESCE(country, 'ZZ'::text), locale, expires_at DESC) WHERE awaiting_sender;
CREATE INDEX sends_failed ON public.sends USING btree (application_id, application_number) WHERE (failed_at IS NOT NULL);
CREATE UNIQUE INDEX sends_idempotency_key ON public.sends USING btree (application_id, idempotency_key) WHERE (idempotency_key IS NOT NULL);
CREATE INDEX sends_locked_at ON public.sends USING btree (application_id, application_number) WHERE (locked_at IS NOT NULL);
CREATE INDEX sends_next_enqueue_at ON public.sends USING btree (next_enqueue_at) WHERE (next_enqueue_at IS NOT NULL);
CREATE INDEX sends_to_recipient ON public.sends USING btree (account_id, mode, canonical_recipient, created_at);

create table settings (
  id boolean default true not null,
  free_sends integer default 10 not null,
  code_validity_seconds integer default 600 not null,
  account_rate_per_minute integer default 600 not null,
  guess_budget integer default 100,
  trial_sends_per_day integer default 500 not null,
  sign_ups_per_network_day integer default 20 not null,
  sign_ups_per_domain_day integer default 100 not null,
  staff_two_factor text default 'optional'::text not null,
  constraint settings_pkey PRIMARY KEY (id),
  constraint settings_account_rate_per_minute_check CHECK (account_rate_per_minute >= 1 AND account_rate_per_minute <= 1000000),
  constraint settings_code_validity_seconds_check CHECK (code_validity_seconds >= 1 AND code_validity_seconds <= 5400),
  constraint settings_free_sends_check CHECK (free_sends >= 0 AND free_sends <= 1000000),
  constraint settings_guess_budget_check CHECK (guess_budget >= 5 AND guess_budget <= 100),
  constraint settings_id_check CHECK (id),
  constraint settings_sign_ups_per_domain_day_check CHECK (sign_ups_per_domain_day >= 1 AND sign_ups_per_domain_day <= 1000000),
  constraint settings_sign_ups_per_network_day_check CHECK (sign_ups_per_network_day >= 1 AND sign_ups_per_network_day <= 1000000),
  constraint settings_staff_two_factor_check CHECK (staff_two_factor = ANY (ARRAY['optional'::text, 'required'::text])),
  constraint settings_trial_sends_per_day_check CHECK (trial_sends_per_day >= 0 AND trial_sends_per_day <= 1000000)
);

create table sign_in_limits (
  id uuid not null,
  key text not null,
  count integer not null,
  last_request bigint not null,
  constraint sign_in_limits_pkey PRIMARY KEY (id),
  constraint sign_in_limits_key_key UNIQUE (key)
);

create table throttles (
  scope text not null,
  subject text not null,
  refusals smallint not null,
  rate double precision not null,
  throttled_at timestamp(3) with time zone not null,
  recovered_at timestamp(3) with time zone,
  error_code integer,
  free_at timestamp(6) with time zone not null,
  promised_to timestamp(6) with time zone default '1970-01-01 00:00:00+00'::timestamp with time zone not null,
  constraint throttles_pkey PRIMARY KEY (scope, subject),
  constraint recovered_says_when CHECK ((refusals = 0) = (recovered_at IS NOT NULL)),
  constraint throttles_rate_check CHECK (rate > 0::double precision),
  constraint throttles_refusals_check CHECK (refusals >= 0),
  constraint throttles_scope_check CHECK (scope = ANY (ARRAY['sender'::text, 'business'::text, 'app'::text]))
);

create table traffic_counts (
  began_at timestamp(3) with time zone not null,
  event text not null,
  country text not null,
  sender_id text not null,
  reason text not null,
  count bigint not null,
  constraint traffic_counts_pkey PRIMARY KEY (began_at, event, country, sender_id, reason),
  constraint traffic_counts_count_check CHECK (count > 0)
);

create table trial_sends (
  day date not null,
  sends integer not null,
  constraint trial_sends_pkey PRIMARY KEY (day),
  constraint trial_sends_sends_check CHECK (sends >= 0)
);

create table uncounted_guesses (
  id uuid default gen_random_uuid() not null,
  send_id uuid not null,
  judged_at timestamp(3) with time zone default clock_timestamp() not null,
  due_at timestamp(3) with time zone default clock_timestamp() not null,
  constraint uncounted_guesses_pkey PRIMARY KEY (id)
);
CREATE INDEX uncounted_guesses_due_at ON public.uncounted_guesses USING btree (due_at);
CREATE INDEX uncounted_guesses_send_id ON public.uncounted_guesses USING btree (send_id);

create table used_two_factor_codes (
  user_id uuid not null,
  code_hash bytea not null,
  used_at timestamp(3) with time zone default clock_timestamp() not null,
  constraint used_two_factor_codes_pkey PRIMARY KEY (user_id, code_hash),
  constraint used_two_factor_codes_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE,
  constraint used_two_factor_codes_code_hash_check CHECK (octet_length(code_hash) = 32)
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
  constraint users_pkey PRIMARY KEY (id),
  constraint users_email_key UNIQUE (email),
  constraint users_email_check CHECK (email = lower(email)),
  constraint users_language_check CHECK (language = ANY (ARRAY['pt-BR'::text, 'en'::text])),
  constraint users_name_check CHECK (length(name) >= 1 AND length(name) <= 200),
  constraint users_staff_check CHECK (staff = ANY (ARRAY['operator'::text, 'on_call'::text]))
);

CREATE OR REPLACE FUNCTION public.account_number_at(p_account_id uuid, p_at timestamp with time zone)
 RETURNS bigint
 LANGUAGE plpgsql
 STABLE
AS $function$
declare
  v_low bigint := 1;
  v_high bigint;
  v_middle bigint;
  v_number bigint;
  v_created_at timestamptz;
begin
  select coalesce(max(s.account_number), 0) + 1 into v_high from sends s where s.account_id = p_account_id;
  while v_low < v_high loop
    v_middle := (v_low + v_high) / 2;
    select s.account_number, s.created_at into v_number, v_created_at from sends s
      where s.account_id = p_account_id and s.account_number >= v_middle order by s.account_number limit 1;
    if v_created_at >= p_at then
      v_high := v_middle;
    else
      v_low := v_number + 1;
    end if;
  end loop;
  return v_low;
end
$function$;

CREATE OR REPLACE FUNCTION public.active_holds()
 RETURNS active_holds
 LANGUAGE sql
 STABLE
AS $function$
  select (
    coalesce(bool_or(kind = 'live'), false),
    coalesce(array_agg(target) filter (where kind = 'country'), '{}'),
    coalesce(array_agg(target::uuid) filter (where kind = 'account'), '{}')
  )::active_holds
  from holds
$function$;

CREATE OR REPLACE FUNCTION public.active_throttles(p_now timestamp with time zone)
 RETURNS TABLE(scope text, subject text, free_at timestamp with time zone, promised_to timestamp with time zone, spacing interval, rate double precision)
 LANGUAGE sql
 STABLE
BEGIN ATOMIC
 SELECT w.scope,
     w.subject,
     w.free_at,
     w.promised_to,
         CASE
             WHEN (w.refusals > 0) THEN '00:00:05'::interval
             ELSE make_interval(secs => ((1)::double precision / w.rate))
         END AS make_interval,
     w.rate
    FROM ( SELECT t.scope,
             t.subject,
             t.free_at,
             t.promised_to,
             t.refusals,
             f.rate AS full_rate,
                 CASE
                     WHEN (t.refusals > 0) THEN t.rate
                     ELSE (t.rate + ((f.rate / (20)::double precision) * (EXTRACT(epoch FROM (active_throttles.p_now - t.recovered_at)))::double precision))
                 END AS rate
            FROM (throttles t
              CROSS JOIN LATERAL ( SELECT ((sum(r.throughput))::double precision * (0.9)::double precision) AS rate
                    FROM senders r
                   WHERE (sender_throttle_subject(t.scope, r.id, r.business_account_id) = t.subject)) f)) w
   WHERE ((w.refusals > 0) OR (w.rate < w.full_rate));
END;

CREATE OR REPLACE FUNCTION public.application_number_at(p_application_id uuid, p_account_number bigint)
 RETURNS bigint
 LANGUAGE plpgsql
 STABLE
AS $function$
declare
  v_low bigint := 1;
  v_high bigint;
  v_middle bigint;
  v_number bigint;
  v_account_number bigint;
begin
  select coalesce(max(s.application_number), 0) + 1 into v_high from sends s where s.application_id = p_application_id;
  while v_low < v_high loop
    v_middle := (v_low + v_high) / 2;
    select s.application_number, s.account_number into v_number, v_account_number from sends s
      where s.application_id = p_application_id and s.application_number >= v_middle order by s.application_number limit 1;
    if v_account_number >= p_account_number then
      v_high := v_middle;
    else
      v_low := v_number + 1;
    end if;
  end loop;
  return v_low;
end
$function$;

CREATE OR REPLACE FUNCTION public.create_sends(p_ids uuid[], p_key_ids uuid[], p_account_ids uuid[], p_application_ids uuid[], p_idempotency_keys bytea[], p_body_hashes bytea[], p_recipients text[], p_canonical_recipients text[], p_countries text[], p_costly boolean[], p_locales text[], p_code_hashes bytea[], p_sealed_codes bytea[], p_guess_costs integer[], p_request_ids uuid[], p_traceparents text[], p_wait_ms integer)
 RETURNS TABLE(ordinal bigint, outcome text, cause text, retry_after_seconds integer, now timestamp with time zone, send sends, account_window integer[], application_window integer[], recipient_window integer[])
 LANGUAGE plpgsql
AS $function$
declare
  w record;
  v_settings settings;
  v_locked record;
  v_is_locked boolean;
  v_has_waited boolean := false;
  v_account_id uuid;
  v_application_id uuid;
  v_account accounts;
  v_application applications;
  -- The numbers of the latest sends that were there before this call.
  v_account_before bigint;
  v_application_before bigint;
  v_open_at timestamptz;
  v_other_at timestamptz;
  v_number bigint;
  -- When the oldest send left the window, or is going to; null until it has been looked for.
  v_account_open_at timestamptz;
  v_application_open_at timestamptz;
  v_recipient_open_at timestamptz;
  v_account_limit integer;
  v_account_left integer;
  v_application_left integer;
  v_recipient_left integer;
  -- What this request takes of each quota.
  v_taken integer;
  v_known integer;
  v_charged_from text;
  -- Whether live sends have to wait for a sender; null until one is created.
  v_awaits boolean;
  -- How many more guesses, and points of guesses, may be open for the recipient beside this code's own; those that are; and those of
  -- codes that this call has made.
  v_guesses integer;
  v_room double precision;
  v_points_room double precision;
  v_open integer;
  v_open_points integer;
  v_new integer;
  v_new_points integer;
  v_day date;
  -- Of all trial accounts today; null until one is met.
  v_trial_sends integer;
  -- What this call has created for the application: the keys and recipients stand beside their sends.
  v_sends sends[] := '{}';
  v_keys bytea[] := '{}';
  v_recipients text[] := '{}';
  -- What this call has created for the account, live: whom for, and what a guess at it costs.
  v_open_recipients text[];
  v_open_costs integer[];
  -- What is to be written at the end.
  v_created sends[] := '{}';
  v_accounts accounts[] := '{}';
  v_applications applications[] := '{}';
begin
  select * into strict v_settings from settings;
  if p_wait_ms is not null then
    begin
      perform set_config('lock_timeout', p_wait_ms::text, true);
      perform from accounts a where a.id = any (p_account_ids) order by a.id for no key update;
      perform from applications p where p.id = any (p_application_ids) order by p.id for no key update;
      perform from trial_sends t
        where t.day = (clock_timestamp() at time zone 'UTC')::date
          and exists (select from accounts a where a.id = any (p_account_ids) and a.trial_countries is not null)
        for no key update;
      v_has_waited := true;
    exception when lock_not_available then
      -- Who still holds a lock is met below.
    end;
  end if;
  for w in
    -- What is looked up here for all at once is from before the locks: where an account has created something meanwhile, what is open
    -- to guesses is looked up again.
    select u.*, k.revoked_at is null and k.id is not null as key_is_valid, a.sends_created as account_created,
      b.wrong_in_a_row, b.guess_points, b.guess_cost as budget_cost, b.last_wrong_at,
      o.guesses as open_guesses, o.points as open_points, o.guess_cost as open_cost
    from unnest(
      p_ids, p_key_ids, p_account_ids, p_application_ids, p_idempotency_keys, p_body_hashes, p_recipients, p_canonical_recipients,
      p_countries, p_costly, p_locales, p_code_hashes, p_sealed_codes, p_guess_costs, p_request_ids, p_traceparents
    ) with ordinality as u (
      id, key_id, account_id, application_id, idempotency_key, body_hash, recipient, canonical_recipient, country, is_costly, locale,
      code_hash, sealed_code, guess_cost, request_id, traceparent, ordinal
    )
    left join api_keys k on k.id = u.key_id
    left join applications p on p.id = u.application_id
    left join accounts a on a.id = u.account_id
    left join guess_budgets b on b.account_id = u.account_id and b.mode = p.mode and b.recipient = u.canonical_recipient
    left join lateral (
      select sum(c.guesses) as guesses, sum(c.guesses * c.guess_cost) as points, max(c.guess_cost) as guess_cost
      from open_codes(u.account_id, u.canonical_recipient) c
    ) o on p.mode = 'live'
    order by u.account_id, u.application_id, u.ordinal
  loop
    if w.application_id is distinct from v_application_id or w.account_id is distinct from v_account_id then
      v_created := v_created || v_sends;
      v_applications := v_applications || v_application;
      v_sends := '{}';
      v_keys := '{}';
      v_recipients := '{}';
      v_account_id := w.account_id;
      v_application_id := w.application_id;
      select a as account, p as application into v_locked
        from accounts a join applications p on p.account_id = a.id
        where a.id = w.account_id and p.id = w.application_id
        for no key update of a, p skip locked;
      v_is_locked := found;
      if v_is_locked then
        if w.account_id is distinct from v_account.id then
          v_accounts := v_accounts || v_account;
          v_account := v_locked.account;
          v_account_before := v_account.sends_created;
          v_open_recipients := '{}';
          v_open_costs := '{}';
          -- After the lock, so that numbers and times of one account grow together.
          now := clock_timestamp();
          v_account_limit := coalesce(v_account.rate_per_minute, v_settings.account_rate_per_minute);
          v_account_open_at := null;
        end if;
        v_application := v_locked.application;
        v_application_before := v_application.sends_created;
        v_application_open_at := null;
      end if;
    end if;
    ordinal := w.ordinal;
    cause := null;
    retry_after_seconds := null;
    send := null;
    account_window := null;
    application_window := null;
    recipient_window := null;

    if not v_is_locked then
      if v_has_waited then
        raise no_data_found using message = 'no such application in this account';
      end if;
      outcome := 'busy';
      return next;
      continue;
    end if;

    -- The key was good when the request came, which may have waited since.
    if not w.key_is_valid or v_account.suspended_at is not null then
      outcome := 'key_refused';
      cause := case when w.key_is_valid then 'suspended' else 'revoked' end;
      return next;
      continue;
    end if;

    if w.idempotency_key is not null then
      v_known := array_position(v_keys, w.idempotency_key);
      if v_known is not null then
        send := v_sends[v_known];
      else
        select * into send from sends s
          where s.application_id = w.application_id and s.idempotency_key = w.idempotency_key;
      end if;
      if send.id is not null then
        outcome := case when send.body_hash = w.body_hash then 'existing' else 'reused' end;
        return next;
        continue;
      end if;
    end if;

    -- A number of no country is on no list.
    if not coalesce(w.country = any (v_account.allowed_countries), v_account.allowed_countries is null) then
      outcome := 'recipient_refused';
      cause := 'country';
      return next;
      continue;
    end if;
    if v_account.trial_countries is not null and v_application.mode = 'live' then
      cause := case
        when w.is_costly then 'trial_range'
        when not coalesce(w.country = any (v_account.trial_countries), false) then 'trial_country'
      end;
      if cause is not null then
        outcome := 'recipient_refused';
        return next;
        continue;
      end if;
      if v_trial_sends is null then
        v_day := (now at time zone 'UTC')::date;
        if not exists (select from trial_sends t where t.day = v_day) then
          insert into trial_sends (day, sends) values (v_day, 0) on conflict do nothing;
        end if;
        select t.sends into v_trial_sends from trial_sends t where t.day = v_day for no key update skip locked;
        if not found then
          outcome := 'busy';
          return next;
          continue;
        end if;
      end if;
    end if;

    -- A window begins with its oldest send. That of the latest creation is kept: those before it have left the window since, so that each
    -- send is met once. Sends from more than a window ahead are from before the clock stepped back, and would hold the window for as long.
    -- (Times are compared in a form that tempts PostgreSQL to no index of times.) The last window to open is told.
    v_open_at := now;
    if v_account_open_at is null then
      select s.account_number, s.created_at + interval '1 minute' into v_number, v_account_open_at from sends s
        where s.account_id = w.account_id
          and s.account_number >= greatest(v_account.rate_window_number, v_account_before + 1 - v_account_limit)
          and s.created_at + interval '1 minute' > now and s.created_at - interval '1 minute' < now
        order by s.account_number limit 1;
      v_account.rate_window_number := coalesce(v_number, v_account_before + 1);
      v_account_open_at := coalesce(v_account_open_at, now + interval '1 minute');
    end if;
    v_account_left := v_account_limit + v_account.rate_window_number - v_account.sends_created - 1;
    if v_account_left <= 0 then
      v_open_at := v_account_open_at;
      cause := 'account_rate';
    end if;
    if v_application.per_minute is not null then
      if v_application_open_at is null then
        select s.application_number, s.created_at + interval '1 minute' into v_number, v_application_open_at from sends s
          where s.application_id = w.application_id
            and s.application_number >= greatest(v_application.rate_window_number, v_application_before + 1 - v_application.per_minute)
            and s.created_at + interval '1 minute' > now and s.created_at - interval '1 minute' < now
          order by s.application_number limit 1;
        v_application.rate_window_number := coalesce(v_number, v_application_before + 1);
        v_application_open_at := coalesce(v_application_open_at, now + interval '1 minute');
      end if;
      v_application_left := v_application.per_minute + v_application.rate_window_number - v_application.sends_created - 1;
      if v_application_left <= 0 and v_application_open_at > v_open_at then
        v_open_at := v_application_open_at;
        cause := 'application_rate';
      end if;
    end if;
    if v_application.per_recipient_hour is not null then
      v_recipient_left := v_application.per_recipient_hour - cardinality(array_positions(v_recipients, w.canonical_recipient));
      select v_recipient_left - count(*), coalesce(min(s.created_at), now) + interval '1 hour'
        into v_recipient_left, v_recipient_open_at
        from (
          select s.created_at from sends s
          where s.account_id = w.account_id and s.mode = v_application.mode and s.canonical_recipient = w.canonical_recipient
            and s.created_at > now - interval '1 hour' and s.created_at < now + interval '1 hour'
            and s.application_id = w.application_id
          order by s.created_at desc
          limit greatest(v_recipient_left, 0)
        ) s;
      if v_recipient_left <= 0 and v_recipient_open_at > v_open_at then
        v_open_at := v_recipient_open_at;
        cause := 'recipient_rate';
      end if;
    end if;
    if v_settings.guess_budget is not null then
      -- Codes that are open count in live mode only: what may be guessed there is to have room beforehand.
      v_guesses := case v_application.mode when 'live' then 5 else 1 end;
      if w.account_created <> v_account_before and v_application.mode = 'live' then
        -- One statement and so one snapshot, as above: a guess goes from what is open to what was wrong with one commit.
        select b.wrong_in_a_row, b.guess_points, b.guess_cost, b.last_wrong_at, o.guesses, o.points, o.guess_cost
          into w.wrong_in_a_row, w.guess_points, w.budget_cost, w.last_wrong_at, w.open_guesses, w.open_points, w.open_cost
          from (
            select sum(c.guesses) as guesses, sum(c.guesses * c.guess_cost) as points, max(c.guess_cost) as guess_cost
            from open_codes(w.account_id, w.canonical_recipient) c
          ) o left join guess_budgets b
            on b.account_id = w.account_id and b.mode = 'live' and b.recipient = w.canonical_recipient;
      end if;
      v_open := coalesce(w.open_guesses, 0);
      v_open_points := coalesce(w.open_points, 0);
      v_room := v_settings.guess_budget - v_guesses - coalesce(guesses_left_at(w.wrong_in_a_row, w.last_wrong_at, now), 0);
      v_points_room :=
        guess_points_max(v_settings.guess_budget, greatest(w.guess_cost, w.budget_cost, w.open_cost)) - v_guesses * w.guess_cost
        - coalesce(guesses_left_at(w.guess_points, w.last_wrong_at, now), 0);
      v_new := 0;
      v_new_points := 0;
      if w.canonical_recipient = any (v_open_recipients) and v_application.mode = 'live' then
        select 5 * count(*), 5 * sum(n.guess_cost) into v_new, v_new_points
          from unnest(v_open_recipients, v_open_costs) as n (recipient, guess_cost) where n.recipient = w.canonical_recipient;
      end if;
      if least(v_room, v_points_room) < 0 then
        v_other_at := now + make_interval(secs => -least(v_room, v_points_room) / 5 * 86400);
        if v_other_at > v_open_at then
          v_open_at := v_other_at;
          cause := 'wrong_guesses';
        end if;
      elsif v_open + v_new > v_room or v_open_points + v_new_points > v_points_room then
        -- When so many have ended that there is room for this one. Those that were guessed at since they were counted are open no more.
        v_other_at := interval '15 seconds' + case
          when v_new > v_room or v_new_points > v_points_room
            then now + make_interval(secs => v_settings.code_validity_seconds)
          else (
            select coalesce(max(o.expires_at), now) from (
              select c.expires_at, sum(c.guesses) over later as guesses, sum(c.guesses * c.guess_cost) over later as points
              from open_codes(w.account_id, w.canonical_recipient) c
              window later as (order by c.expires_at desc)
            ) o where o.guesses + v_new > v_room or o.points + v_new_points > v_points_room
          )
        end;
        if v_other_at > v_open_at then
          v_open_at := v_other_at;
          cause := 'open_codes';
        end if;
      end if;
    end if;
    if v_account.breaker_unverified_percent is not null and v_application.mode = 'live' then
      select t.open_until into v_other_at from breaker_trips t
        where t.account_id = w.account_id and t.country = coalesce(w.country, 'ZZ');
      if v_other_at > v_open_at then
        v_open_at := v_other_at;
        cause := 'breaker';
      end if;
    end if;
    if v_account.trial_countries is not null and v_application.mode = 'live' and v_trial_sends >= v_settings.trial_sends_per_day then
      v_other_at := (v_day + 1)::timestamp at time zone 'UTC';
      if v_other_at > v_open_at then
        v_open_at := v_other_at;
        cause := 'trial_ceiling';
      end if;
    end if;
    v_charged_from := null;
    outcome := 'created';
    if v_open_at > now then
      outcome := 'rate_limited';
      retry_after_seconds := ceil(extract(epoch from v_open_at - now));
    elsif v_application.mode = 'live' then
      v_charged_from := case when v_account.free_quota > 0 then 'free_quota' when v_account.credits > 0 then 'credit' end;
      if v_charged_from is null then
        outcome := 'insufficient_credits';
      end if;
    end if;
    v_taken := (outcome = 'created')::integer;
    account_window := array[
      v_account_limit, greatest(v_account_left - v_taken, 0), ceil(extract(epoch from v_account_open_at - now))::integer
    ];
    if v_application.per_minute is not null then
      application_window := array[
        v_application.per_minute, greatest(v_application_left - v_taken, 0),
        ceil(extract(epoch from v_application_open_at - now))::integer
      ];
    end if;
    if v_application.per_recipient_hour is not null then
      recipient_window := array[
        v_application.per_recipient_hour, greatest(v_recipient_left - v_taken, 0),
        ceil(extract(epoch from v_recipient_open_at - now))::integer
      ];
    end if;
    if outcome <> 'created' then
      return next;
      continue;
    end if;

    if v_application.mode = 'live' then
      v_open_recipients := v_open_recipients || w.canonical_recipient;
      v_open_costs := v_open_costs || w.guess_cost;
      if v_account.trial_countries is not null then
        v_trial_sends := v_trial_sends + 1;
      end if;
      v_awaits := coalesce(v_awaits, slots_are_taken());
    end if;

    v_account.sends_created := v_account.sends_created + 1;
    v_account.free_quota := v_account.free_quota - (v_charged_from is not distinct from 'free_quota')::integer;
    v_account.credits := v_account.credits - (v_charged_from is not distinct from 'credit')::integer;
    v_application.sends_created := v_application.sends_created + 1;
    send.id := w.id;
    send.account_id := w.account_id;
    send.application_id := w.application_id;
    send.mode := v_application.mode;
    send.account_number := v_account.sends_created;
    send.application_number := v_application.sends_created;
    send.idempotency_key := w.idempotency_key;
    send.body_hash := w.body_hash;
    send.recipient := w.recipient;
    send.canonical_recipient := w.canonical_recipient;
    send.country := w.country;
    send.locale := coalesce(w.locale, v_account.language);
    send.charged_from := v_charged_from;
    send.code_hash := w.code_hash;
    send.sealed_code := w.sealed_code;
    send.guess_cost := w.guess_cost;
    send.request_id := w.request_id;
    send.traceparent := w.traceparent;
    send.status := 'queued';
    send.verification := 'pending';
    send.wrong_guesses := 0;
    send.attempts := 0;
    send.created_at := now;
    send.expires_at := now + make_interval(secs => v_settings.code_validity_seconds);
    send.awaiting_sender := v_application.mode = 'live' and v_awaits;
    send.due_at := case when send.awaiting_sender then send.expires_at else now end;
    send.next_enqueue_at := send.due_at + interval '2 seconds';
    send.version := 0;
    v_sends := v_sends || send;
    v_keys := v_keys || w.idempotency_key;
    v_recipients := v_recipients || w.canonical_recipient;
    return next;
  end loop;

  v_created := v_created || v_sends;
  v_accounts := v_accounts || v_account;
  v_applications := v_applications || v_application;
  -- A refusal too moves the beginning of a window that has a hundred fewer to look through then, unless the look began within it.
  update accounts a set
      sends_created = v.sends_created, rate_window_number = v.rate_window_number, free_quota = v.free_quota, credits = v.credits
    from unnest(v_accounts) v where a.id = v.id and (
      a.sends_created < v.sends_created
      or v.rate_window_number >= a.rate_window_number + 100
        and v.rate_window_number > v.sends_created + 1 - coalesce(v.rate_per_minute, v_settings.account_rate_per_minute)
    );
  update applications a set sends_created = v.sends_created, rate_window_number = v.rate_window_number
    from unnest(v_applications) v where a.id = v.id and (
      a.sends_created < v.sends_created
      or v.rate_window_number >= a.rate_window_number + 100 and v.rate_window_number > v.sends_created + 1 - v.per_minute
    );
  if v_day is not null then
    update trial_sends t set sends = v_trial_sends where t.day = v_day and t.sends < v_trial_sends;
  end if;
  insert into sends (
    id, account_id, application_id, mode, account_number, application_number, idempotency_key, body_hash, recipient,
    canonical_recipient, country, locale, charged_from, code_hash, sealed_code, guess_cost, status, verification, wrong_guesses, attempts,
    awaiting_sender, due_at, next_enqueue_at, created_at, expires_at, version, request_id, traceparent
  ) select
    id, account_id, application_id, mode, account_number, application_number, idempotency_key, body_hash, recipient,
    canonical_recipient, country, locale, charged_from, code_hash, sealed_code, guess_cost, status, verification, wrong_guesses, attempts,
    awaiting_sender, due_at, next_enqueue_at, created_at, expires_at, version, request_id, traceparent
  from unnest(v_created);
  insert into ledger_entries (account_id, send_id, kind, bucket, units)
    select account_id, id, 'reserved', charged_from, 1 from unnest(v_created) where charged_from is not null;
end
$function$;

CREATE OR REPLACE FUNCTION public.create_sends(p_ids uuid[], p_key_ids uuid[], p_account_ids uuid[], p_application_ids uuid[], p_idempotency_keys bytea[], p_body_hashes bytea[], p_recipients text[], p_canonical_recipients text[], p_countries text[], p_costly boolean[], p_locales text[], p_code_hashes bytea[], p_sealed_codes bytea[], p_guess_costs integer[], p_wait_ms integer)
 RETURNS TABLE(ordinal bigint, outcome text, cause text, retry_after_seconds integer, now timestamp with time zone, send sends)
 LANGUAGE sql
AS $function$
  select ordinal, outcome, cause, retry_after_seconds, now, send from create_sends(
    p_ids, p_key_ids, p_account_ids, p_application_ids, p_idempotency_keys, p_body_hashes, p_recipients, p_canonical_recipients,
    p_countries, p_costly, p_locales, p_code_hashes, p_sealed_codes, p_guess_costs, null::uuid[], null::text[], p_wait_ms
  )
$function$;

CREATE OR REPLACE FUNCTION public.direct_slot_wait_ms()
 RETURNS integer
 LANGUAGE sql
 IMMUTABLE
AS $function$ select 250 $function$;

CREATE OR REPLACE FUNCTION public.grant_credits(p_account_id uuid, p_amount integer, p_reason text, p_grant_id uuid, OUT outcome text, OUT before accounts, OUT after accounts)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
declare
  -- What the column can hold, less room for the units of sends that come back.
  c_credits_max constant integer := 2000000000;
  v_grant credit_grants;
begin
  select * into before from accounts where id = p_account_id for no key update;
  if not found then
    outcome := 'unknown';
    return;
  end if;
  after := before;

  -- Grants to one account come here one after the other, each seeing what the one before it wrote.
  select * into v_grant from credit_grants where id = p_grant_id;
  if found then
    outcome := case
      when v_grant.account_id = p_account_id and v_grant.amount = p_amount and v_grant.reason = p_reason then 'repeated'
      else 'other_grant'
    end;
    return;
  end if;
  if before.credits > c_credits_max - p_amount then
    outcome := 'too_many';
    return;
  end if;
  insert into credit_grants (id, account_id, amount, reason) values (p_grant_id, p_account_id, p_amount, p_reason)
  on conflict do nothing;
  -- A grant to another account took the id meanwhile.
  if not found then
    outcome := 'other_grant';
    return;
  end if;

  -- Whoever has paid is on trial no longer.
  update accounts set credits = credits + p_amount, trial_countries = null where id = p_account_id returning * into after;
  insert into ledger_entries (account_id, kind, bucket, units, reason) values (p_account_id, 'granted', 'credit', p_amount, p_reason);
  outcome := 'granted';
end
$function$;

CREATE OR REPLACE FUNCTION public.guess_points_max(budget integer, guess_cost integer)
 RETURNS integer
 LANGUAGE sql
 IMMUTABLE
AS $function$
  select case when guess_cost = 1 then budget else greatest(budget, 15 * guess_cost) end
$function$;

CREATE OR REPLACE FUNCTION public.guesses_left_at(guesses integer, last_wrong_at timestamp with time zone, at timestamp with time zone)
 RETURNS double precision
 LANGUAGE sql
 IMMUTABLE
AS $function$
  -- Of two guesses at once, the one that is written last may be the earlier one.
  select greatest(0, guesses - 5 * greatest(0, extract(epoch from at - last_wrong_at))::double precision / 86400)
$function$;

CREATE OR REPLACE FUNCTION public.is_held(holds active_holds, account_id uuid, country text)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE
AS $function$
  select (holds).all_live or coalesce(country, 'ZZ') = any ((holds).countries) or account_id = any ((holds).accounts)
$function$;

CREATE OR REPLACE FUNCTION public.name_words(p_name text)
 RETURNS text[]
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select array_remove(regexp_split_to_array(lower(p_name), '[\x01-\x2f\x3a-\x40\x5b-\x60\x7b-\x7f]+'), '')
$function$;

CREATE OR REPLACE FUNCTION public.open_codes(p_account_id uuid, p_recipient text)
 RETURNS TABLE(expires_at timestamp with time zone, guesses integer, guess_cost integer)
 LANGUAGE sql
 STABLE
AS $function$
  select s.expires_at, 5 - s.wrong_guesses, s.guess_cost::integer from sends s
  where s.account_id = p_account_id and s.mode = 'live' and s.canonical_recipient = p_recipient
    and s.created_at > statement_timestamp() - interval '91 minutes' and s.expires_at > statement_timestamp() - interval '15 seconds'
    and s.verification = 'pending'
  -- The order makes PostgreSQL take the index by recipient, even if it planned this while there were no sends.
  order by s.created_at desc
$function$;

CREATE OR REPLACE FUNCTION public.raise_callers_version()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  update callers_version set token = gen_random_uuid();
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.recipient_window_burst()
 RETURNS interval
 LANGUAGE sql
 IMMUTABLE
RETURN ((43)::double precision * recipient_window_spacing());

CREATE OR REPLACE FUNCTION public.recipient_window_spacing()
 RETURNS interval
 LANGUAGE sql
 IMMUTABLE
RETURN '00:00:06'::interval;

CREATE OR REPLACE FUNCTION public.refuse_audit_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception 'the audit log is only added to';
end
$function$;

CREATE OR REPLACE FUNCTION public.send_is_valid(send sends)
 RETURNS boolean
 LANGUAGE plpgsql
 IMMUTABLE
AS $function$
declare
  v_broken text := case
    when not (send.sealed_code is null or send.status in ('queued', 'sending', 'sent')) then 'sealed_code_only_while_needed'
    when not (send.mode = 'test' or send.sealed_code is not null or (send.status not in ('queued', 'sending') and send.lost_at is null))
      then 'sealed_code_while_needed'
    when not (send.channel = case send.mode when 'test' then 'sandbox' else 'whatsapp' end) then 'channel_fits_mode'
    when not (send.status = 'failed' or (send.status = 'queued') = (send.channel is null)) then 'channel_once_routed'
    when not (send.canonical_recipient ~ '^\+[1-9][0-9]{4,14}$') then 'canonical_recipient_is_a_number'
    when not ((send.due_at is null) = (send.next_enqueue_at is null)) then 'due_is_enqueued'
    when not (
      (send.status = 'failed') = (send.failed_at is not null) and (send.status = 'failed') = (send.failure_reason is not null)
    ) then 'failed_says_why'
    when not (send.guess_cost in (1, 10, 100)) then 'guess_cost_is_of_a_length'
    when not ((send.idempotency_key is null) = (send.body_hash is null)) then 'idempotency_key_with_body'
    when not ((send.mode = 'live') = (send.charged_from is not null)) then 'live_takes_a_unit'
    when not ((send.verification = 'locked') = (send.wrong_guesses = 5)) then 'locked_after_five'
    when not ((send.verification = 'locked') = (send.locked_at is not null)) then 'locked_says_when'
    when not (not send.awaiting_sender or send.status in ('queued', 'sending') or send.lost_at is not null) then 'only_waiting_sends_await'
    when not (
      (send.channel is not distinct from 'whatsapp') = (send.from_number is not null)
      and (send.from_number is null) = (send.sender_id is null)
    ) then 'sender_fits_channel'
    when not (send.attempts >= 0) then 'sends_attempts_check'
    when not (octet_length(send.body_hash) = 32) then 'sends_body_hash_check'
    when not (send.expires_at > send.created_at) then 'sends_check'
    when not (octet_length(send.code_hash) = 33) then 'sends_code_hash_check'
    when not (send.country ~ '^[A-Z]{2}$') then 'sends_country_check'
    when not (send.failure_reason in ('expired_before_delivery', 'attempts_exhausted', 'rejected_by_provider'))
      then 'sends_failure_reason_check'
    when not (octet_length(send.idempotency_key) between 1 and 255) then 'sends_idempotency_key_check'
    when not (send.locale in ('pt-BR', 'en')) then 'sends_locale_check'
    when not (send.recipient ~ '^\+[1-9][0-9]{4,14}$') then 'sends_recipient_check'
    when not (send.status in ('queued', 'sending', 'sent', 'delivered', 'read', 'failed')) then 'sends_status_check'
    when not (send.charged_from in ('free_quota', 'credit')) then 'sends_charged_from_check'
    when not (send.traceparent ~ '^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$') then 'sends_traceparent_check'
    when not (send.verification in ('pending', 'verified', 'locked')) then 'sends_verification_check'
    when not (cardinality(send.wrong_guess_times) <= 5) then 'sends_wrong_guess_times_check'
    when not (send.wrong_guesses between 0 and 5) then 'sends_wrong_guesses_check'
    when not (
      (send.status <> 'sent' or send.sent_at is not null)
      and (send.status <> 'delivered' or send.delivered_at is not null)
      and (send.status <> 'read' or send.read_at is not null)
      and (send.mode = 'live' or send.status <> 'read' or (send.sent_at is not null and send.delivered_at is not null))
    ) then 'state_says_when'
    when not (send.mode = 'live' or send.sealed_code is null) then 'test_has_no_sealed_code'
    when not (send.mode = 'live' or send.status in ('queued', 'read')) then 'test_is_queued_or_read'
    when not (
      coalesce(send.sent_at >= send.created_at, true)
      and coalesce(send.delivered_at >= coalesce(send.sent_at, send.created_at), true)
      and coalesce(send.read_at >= coalesce(send.delivered_at, send.sent_at, send.created_at), true)
    ) then 'times_in_order'
    when not (send.verified_at is null or send.verified_at < send.expires_at) then 'verified_in_time'
    when not ((send.verification = 'verified') = (send.verified_at is not null)) then 'verified_says_when'
    when not (send.lost_at is null or send.status = 'sent') then 'only_sent_is_lost'
    -- No waiting send that nothing would ever enqueue again.
    when not ((send.status in ('queued', 'sending') or send.lost_at is not null) = (send.due_at is not null)) then 'waiting_is_enqueued'
  end;
begin
  if v_broken is not null then
    raise check_violation using
      message = format('new row for relation "sends" violates check constraint "%s"', v_broken),
      table = 'sends', constraint = v_broken;
  end if;
  return true;
end
$function$;

CREATE OR REPLACE FUNCTION public.sender_throttle_subject(p_scope text, p_sender_id uuid, p_business_account_id text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE
RETURN CASE p_scope WHEN 'sender'::text THEN (p_sender_id)::text WHEN 'business'::text THEN COALESCE(p_business_account_id, (p_sender_id)::text) ELSE ''::text END;

CREATE OR REPLACE FUNCTION public.slots_are_taken()
 RETURNS boolean
 LANGUAGE sql
AS $function$
  select coalesce(bool_and(
    coalesce(greatest(s.free_at, s.promised_to, t.free_at, t.promised_to), '-infinity')
      > clock_timestamp() + make_interval(secs => direct_slot_wait_ms() / 1000.0)
  ), false)
  from senders r left join send_slots s on s.sender_id = r.id cross join lateral (
    select max(a.free_at) as free_at, max(a.promised_to) as promised_to from active_throttles(clock_timestamp()) a
    where a.subject = sender_throttle_subject(a.scope, r.id, r.business_account_id)
  ) t
  where r.paused_at is null or r.paused_until <= clock_timestamp()
$function$;

CREATE OR REPLACE FUNCTION public.take_send_slots(p_account_ids uuid[], p_recipients text[], p_countries text[], p_horizon_ms integer, p_promise boolean DEFAULT false)
 RETURNS TABLE(ordinal integer, sender_id uuid, wait_ms integer, slot_at timestamp with time zone)
 LANGUAGE sql
AS $function$
  select * from take_send_slots(p_account_ids, p_recipients, p_countries, null::text[], p_horizon_ms, p_promise)
$function$;

CREATE OR REPLACE FUNCTION public.take_send_slots(p_account_ids uuid[], p_recipients text[], p_countries text[], p_locales text[], p_horizon_ms integer, p_promise boolean)
 RETURNS TABLE(ordinal integer, sender_id uuid, wait_ms integer, slot_at timestamp with time zone)
 LANGUAGE plpgsql
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
#variable_conflict use_column
declare
  v_now timestamptz;
  v_end timestamptz;
  v_ids uuid[];
  v_start timestamptz[];
  v_free timestamptz[];
  v_spacing interval[];
  -- The throttles, and by sender their positions: of its own, of its business account's and of the app's.
  v_scopes text[];
  v_subjects text[];
  v_throttle_start timestamptz[];
  v_throttle_free timestamptz[];
  v_throttle_spacing interval[];
  v_own integer[];
  v_business integer[];
  v_app integer;
  v_throttle integer;
  v_pick integer;
  v_at timestamptz;
  v_hash bigint;
  v_holds active_holds;
begin
  if coalesce(cardinality(p_recipients), 0) = 0 then
    return;
  end if;
  insert into send_slots (sender_id)
    select r.id from senders r where not exists (select from send_slots s where s.sender_id = r.id)
    order by r.id on conflict do nothing;
  perform from send_slots s order by s.sender_id for update;

  -- After the lock: time, pauses of a sender and holds may have moved on while this call waited.
  v_now := clock_timestamp();
  v_end := v_now + make_interval(secs => p_horizon_ms / 1000.0);
  perform from throttles t order by t.scope, t.subject for update;
  if found then
    select array_agg(t.scope), array_agg(t.subject), array_agg(t.spacing),
      array_agg(greatest(t.free_at, case when p_promise then t.promised_to end, v_now))
      into v_scopes, v_subjects, v_throttle_spacing, v_throttle_start
    from active_throttles(v_now) t;
    v_throttle_free := v_throttle_start;
    v_app := array_position(v_scopes, 'app');
  end if;
  select array_agg(a.id), array_agg(a.spacing), array_agg(greatest(
      a.free_at, case when p_promise then a.promised_to end, v_now - a.spacing * greatest(0, a.burst - 1)
    )), array_agg(a.own), array_agg(a.business) into v_ids, v_spacing, v_start, v_own, v_business
  from (
    select r.id, s.free_at, s.promised_to, t.own, t.business,
      case when r.paused_at is null then ceil(10000000.0 / (9 * r.throughput)) * interval '1 microsecond' else interval '1 second' end as spacing,
      case when r.paused_at is null then r.throughput / 10.0 else 0 end as burst
    from send_slots s join senders r on r.id = s.sender_id cross join lateral (
      select max(u.position) filter (where u.scope = 'sender') as own, max(u.position) filter (where u.scope = 'business') as business
      from unnest(v_scopes, v_subjects) with ordinality as u (scope, subject, position)
      where u.subject = sender_throttle_subject(u.scope, r.id, r.business_account_id)
    ) t
    where r.paused_at is null or r.paused_until <= v_now
  ) a;
  v_free := v_start;
  v_holds := active_holds();

  for v_ordinal in 1 .. cardinality(p_recipients) loop
    ordinal := v_ordinal;
    if is_held(v_holds, p_account_ids[v_ordinal], p_countries[v_ordinal]) then
      sender_id := null;
      slot_at := null;
      wait_ms := null;
      return next;
      continue;
    end if;
    v_hash := hashtextextended(p_recipients[v_ordinal], 0);
    select c.position, c.at into v_pick, v_at
    from (
      select a.id, a.position, random() as chance, greatest(
        a.free_at, v_now, v_throttle_free[v_own[a.position]], v_throttle_free[v_business[a.position]], v_throttle_free[v_app]
      ) as at
      from unnest(v_ids, v_free) with ordinality as a (id, free_at, position)
      order by at, chance
    ) c
    where c.at <= v_end
      -- Look-ups by key, one sender after the other until one is able. No planner turns them into a join, not even one that
      -- planned while the tables were empty.
      and coalesce(v_now >= (
        select b.blocked_until from sender_country_blocks b where b.sender_id = c.id and b.country = p_countries[v_ordinal]
      ), true)
      and coalesce(v_now >= (
        select coalesce(l.stopped_until, 'infinity') from sender_language_stops l
        where l.sender_id = c.id and l.locale = p_locales[v_ordinal]
      ), true)
      and coalesce(c.at >= (
        select p.free_at from sender_recipient_windows p where p.sender_id = c.id and p.recipient_hash = v_hash
      ), true)
    order by c.at, c.chance limit 1;
    sender_id := v_ids[v_pick];
    slot_at := v_at;
    wait_ms := ceil(extract(epoch from v_at - v_now) * 1000);
    return next;

    if v_pick is not null then
      v_free[v_pick] := v_free[v_pick] + v_spacing[v_pick];
      foreach v_throttle in array array_remove(array[v_own[v_pick], v_business[v_pick], v_app], null) loop
        v_throttle_free[v_throttle] := v_at + v_throttle_spacing[v_throttle];
      end loop;
      if not p_promise then
        insert into sender_recipient_windows as p (sender_id, recipient_hash, free_at)
          values (v_ids[v_pick], v_hash, v_at - recipient_window_burst() + recipient_window_spacing())
          on conflict (sender_id, recipient_hash) do update
          set free_at = greatest(p.free_at, v_at - recipient_window_burst()) + recipient_window_spacing();
      end if;
    end if;
  end loop;

  update send_slots s set
    free_at = case when p_promise then s.free_at else a.free_at end,
    promised_to = case when p_promise then a.free_at else s.promised_to end
  from unnest(v_ids, v_start, v_free) as a (id, start, free_at)
  where s.sender_id = a.id and a.free_at > a.start;
  if v_throttle_free is not null then
    update throttles t set
      free_at = case when p_promise then t.free_at else a.free_at end,
      promised_to = case when p_promise then a.free_at else t.promised_to end
    from unnest(v_scopes, v_subjects, v_throttle_start, v_throttle_free) as a (scope, subject, start, free_at)
    where t.scope = a.scope and t.subject = a.subject and a.free_at > a.start;
  end if;
end
$function$;
