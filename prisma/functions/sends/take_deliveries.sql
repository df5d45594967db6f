-- Claims live sends for delivery. No other function claims sends. Returns each send in its new state, with an outcome:
-- claimed: the caller may make one call, `wait_ms` from now
-- waits: no sender has a permit soon (`direct_wait_ms`); the send now waits for its account's turn
-- over (only if p_ids is null): due but not claimed, because it is a test send, may not be sent, or is locked by another transaction
--
-- p_ids: the sends to claim. Null: up to p_limit due sends, then sends that wait for a sender, in the order of their accounts' turns, and
-- at most p_limit claims in all. A due send gets only a permit that starts soon, so that it does not overtake a turn.
--
-- A lock keeps permits and turns exact for any number of concurrent callers.
create or replace function take_deliveries(p_ids uuid[], p_limit integer, p_terms delivery_terms)
returns table (outcome text, send sends, wait_ms integer)
language plpgsql set plan_cache_mode = force_generic_plan as $$
declare
  v_now timestamptz;
  v_direct interval := make_interval(secs => p_terms.direct_wait_ms / 1000.0);
  v_horizon interval := make_interval(secs => p_terms.permit_wait_ms / 1000.0);
  v_ids uuid[];
  v_eligible uuid[];
  v_unfinished uuid[];
  v_claimed integer := 0;
  v_turns uuid[];
begin
  -- The lock under which permits are assigned.
  perform pg_advisory_xact_lock(hashtextextended('permits', 0));
  -- Read after waiting for the lock, so that times never decrease. Columns store milliseconds.
  v_now := date_trunc('milliseconds', clock_timestamp());
  v_ids := coalesce(p_ids, array(
    select s.id from sends s
    where s.due_at <= statement_timestamp() and coalesce(s.claimed_until <= v_now, true)
      -- New sends are left to their jobs at first.
      and (s.attempt_number > 0 or s.created_at <= v_now - make_interval(secs => p_terms.job_wait_ms / 1000.0))
    order by s.due_at limit p_limit
  ));
  select coalesce(array_agg(e.id order by e.ordinal), '{}'), array_agg(e.id) filter (where e.claimed_until is not null)
    into v_eligible, v_unfinished
  from (
    select s.id, s.claimed_until, u.ordinal from unnest(v_ids) with ordinality as u (id, ordinal) cross join lateral (
      select id, claimed_until from sends
      -- "is true" prevents the use of other indexes, even in a plan made while there were few sends.
      where id = u.id and (
        mode = 'live' and phase in ('ready', 'waiting', 'calling', 'backing_off') and verification = 'pending' and due_at <= v_now
        and coalesce(claimed_until <= v_now, true) and attempts < p_terms.attempts_max
        and is_worth_sending(created_at, expires_at, v_now + v_direct)
      ) is true
      -- Waiting for a locked row would delay every other claim.
      for no key update skip locked
    ) s
  ) e;

  if v_unfinished is not null then
    -- Their leases have ended without an outcome.
    insert into attempts (send_id, number, sender_id, outcome, started_at, finished_at)
      select s.id, s.attempt_number, s.sender_id, 'unknown', s.claimed_at, v_now from sends s where s.id = any (v_unfinished)
      on conflict do nothing;
  end if;
  if cardinality(v_eligible) > 0 then
    return query select * from claim_sends(v_eligible, v_now, v_direct, p_terms);
    get diagnostics v_claimed = row_count;
  end if;
  if v_claimed < cardinality(v_eligible) then
    -- Updates the sends without a permit. A send that was claimed just now has a lease that ends in the future.
    return query
      update sends s set phase = 'waiting', due_at = s.expires_at, claimed_at = null, claimed_until = null, version = s.version + 1,
        -- A call with an ended lease may still have sent the message.
        receipt_until = case when s.claimed_until is null then s.receipt_until else v_now + make_interval(secs => p_terms.receipt_wait_ms / 1000.0) end
      where s.id = any (v_eligible) and coalesce(s.claimed_until <= v_now, true)
      returning 'waits', s, null::integer;
  end if;
  if p_ids is not null then
    return;
  end if;
  return query select 'over', s, null::integer from sends s where s.id = any (v_ids) and s.id <> all (v_eligible);

  if cardinality(v_eligible) < p_limit and exists (select from sends where is_waiting) then
    v_turns := array(select next_turns(p_limit - cardinality(v_eligible), v_now, v_horizon));
    return query select * from claim_sends(v_turns, v_now, v_horizon, p_terms);
    -- Records only the turns of sends that were claimed just now. Adding the position makes the times unique.
    insert into account_turns as t (account_id, served_at)
      select s.account_id, max(v_now + u.ordinal * interval '1 microsecond')
      from unnest(v_turns) with ordinality as u (id, ordinal) join sends s on s.id = u.id and s.claimed_at = v_now group by 1
      on conflict (account_id) do update set served_at = excluded.served_at;
  end if;
end
$$;
