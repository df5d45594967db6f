-- Returns whether no sender that may serve this application will have a permit soon, so that its new sends wait for a turn. False without
-- senders. Takes no locks, so the answer may be slightly out of date.
--
-- p_senders: as in `accounts`. For `shared`, the result is the same for all accounts.
-- p_wait_ms: "soon" means within this many milliseconds
create or replace function permits_are_taken(p_senders text, p_account_id uuid, p_application_id uuid, p_wait_ms integer) returns boolean
language sql as $$
  with blocks as materialized (
    select scope, subject, opens_at from active_blocks(clock_timestamp()) where only_for = ''
  )
  select coalesce(bool_and(
    coalesce(greatest(s.free_at, t.opens_at), '-infinity') > clock_timestamp() + make_interval(secs => p_wait_ms / 1000.0)
  ), false)
  from senders r left join sender_permits s on s.sender_id = r.id cross join lateral (
    select max(b.opens_at) as opens_at from blocks b where b.subject = block_subject(b.scope, r.id, r.business_account_id, r.portfolio_id)
  ) t
  where r.removed_at is null and may_serve(r.account_id, r.application_ids, p_senders, p_account_id, p_application_id)
$$;
