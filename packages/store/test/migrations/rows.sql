-- What the database accepts, and what it refuses: a statement that ends in `; -- name` breaks the check, index or rule of that name, and
-- all others are valid. `:account` and the like are the ids of rows that checks.test.ts makes.

-- ── One valid row of each kind ───────────────────────────────────────────────────────────────────────────────────────────────────

update sends set status = 'sending', channel = 'whatsapp', from_number = '+15550783881', sender_id = :sender where id = :sending;
update sends set status = 'sent', channel = 'whatsapp', from_number = '+15550783881', sender_id = :sender, sealed_code = null,
  due_at = null, sent_at = now() where id = :sent;
update sends set status = 'failed', failed_at = now(), failure_reason = 'attempts_exhausted', sealed_code = null,
  due_at = null where id = :failed;
insert into attempts (send_id, number, outcome, started_at, finished_at) values (:sent, 1, 'retry', now(), now());
insert into ledger_entries (account_id, send_id, kind, bucket, units) values (:account, :failed, 'returned', 'free_quota', 1);
insert into ledger_entries (account_id, kind, bucket, units, grant_id) values (:account, 'granted', 'credit', 1, :account);
insert into ledger_entries (account_id, kind, bucket, units, reference, expires_at) values (:account, 'granted', 'credit', 2, 'r', now());
insert into ledger_entries (account_id, kind, bucket, units, expires_at) values (:account, 'lapsed', 'credit', 1, now());
insert into credit_lots (account_id, expires_at, units) values (:account, null, 0), (:account, now(), 1);
insert into receipts (message_id, send_id, attempt, status, occurred_at) values ('wamid.taken', :sent, 1, 'sent', now());
insert into account_turns (account_id, starts_at, ends_at) values (:account, 1, 2);
insert into breaker_trips (account_id, country, tripped_at, open_until, sends, unverified) values (:account, 'ZZ', now(), now(), 50, 50);
insert into guess_budgets (account_id, mode, recipient_key, points, last_wrong_at) values (:account, 'live', '1:0123456789abcdefghij-_', 1, now());
insert into holds (kind, target, reason, set_by) values ('account', :account, repeat('r', 200), 'n');
insert into provider_facts (subject) values (:sender);
insert into provider_changes (digest, business_account_id, field, value, occurred_at) values ('\x00', '1', 'security', '{}', now());
insert into stops (cause, scope, subject, only_for, source, reason, until) values ('fault', 'sender', :sender, 'BR', 'answer', 'why', now());
insert into stops (cause, scope, subject, source, reason, rate, until) values ('limit', 'app', '', 'answer', 'why', 1, now());
insert into stops (cause, scope, subject, source, reason) values ('operator', 'sender', :sender, 'operator', 'why');
insert into stops (cause, scope, subject, only_for, source, reason) values ('provider', 'sender', :sender, 'pt-BR', 'read', 'why');
insert into users (id, name, email, language, staff) values (:user, repeat('n', 200), 'right@example.com', 'en', 'on_call');
insert into user_sessions (id, user_id, token, expires_at, updated_at) values (gen_random_uuid(), :user, 'token', now(), now());
insert into counted_tries (key_hash, tries, ends_at) values (sha256('r'), 0, now());
insert into members (account_id, user_id, role) values (:account, :user, 'viewer');
insert into user_passkeys (id, user_id, credential_id, public_key, counter, device_type, backed_up) values (gen_random_uuid(), :user, 'taken', 'key', 0, 'multiDevice', true);
insert into invitations (id, account_id, email, role, token_hash, expires_at)
  values (gen_random_uuid(), :account, 'right@example.com', 'admin', sha256('r'), now());
insert into processes (id, kind, release, last_migration, clock_ahead_ms) values (gen_random_uuid(), 'api', '0.9.0', '', 0);
insert into traffic_counts values (now(), 'accepted', 'BR', '', '', '', 1);
insert into refused_requests (request_id, account_id, application_id, key_id, refused_at, route, status, code, detail, count)
  values (gen_random_uuid(), :account, :application, :nothing, now(), 'POST /v1/send', 422, 'invalid_json', 'why', 1);
insert into incidents (name, subject, finding) values ('no_worker', '', '{}');
insert into outbox (id, event, recipient, language, kind, gives_up_at) values (:user, 'e', 'right@example.com', 'en', 'finding', now());
insert into outbox (id, event, recipient, language, kind, gives_up_at, due_at, ended_at, outcome)
  values (gen_random_uuid(), 'sent', 'right@example.com', 'en', 'finding', now(), null, now(), 'sent');
insert into event_webhooks (account_id, url, sealed_secret) values (:account, repeat('u', 2000), '\x00');
insert into outbox (id, event, recipient, account_id, kind, gives_up_at) values (gen_random_uuid(), 'e', :account, :account, 'webhook.test', now());
insert into balance_alerts (account_id, below) values (:account, 1);

-- ── Settings, accounts, applications and keys ────────────────────────────────────────────────────────────────────────────────────

insert into mail_sender (id) values (false); -- mail_sender_id_check
insert into outbox (id, event, recipient, language, kind, gives_up_at)
  values (gen_random_uuid(), 'e', 'right@example.com', 'en', 'finding', now()); -- outbox_event_recipient_key
update outbox set recipient = 'Right@example.com'; -- outbox_recipient_check
update outbox set language = 'fr'; -- outbox_language_check
update outbox set outcome = 'lost', due_at = null, ended_at = now(); -- outbox_outcome_check
update outbox set outcome = 'sent'; -- outbox_end_check
update outbox set sealed_link = '\x00' where outcome = 'sent'; -- outbox_end_check
update outbox set language = null where account_id is null; -- outbox_is_mail_or_event
update outbox set language = 'en' where account_id is not null; -- outbox_is_mail_or_event
update outbox set recipient = 'right@example.com' where account_id is not null; -- outbox_is_mail_or_event
update outbox set sealed_link = '\x00' where account_id is not null; -- outbox_is_mail_or_event
update outbox set facts = '{"a": 1}' where outcome = 'sent' and account_id is null; -- outbox_end_check
update event_webhooks set url = repeat('u', 2001); -- event_webhooks_url_check
update balance_alerts set below = 0; -- balance_alerts_below_check

insert into settings (id) values (false); -- settings_id_check
update settings set free_sends = -1; -- settings_free_sends_check
update settings set free_sends = 1000001; -- settings_free_sends_check
update settings set code_validity_seconds = 0; -- settings_code_validity_seconds_check
update settings set code_validity_seconds = 5401; -- settings_code_validity_seconds_check
update settings set account_rate_per_minute = 0; -- settings_account_rate_per_minute_check
update settings set account_rate_per_minute = 1000001; -- settings_account_rate_per_minute_check
update settings set guess_budget = 4; -- settings_guess_budget_check
update settings set guess_budget = 101; -- settings_guess_budget_check
update settings set trial_sends_per_day = -1; -- settings_trial_sends_per_day_check
update settings set sign_ups_per_network_day = 0; -- settings_sign_ups_per_network_day_check
update settings set sign_ups_per_domain_day = 0; -- settings_sign_ups_per_domain_day_check
update settings set staff_two_factor = 'on'; -- settings_staff_two_factor_check
insert into user_passkeys (id, user_id, name, credential_id, public_key, counter, device_type, backed_up) values (gen_random_uuid(), :user, '', 'id', 'key', 0, 'multiDevice', true); -- user_passkeys_name_check
insert into user_passkeys (id, user_id, credential_id, public_key, counter, device_type, backed_up) values (gen_random_uuid(), :user, 'taken', 'key', 0, 'multiDevice', true); -- user_passkeys_credential_id_key
update settings set retain_numbers_days = 0; -- settings_retain_numbers_days_check
update settings set new_account_units_per_day = -1; -- settings_new_account_units_per_day_check
update settings set retain_sends_days = 29; -- settings_retain_sends_days_check
update settings set free_sends = 0, code_validity_seconds = 5400, account_rate_per_minute = 1000000, guess_budget = null;

update accounts set name = ''; -- accounts_name_check
update accounts set name = repeat('n', 201); -- accounts_name_check
update accounts set language = 'pt_BR'; -- accounts_language_check
update accounts set free_quota = -1; -- accounts_free_quota_check
update accounts set credits = -1; -- accounts_credits_check
update accounts set rate_per_minute = 0; -- accounts_rate_per_minute_check
update accounts set weight = 0; -- accounts_weight_check
update accounts set senders = 'all'; -- accounts_senders_check
update accounts set senders = 'own-first';
update accounts set allowed_countries = '{}'; -- accounts_allowed_countries_check
update accounts set allowed_countries = '{BR,Brazil}'; -- accounts_allowed_countries_check
update accounts set allowed_countries = '{BR,null}'; -- accounts_allowed_countries_check
update accounts set trial_countries = '{}'; -- accounts_trial_countries_check
update accounts set trial_countries = '{Brazil}'; -- accounts_trial_countries_check
update accounts set units_per_day = -1; -- accounts_units_per_day_check
update accounts set units_per_month = -1; -- accounts_units_per_month_check
update accounts set units_of_day = -1; -- accounts_units_of_day_check
update accounts set units_of_month = -1; -- accounts_units_of_month_check
update accounts set breaker_unverified_percent = 0, breaker_min_sends = 50; -- accounts_breaker_unverified_percent_check
update accounts set breaker_unverified_percent = 101, breaker_min_sends = 50; -- accounts_breaker_unverified_percent_check
update accounts set breaker_unverified_percent = 90, breaker_min_sends = 0; -- accounts_breaker_min_sends_check
update accounts set breaker_unverified_percent = 90, breaker_min_sends = 1001; -- accounts_breaker_min_sends_check
update accounts set breaker_unverified_percent = 90; -- breaker_is_whole
update accounts set suspended_at = now(); -- accounts_suspension_check
update accounts set suspension_reason = 'why'; -- accounts_suspension_check
update accounts set suspended_at = now(), suspension_reason = ''; -- accounts_suspension_reason_check
update accounts set name = repeat('n', 200), free_quota = 0, allowed_countries = '{BR}', trial_countries = '{BR}',
  breaker_unverified_percent = 100, breaker_min_sends = 1000, suspended_at = now(), suspension_reason = repeat('r', 200);

update applications set name = ''; -- applications_name_check
update applications set mode = 'demo'; -- applications_mode_check
update applications set identity_check = 'maybe'; -- applications_identity_check_check
update applications set per_minute = 0; -- applications_per_minute_check
update applications set per_recipient_hour = 0; -- applications_per_recipient_hour_check
insert into applications (id, account_id, name, mode) values (gen_random_uuid(), :nothing, 'n', 'test'); -- applications_account_id_fkey
update applications set per_minute = 1, per_recipient_hour = 1;

update api_keys set name = ''; -- api_keys_name_check
update api_keys set expires_at = now(); -- api_keys_visit_check
update api_keys set hash = 'ak_live_x'; -- api_keys_hash_check
update api_keys set hash = sha256('the same'); -- api_keys_hash_key
insert into callers_version (id) values (false); -- callers_version_id_check
update refused_requests set count = 0; -- refused_requests_count_check

-- ── Senders ──────────────────────────────────────────────────────────────────────────────────────────────────────────────────────

update senders set phone_number_id = '1a'; -- senders_phone_number_id_check
update senders set number = '15550783881'; -- senders_number_check
update senders set business_account_id = 'x'; -- senders_business_account_id_check
update senders set template = 'Code'; -- senders_template_check
update senders set template = repeat('a', 513); -- senders_template_check
update senders set english_template_language = 'en_GB'; -- senders_english_template_language_check
update senders set account_id = :nothing; -- senders_account_id_fkey
update senders set application_ids = array[:application]::uuid[]; -- only_own_sender_is_of_applications
update senders set account_id = :account, application_ids = '{}'; -- senders_application_ids_check
update senders set throughput = 0; -- senders_throughput_check
update senders set throughput = 1001; -- senders_throughput_check
insert into senders (id, phone_number_id, number, sealed_token, template, english_template_language)
  select gen_random_uuid(), phone_number_id, number, sealed_token, template, english_template_language
  from senders; -- senders_phone_number_id_key

update stops set cause = 'rumour' where cause = 'operator'; -- stops_cause_check
update stops set scope = 'world' where cause = 'operator'; -- stops_scope_check
update stops set subject = '' where cause = 'fault'; -- stops_check
update stops set only_for = 'fr'; -- stops_only_for_check
update stops set only_for = 'br'; -- stops_only_for_check
update stops set source = 'read' where cause = 'fault'; -- stops_source_check
update stops set source = 'operator' where cause = 'provider'; -- stops_source_check
update stops set source = 'answer' where cause = 'operator'; -- stops_source_check
update stops set reason = ''; -- stops_reason_check
update stops set failures = -1; -- stops_failures_check
update stops set failures = 0 where cause = 'fault'; -- stop_is_over_when_proven
update stops set failures = 0, proven_at = now() where cause = 'operator'; -- stop_is_over_when_proven
update stops set proven_at = now() where cause = 'fault'; -- stop_is_over_when_proven
update stops set until = null where cause = 'fault'; -- stop_ends_as_it_began
update stops set until = now() where cause = 'operator'; -- stop_ends_as_it_began
update stops set rate = 0 where cause = 'limit'; -- stops_rate_check
update stops set rate = null where cause = 'limit'; -- limit_has_a_rate
update stops set rate = 1 where cause = 'fault'; -- limit_has_a_rate
update provider_facts set language = 'en'; -- template_has_a_language
insert into provider_changes (digest, business_account_id, field, value, occurred_at)
  select digest, business_account_id, field, value, occurred_at from provider_changes; -- provider_changes_digest_key
update provider_changes set due_at = null, result = 'unmatched'; -- provider_changes_result_check
update provider_changes set result = 'applied'; -- provider_changes_done_check
update account_turns set ends_at = starts_at; -- account_turns_check

-- ── Sends ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────

update sends set status = 'lost' where id = :sent; -- sends_status_check
update sends set traceparent = '00-4BF92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' where id = :sent; -- sends_traceparent_check
update sends set traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-00' where id = :sent; -- sends_traceparent_check
update sends set verification = 'expired' where id = :sent; -- sends_verification_check
update sends set wrong_guesses = 6, verification = 'pending' where id = :sent; -- sends_wrong_guesses_check
update sends set wrong_guesses = -1 where id = :sent; -- sends_wrong_guesses_check
update sends set wrong_guess_times = array_fill(now(), array[6]) where id = :sent; -- sends_wrong_guess_times_check
update sends set attempts = -1 where id = :sent; -- sends_attempts_check
update sends set idempotency_key = '' where id = :keyed; -- sends_idempotency_key_check
update sends set idempotency_key = repeat('k', 256)::bytea where id = :keyed; -- sends_idempotency_key_check
update sends set body_hash = 'short' where id = :keyed; -- sends_body_hash_check
update sends set body_hash = null where id = :keyed; -- idempotency_key_with_body
update sends set body_hash = '\x01' || sha256('a body') where id = :queued; -- idempotency_key_with_body
update sends set recipient = '5511987654321' where id = :sent; -- sends_recipient_check
update sends set recipient = '+1234567890123456' where id = :sent; -- sends_recipient_check
update sends set recipient = 'ana@example.com' where id = :sent; -- sends_recipient_check
update sends set recipient = '+55 ••••• 54321' where id = :sent; -- sends_recipient_check
update sends set recipient = '+55 ••••• 4321' where id = :sent;
update sends set recipient = '+••••• 21' where id = :sent;
update sends set recipient_key = '+5511987654321' where id = :queued; -- recipient_key_is_of_a_version
update sends set recipient_key = '1:0123456789abcdefghij-' where id = :queued; -- recipient_key_is_of_a_version
update sends set country = '001' where id = :sent; -- sends_country_check
update sends set locale = 'pt' where id = :sent; -- sends_locale_check
update sends set charged_from = 'gift' where id = :sent; -- sends_charged_from_check
update sends set charged_from = null where id = :sent; -- live_takes_a_unit
update sends set charged_from = 'credit' where id = :testQueued; -- live_takes_a_unit
update sends set code_hash = '042913' where id = :sent; -- sends_code_hash_check
update sends set guess_cost = 2 where id = :queued; -- guess_cost_is_of_a_length
update sends set lost_at = now() where id = :sending; -- only_sent_is_lost
update sends set lost_at = now(), sealed_code = 'x' where id = :sent; -- undelivered_is_due
update sends set due_at = null where id = :queued; -- undelivered_is_due
update sends set due_at = now() where id = :sent; -- undelivered_is_due
update sends set claimed_at = now() where id = :queued; -- claim_is_of_an_attempt
update sends set claimed_at = now(), claimed_until = now() where id = :queued; -- claim_is_of_an_attempt
update sends set lost_at = now(), due_at = now() where id = :sent; -- sealed_code_while_needed
update sends set sealed_code = null where id = :queued; -- sealed_code_while_needed
update sends set sealed_code = 'x' where id = :testQueued; -- test_has_no_sealed_code
update sends set status = 'delivered', delivered_at = now(), sealed_code = 'x' where id = :sent; -- sealed_code_only_while_needed
update sends set sealed_code = 'x' where id = :failed; -- sealed_code_only_while_needed
update sends set channel = 'sms' where id = :sent; -- channel_fits_mode
update sends set channel = 'sandbox' where id = :sent; -- channel_fits_mode
update sends set channel = 'whatsapp', from_number = '+15550783881', sender_id = :sender where id = :testQueued; -- channel_fits_mode
update sends set channel = null, from_number = null, sender_id = null where id = :sending; -- channel_once_routed
update sends set channel = 'whatsapp', from_number = '+15550783881', sender_id = :sender where id = :queued; -- channel_once_routed
update sends set from_number = '+15550783881' where id = :queued; -- sender_fits_channel
update sends set from_number = null where id = :sending; -- sender_fits_channel
update sends set sender_id = null where id = :sending; -- sender_fits_channel
update sends set from_number = '+15550783881', sender_id = :sender where id = :queued; -- sender_fits_channel
update sends set sent_at = null where id = :sent; -- state_says_when
update sends set status = 'delivered' where id = :sent; -- state_says_when
update sends set status = 'read' where id = :sent; -- state_says_when
update sends set status = 'read', channel = 'sandbox', read_at = now(), due_at = null
  where id = :testQueued; -- state_says_when
update sends set sent_at = created_at - interval '1 ms' where id = :sent; -- times_in_order
update sends set delivered_at = sent_at - interval '1 ms' where id = :sent; -- times_in_order
update sends set delivered_at = sent_at + interval '2 ms', read_at = sent_at + interval '1 ms' where id = :sent; -- times_in_order
update sends set awaiting_sender = true where id = :sent; -- only_waiting_sends_await
update sends set status = 'failed', failed_at = now(), failure_reason = 'attempts_exhausted', due_at = null
  where id = :testQueued; -- test_is_queued_or_read
update sends set status = 'sent', channel = 'sandbox', sent_at = now(), due_at = null
  where id = :testQueued; -- test_is_queued_or_read
update sends set failed_at = null where id = :failed; -- failed_says_why
update sends set failure_reason = null where id = :failed; -- failed_says_why
update sends set failed_at = now() where id = :sent; -- failed_says_why
update sends set failure_reason = 'bad_luck' where id = :failed; -- sends_failure_reason_check
update sends set verification = 'verified' where id = :sent; -- verified_says_when
update sends set verified_at = now() where id = :sent; -- verified_says_when
update sends set verification = 'verified', verified_at = expires_at where id = :sent; -- verified_in_time
update sends set verification = 'locked', locked_at = now() where id = :sent; -- locked_after_five
update sends set wrong_guesses = 5 where id = :sent; -- locked_after_five
update sends set verification = 'locked', wrong_guesses = 5 where id = :sent; -- locked_says_when
update sends set locked_at = now() where id = :sent; -- locked_says_when
update sends set expires_at = created_at where id = :sent; -- sends_check
update sends set application_id = :testApplication where id = :sent; -- sends_application_id_account_id_mode_fkey
update sends set account_id = :otherAccount where id = :sent; -- sends_application_id_account_id_mode_fkey
update sends set idempotency_key = 'taken', body_hash = '\x01' || sha256('a body') where id = :queued; -- sends_idempotency_key
update sends set idempotency_key = repeat('k', 255)::bytea where id = :keyed;
update sends set recipient = '+123456789012345', country = 'BR' where id = :sent;
update sends set recipient = '+55 ••••• 4321' where id = :sent;
update sends set wrong_guesses = 5, verification = 'locked', locked_at = now() where id = :sent;
update sends set status = 'read', channel = 'sandbox', sent_at = now(), delivered_at = now(), read_at = now(),
  due_at = null where id = :testQueued;

update attempts set outcome = 'lost'; -- attempts_outcome_check
update attempts set number = 0; -- attempts_number_check
update receipts set status = 'held'; -- receipts_status_check
insert into erasures (step) values ('all'); -- erasures_step_check

-- ── The ledger ───────────────────────────────────────────────────────────────────────────────────────────────────────────────────

update ledger_entries set kind = 'lost' where send_id = :sent; -- ledger_entries_kind_check
update ledger_entries set bucket = 'gift'; -- ledger_entries_bucket_check
update ledger_entries set units = 0; -- ledger_entries_units_check
update ledger_entries set units = -5; -- ledger_entries_units_check
update ledger_entries set units = 2; -- one_unit_a_send
update ledger_entries set kind = 'granted' where send_id = :sent; -- of_a_send
update ledger_entries set send_id = null where send_id = :sent; -- of_a_send
update ledger_entries set expires_at = now() where send_id = :sent; -- only_credits_lapse
update ledger_entries set bucket = 'free_quota' where kind = 'lapsed'; -- only_credits_lapse
update ledger_entries set expires_at = null where kind = 'lapsed'; -- only_credits_lapse
update ledger_entries set reference = 'r' where kind = 'lapsed'; -- only_a_grant_has
update ledger_entries set reference = '' where kind = 'granted'; -- ledger_entries_reference_check
update credit_lots set units = -1; -- credit_lots_units_check
insert into credit_lots (account_id, units) values (:account, 1); -- credit_lots_of_account
insert into ledger_entries (account_id, send_id, kind, bucket, units)
  values (:account, :sent, 'reserved', 'credit', 1); -- ledger_entries_once
insert into ledger_entries (account_id, send_id, kind, bucket, units)
  values (:account, :failed, 'returned', 'free_quota', 1); -- ledger_entries_once
insert into ledger_entries (account_id, send_id, kind, bucket, units)
  values (:account, :failed, 'returned', 'credit', 1); -- ledger_entries_once
insert into ledger_entries (account_id, send_id, kind, bucket, units) values (:account, :sent, 'returned', 'free_quota', 1);
update ledger_entries set grant_id = :account where send_id = :failed; -- only_a_grant_has
insert into ledger_entries (account_id, kind, bucket, units, grant_id) values (:account, 'granted', 'credit', 1, :account); -- ledger_entries_grant

-- ── Against abuse, and what operators do ─────────────────────────────────────────────────────────────────────────────────────────

update guess_budgets set mode = 'demo'; -- guess_budgets_mode_check
update guess_budgets set recipient_key = '+5511987654321'; -- guess_budgets_recipient_key_check
update guess_budgets set points = -1; -- guess_budgets_points_check
update breaker_trips set country = ''; -- breaker_trips_country_check
update breaker_trips set open_until = tripped_at - interval '1 s'; -- trip_ends_after_it_begins
update breaker_trips set unverified = 51; -- trip_counts_its_sends
update holds set kind = 'sender'; -- holds_kind_check
update holds set kind = 'live', target = 'BR'; -- holds_target_check
update holds set kind = 'country', target = 'Brazil'; -- holds_target_check
update holds set kind = 'account', target = ''; -- holds_target_check
update holds set reason = ''; -- holds_reason_check
update holds set reason = repeat('r', 201); -- holds_reason_check
update settings set price_currency = 'R$'; -- settings_price_currency_check
insert into message_prices values ('Brazil', '2026-11-01', 1); -- message_prices_country_check
insert into message_prices values ('BR', '2026-11-02', 1); -- message_prices_since_check
insert into message_prices values ('BR', '2026-11-01', -1); -- message_prices_price_check
insert into audit_entries (actor_kind, actor_name, action) values ('worker', 'n', 'account.credit'); -- audit_entries_actor_kind_check
insert into audit_entries (actor_kind, actor_name, action) values ('user', 'n', 'credit'); -- audit_entries_action_check

-- ── The console's people ─────────────────────────────────────────────────────────────────────────────────────────────────────────

update users set name = ''; -- users_name_check
update users set name = repeat('n', 201); -- users_name_check
update users set email = 'A@example.com'; -- users_email_check
update users set language = 'fr'; -- users_language_check
update users set staff = 'admin'; -- users_staff_check
insert into users (id, name, email) values (gen_random_uuid(), 'm', 'right@example.com'); -- users_email_key
insert into user_sessions (id, user_id, token, expires_at, updated_at)
  values (gen_random_uuid(), :user, 'token', now(), now()); -- user_sessions_token_key
update counted_tries set tries = -1; -- counted_tries_tries_check
update counted_tries set key_hash = 'a@example.com'; -- counted_tries_key_hash_check
update members set role = 'owner'; -- members_role_check
update invitations set email = 'A@example.com'; -- invitations_email_check
update invitations set role = 'owner'; -- invitations_role_check
update invitations set token_hash = 'token'; -- invitations_token_hash_check
insert into invitations (id, account_id, email, role, token_hash, expires_at)
  values (gen_random_uuid(), :account, 'b@example.com', 'viewer', sha256('r'), now()); -- invitations_token_hash_key
insert into invitations (id, account_id, email, role, token_hash, expires_at)
  values (gen_random_uuid(), :account, 'right@example.com', 'viewer', sha256('s'), now()); -- invitations_account_id_email_key

-- ── Processes, counts and readings ───────────────────────────────────────────────────────────────────────────────────────────────

update processes set kind = 'dance'; -- processes_kind_check
update traffic_counts set count = 0; -- traffic_counts_count_check
