-- Whether no sender that may serve this application has a slot soon: its sends wait for the senders, and whoever comes now waits for a turn.
-- False without senders. Locks nothing, so the answer may be a moment old.
--
-- p_senders: as in `accounts`. Of an account that is `shared` the answer is that of all others which are.
create or replace function slots_are_taken(p_senders text, p_account_id uuid, p_application_id uuid) returns boolean
language sql as $$
  with stopped as materialized (
    select scope, subject, opens_at from active_stops(clock_timestamp()) where only_for = ''
  )
  select coalesce(bool_and(
    coalesce(greatest(s.free_at, t.opens_at), '-infinity') > clock_timestamp() + make_interval(secs => direct_slot_wait_ms() / 1000.0)
  ), false)
  from senders r left join send_slots s on s.sender_id = r.id cross join lateral (
    select max(a.opens_at) as opens_at from stopped a where a.subject = stop_subject(a.scope, r.id, r.business_account_id)
  ) t
  where r.removed_at is null and case
    when r.account_id is null then p_senders <> 'own'
    else p_senders <> 'shared' and is_own_sender(r.account_id, r.application_ids, p_account_id, p_application_id)
  end
$$;
