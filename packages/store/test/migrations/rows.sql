-- Statements that the database accepts or rejects. A statement that ends in `; -- name` violates the check, index or rule of that name; all
-- others are valid. `:account` and similar names are the ids of rows that schema.test.ts inserts. A check of a single column, such as a range
-- or a list of words, has no statement here, because prisma/schema.sql shows it completely.

-- ── One valid row of each kind ───────────────────────────────────────────────────────────────────────────────────────────────────

update sends set status = 'sending', phase = 'backing_off', channel = 'whatsapp', from_number = '+15550783881', sender_id = :sender where id = :sending;
update sends set status = 'sent', phase = 'done', channel = 'whatsapp', from_number = '+15550783881', sender_id = :sender, encrypted_code = null,
  due_at = null, sent_at = now() where id = :sent;
update sends set status = 'failed', phase = 'done', failed_at = now(), failure_reason = 'attempts_exhausted', encrypted_code = null,
  due_at = null where id = :failed;
insert into ledger_entries (account_id, send_id, kind, bucket, units) values (:account, :failed, 'returned', 'free_quota', 1);
insert into ledger_entries (account_id, kind, bucket, units, grant_id) values (:account, 'granted', 'credit', 1, :account);
insert into ledger_entries (account_id, kind, bucket, units, reference, expires_at) values (:account, 'granted', 'credit', 2, 'r', now());
insert into ledger_entries (account_id, kind, bucket, units, expires_at) values (:account, 'expired', 'credit', 1, now());
insert into credit_grants (account_id, expires_at, units) values (:account, null, 0), (:account, now(), 1);
insert into account_turns (account_id, served_at) values (:account, now());
insert into breaker_trips (account_id, country, tripped_at, open_until, sends, unverified) values (:account, 'ZZ', now(), now(), 50, 50);
insert into holds (kind, target, reason, set_by) values ('account', :account, repeat('r', 200), 'n');
insert into provider_facts (subject) values (:sender);
insert into sender_blocks (cause, scope, subject, only_for, source, reason, until) values ('fault', 'sender', :sender, 'BR', 'answer', 'why', now());
insert into sender_blocks (cause, scope, subject, source, reason, until) values ('limit', 'sender', :sender, 'answer', 'why', now());
insert into sender_blocks (cause, scope, subject, source, reason) values ('operator', 'sender', :sender, 'operator', 'why');
insert into sender_blocks (cause, scope, subject, only_for, source, reason) values ('provider', 'sender', :sender, 'pt-BR', 'provider', 'why');
insert into users (id, name, email, language, staff) values (:user, repeat('n', 200), 'right@example.com', 'en', 'on_call');
insert into user_sessions (id, user_id, token, expires_at, updated_at) values (gen_random_uuid(), :user, 'token', now(), now());
insert into user_passkeys (id, user_id, credential_id, public_key, counter, device_type, backed_up) values (gen_random_uuid(), :user, 'taken', 'key', 0, 'multiDevice', true);
insert into invitations (id, account_id, email, role, token_hash, expires_at)
  values (gen_random_uuid(), :account, 'right@example.com', 'admin', sha256('r'), now());
insert into outbox (id, event, recipient, language, kind, gives_up_at) values (:user, 'e', 'right@example.com', 'en', 'finding', now());
insert into outbox (id, event, recipient, language, kind, gives_up_at, due_at, ended_at, outcome)
  values (gen_random_uuid(), 'sent', 'right@example.com', 'en', 'finding', now(), null, now(), 'sent');
insert into event_webhooks (account_id, url, encrypted_secret) values (:account, 'u', '\x00');
insert into incidents (name, subject, finding, acknowledged_at, acknowledged_by) values ('no_workers', '', '{}', now(), 'n');
insert into outbox (id, event, recipient, account_id, kind, gives_up_at) values (gen_random_uuid(), 'e', :account, :account, 'webhook.test', now());

-- ── Settings, accounts, applications and keys ────────────────────────────────────────────────────────────────────────────────────

insert into outbox (id, event, recipient, language, kind, gives_up_at)
  values (gen_random_uuid(), 'e', 'right@example.com', 'en', 'finding', now()); -- outbox_event_recipient_key
update outbox set outcome = 'sent'; -- outbox_end_check
update outbox set encrypted_link = '\x00' where outcome = 'sent'; -- outbox_end_check
update outbox set language = null where account_id is null; -- outbox_is_mail_or_event
update outbox set language = 'en' where account_id is not null; -- outbox_is_mail_or_event
update outbox set recipient = 'right@example.com' where account_id is not null; -- outbox_is_mail_or_event
update outbox set encrypted_link = '\x00' where account_id is not null; -- outbox_is_mail_or_event
update outbox set facts = '{"a": 1}' where outcome = 'sent' and account_id is null; -- outbox_end_check

insert into user_passkeys (id, user_id, credential_id, public_key, counter, device_type, backed_up) values (gen_random_uuid(), :user, 'taken', 'key', 0, 'multiDevice', true); -- user_passkeys_credential_id_key

update accounts set credits = -1; -- accounts_counters_check
update accounts set units_of_day = -1; -- accounts_counters_check
update accounts set units_of_month = -1; -- accounts_counters_check

insert into applications (id, account_id, name, mode) values (gen_random_uuid(), :nothing, 'n', 'test'); -- applications_account_id_fkey

update api_keys set is_tryout = true; -- api_keys_tryout_check
update incidents set acknowledged_by = null; -- incidents_acknowledged_check
update incidents set acknowledged_at = null, acknowledged_by = null, note = 'n'; -- incidents_acknowledged_check
update api_keys set hash = sha256('the same'); -- api_keys_hash_key

-- ── Senders ──────────────────────────────────────────────────────────────────────────────────────────────────────────────────────

update senders set account_id = :nothing; -- senders_account_id_fkey
update senders set application_ids = array[:application]::uuid[]; -- only_own_sender_is_of_applications
insert into senders (id, phone_number_id, number, encrypted_token, template, english_template_language)
  select gen_random_uuid(), phone_number_id, number, encrypted_token, template, english_template_language
  from senders; -- senders_phone_number_id_key

update sender_blocks set source = 'read' where cause = 'fault'; -- sender_blocks_source_check
update sender_blocks set source = 'operator' where cause = 'provider'; -- sender_blocks_source_check
update sender_blocks set source = 'answer' where cause = 'operator'; -- sender_blocks_source_check
update sender_blocks set failures = 0 where cause = 'operator'; -- only_failures_are_cleared
update sender_blocks set until = null where cause = 'fault'; -- block_ends_as_it_began
update sender_blocks set until = now() where cause = 'operator'; -- block_ends_as_it_began
update provider_facts set language = 'en'; -- template_has_a_language

-- ── Sends ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────

update sends set charged_from = null where id = :sent; -- live_takes_a_unit
update sends set charged_from = 'gift' where id = :sent; -- live_takes_a_unit
update sends set charged_from = 'credit' where id = :testQueued; -- live_takes_a_unit
update sends set phase = 'unknown' where id = :queued; -- phase_fits
update sends set due_at = null where id = :queued; -- phase_fits
update sends set status = 'unknown' where id = :failed; -- phase_fits
update sends set due_at = now() where id = :sent; -- phase_fits
update sends set phase = 'done', due_at = null, encrypted_code = null where id = :sending; -- phase_fits
update sends set phase = 'unconfirmed', due_at = null where id = :sending; -- phase_fits
update sends set phase = 'ready', due_at = now(), encrypted_code = 'x' where id = :failed; -- phase_fits
update sends set phase = 'calling' where id = :sending; -- calling_has_claim
update sends set phase = 'calling', claimed_at = now(), claimed_until = now(), attempt_number = 0 where id = :sending; -- calling_has_claim
update sends set attempt_number = 1, claimed_at = now(), claimed_until = now() where id = :sending; -- calling_has_claim
update sends set phase = 'calling', attempt_number = 1, claimed_at = now(), claimed_until = now() where id = :queued; -- phase_fits
update sends set claimed_at = now() where id = :sent; -- calling_has_claim
update sends set claimed_until = now() where id = :sent; -- calling_has_claim
update sends set phase = 'ready', due_at = now() where id = :sent; -- encrypted_code_until_done
update sends set encrypted_code = null where id = :queued; -- encrypted_code_until_done
update sends set encrypted_code = 'x' where id = :testQueued; -- encrypted_code_until_done
update sends set encrypted_code = 'x' where id = :failed; -- encrypted_code_until_done
update sends set status = 'failed', phase = 'done', failed_at = now(), failure_reason = 'attempts_exhausted', due_at = null
  where id = :testQueued; -- test_is_not_sent
update sends set status = 'sent', phase = 'done', channel = 'sandbox', sent_at = now(), due_at = null
  where id = :testQueued; -- test_is_not_sent
update sends set sender_id = :sender where id = :testQueued; -- test_is_not_sent
update sends set failed_at = null where id = :failed; -- failed_has_reason
update sends set failure_reason = null where id = :failed; -- failed_has_reason
update sends set failure_reason = 'unknown' where id = :failed; -- failed_has_reason
update sends set failed_at = now() where id = :sent; -- failed_has_reason
update sends set verification = 'unknown' where id = :sent; -- verification_fits
update sends set verification = 'verified' where id = :sent; -- verification_fits
update sends set verified_at = now() where id = :sent; -- verification_fits
update sends set verification = 'verified', verified_at = expires_at where id = :sent; -- verification_fits
update sends set verification = 'locked', locked_at = now() where id = :sent; -- locked_after_five
update sends set wrong_guess_times = array_fill(now(), array[5]) where id = :sent; -- locked_after_five
update sends set verification = 'locked', wrong_guess_times = array_fill(now(), array[5]) where id = :sent; -- verification_fits
update sends set locked_at = now() where id = :sent; -- verification_fits
update sends set verification = 'locked', locked_at = now(), wrong_guess_times = array_fill(now(), array[6])
  where id = :sent; -- locked_after_five
update sends set application_id = :testApplication where id = :sent; -- sends_application_id_account_id_mode_fkey
update sends set account_id = :otherAccount where id = :sent; -- sends_application_id_account_id_mode_fkey
update sends set idempotency_key = 'taken', body_hash = '\x01' || sha256('a body') where id = :queued; -- sends_idempotency_key
update sends set wrong_guess_times = array_fill(now(), array[5]), verification = 'locked', locked_at = now() where id = :sent;
update sends set status = 'read', phase = 'done', channel = 'sandbox', sent_at = now(), delivered_at = now(), read_at = now(),
  due_at = null where id = :testQueued;

-- ── The ledger ───────────────────────────────────────────────────────────────────────────────────────────────────────────────────

update ledger_entries set units = 2; -- ledger_entries_units_check
insert into credit_grants (account_id, units) values (:account, 1); -- credit_grants_of_account
insert into ledger_entries (account_id, send_id, kind, bucket, units)
  values (:account, :sent, 'reserved', 'credit', 1); -- ledger_entries_once
insert into ledger_entries (account_id, send_id, kind, bucket, units)
  values (:account, :failed, 'returned', 'free_quota', 1); -- ledger_entries_once
insert into ledger_entries (account_id, send_id, kind, bucket, units)
  values (:account, :failed, 'returned', 'credit', 1); -- ledger_entries_once
insert into ledger_entries (account_id, send_id, kind, bucket, units) values (:account, :sent, 'returned', 'free_quota', 1);
insert into ledger_entries (account_id, kind, bucket, units, grant_id) values (:account, 'granted', 'credit', 1, :account); -- ledger_entries_grant

-- ── Against abuse, and what operators do ─────────────────────────────────────────────────────────────────────────────────────────

update breaker_trips set open_until = tripped_at - interval '1 s'; -- trip_ends_after_it_begins
update breaker_trips set unverified = 51; -- trip_counts_its_sends
update holds set kind = 'live', target = 'BR'; -- holds_target_check
update holds set kind = 'country', target = 'Brazil'; -- holds_target_check
update holds set kind = 'account', target = ''; -- holds_target_check

-- ── The console's people ─────────────────────────────────────────────────────────────────────────────────────────────────────────

insert into users (id, name, email) values (gen_random_uuid(), 'm', 'right@example.com'); -- users_email_key
insert into user_sessions (id, user_id, token, expires_at, updated_at)
  values (gen_random_uuid(), :user, 'token', now(), now()); -- user_sessions_token_key
insert into invitations (id, account_id, email, role, token_hash, expires_at)
  values (gen_random_uuid(), :account, 'b@example.com', 'viewer', sha256('r'), now()); -- invitations_token_hash_key
insert into invitations (id, account_id, email, role, token_hash, expires_at)
  values (gen_random_uuid(), :account, 'right@example.com', 'viewer', sha256('s'), now()); -- invitations_account_id_email_key
