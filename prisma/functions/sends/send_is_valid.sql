-- Returns true for a row of `sends` with consistent columns. Rejects a row that breaks a rule, with the rule's name as the constraint.
--
-- - It checks what a faulty statement must not do: block a send forever, keep a code, send a test code, or lose count of units or guesses.
--   It runs on every write of a send. Of the columns that only the insert sets, it checks only those on which units and codes depend.
-- - It is one function instead of a constraint for each rule, because PostgreSQL prepares each constraint again for each statement.
-- - It uses only built-in functions, because a dump that is being restored has no other schema in its search path.
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
