-- The rules of sends stand in one check: PostgreSQL prepares every check of a table anew for each statement that writes to it,
-- and 32 of them were half of what a change cost. What a function of PL/pgSQL does is planned once for each connection.
-- refuses nothing new: the rules are those of the checks that go, word for word, with their names.

-- Whether a send may stand in its table; the check below asks it of every row that is inserted or updated. A broken rule is an
-- error with the rule's name, as of a check of its own. As in a check, a rule that is null is not broken; and the rules stand
-- in the order of their names, in which PostgreSQL takes checks, so that the first of several that a row breaks is named.
-- They use nothing but what PostgreSQL brings along: a dump that is being restored has no other schema in sight.
create function send_is_sound(send sends) returns boolean language plpgsql immutable as $$
declare
  v_broken text := case
    when not (send.code_box is null or send.status in ('queued', 'sending')) then 'box_only_while_needed'
    when not (send.mode = 'test' or send.code_box is not null or send.status not in ('queued', 'sending'))
      then 'box_while_needed'
    when not (send.channel = case send.mode when 'test' then 'sandbox' else 'whatsapp' end) then 'channel_fits_mode'
    when not (send.status = 'failed' or (send.status = 'queued') = (send.channel is null)) then 'channel_once_routed'
    when not ((send.due_at is null) = (send.ring_at is null)) then 'due_is_rung'
    when not (
      (send.status = 'failed') = (send.failed_at is not null) and (send.status = 'failed') = (send.failure_reason is not null)
    ) then 'failed_says_why'
    when not ((send.idempotency_key is null) = (send.body_hash is null)) then 'idempotency_key_with_body'
    when not ((send.mode = 'live') = (send.unit is not null)) then 'live_takes_a_unit'
    when not ((send.verification = 'locked') = (send.wrong_guesses = 5)) then 'locked_after_five'
    when not (not send.awaiting_sender or send.status in ('queued', 'sending')) then 'only_waiting_sends_await'
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
    when not (send.unit in ('free_quota', 'credit')) then 'sends_unit_check'
    when not (send.verification in ('pending', 'verified', 'locked')) then 'sends_verification_check'
    when not (cardinality(send.wrong_guess_times) <= 5) then 'sends_wrong_guess_times_check'
    when not (send.wrong_guesses between 0 and 5) then 'sends_wrong_guesses_check'
    when not (
      (send.status <> 'sent' or send.sent_at is not null)
      and (send.status <> 'delivered' or send.delivered_at is not null)
      and (send.status <> 'read' or send.read_at is not null)
      and (send.mode = 'live' or send.status <> 'read' or (send.sent_at is not null and send.delivered_at is not null))
    ) then 'state_says_when'
    when not (send.mode = 'live' or send.code_box is null) then 'test_has_no_box'
    when not (send.mode = 'live' or send.status in ('queued', 'read')) then 'test_is_queued_or_read'
    when not (
      coalesce(send.sent_at >= send.created_at, true)
      and coalesce(send.delivered_at >= coalesce(send.sent_at, send.created_at), true)
      and coalesce(send.read_at >= coalesce(send.delivered_at, send.sent_at, send.created_at), true)
    ) then 'times_in_order'
    when not (send.verified_at is null or send.verified_at < send.expires_at) then 'verified_in_time'
    when not ((send.verification = 'verified') = (send.verified_at is not null)) then 'verified_says_when'
    -- No send that nothing will ever ring again.
    when not ((send.status in ('queued', 'sending')) = (send.due_at is not null)) then 'waiting_is_rung'
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

-- In one statement, so that at no time a rule is missing. Every row of now has passed the checks that go: to look at each again
-- would keep everybody waiting.
alter table sends
  add constraint sends_are_sound check (send_is_sound(sends)) not valid,
  drop constraint box_only_while_needed,
  drop constraint box_while_needed,
  drop constraint channel_fits_mode,
  drop constraint channel_once_routed,
  drop constraint due_is_rung,
  drop constraint failed_says_why,
  drop constraint idempotency_key_with_body,
  drop constraint live_takes_a_unit,
  drop constraint locked_after_five,
  drop constraint only_waiting_sends_await,
  drop constraint sender_fits_channel,
  drop constraint sends_attempts_check,
  drop constraint sends_body_hash_check,
  drop constraint sends_check,
  drop constraint sends_code_hash_check,
  drop constraint sends_country_check,
  drop constraint sends_failure_reason_check,
  drop constraint sends_idempotency_key_check,
  drop constraint sends_locale_check,
  drop constraint sends_recipient_check,
  drop constraint sends_status_check,
  drop constraint sends_unit_check,
  drop constraint sends_verification_check,
  drop constraint sends_wrong_guess_times_check,
  drop constraint sends_wrong_guesses_check,
  drop constraint state_says_when,
  drop constraint test_has_no_box,
  drop constraint test_is_queued_or_read,
  drop constraint times_in_order,
  drop constraint verified_in_time,
  drop constraint verified_says_when,
  drop constraint waiting_is_rung;
