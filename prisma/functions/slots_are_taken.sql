-- Whether no sender has a slot soon: sends wait for the senders, and whoever comes now waits for a turn. False without senders. Locks
-- nothing, so the answer may be a moment old.
create or replace function slots_are_taken() returns boolean
language sql as $$
  select coalesce(bool_and(
    coalesce(greatest(s.free_at, t.opens_at), '-infinity') > clock_timestamp() + make_interval(secs => direct_slot_wait_ms() / 1000.0)
  ), false)
  from senders r left join send_slots s on s.sender_id = r.id cross join lateral (
    select max(a.opens_at) as opens_at from active_stops(clock_timestamp()) a
    where a.only_for = '' and a.subject = stop_subject(a.scope, r.id, r.business_account_id)
  ) t
  where r.removed_at is null
$$;
