-- Claims live sends for delivery, with `claim_sends`, and returns each send in its new state. Skips sends that another transaction has
-- locked.
--
-- p_ids: the sends of jobs. Null takes up to p_limit due sends, then waiting sends in the order of their accounts' turns; together at most
-- p_limit claims. A permit outside a turn must start within `v_wait`, which is shorter than `v_turn_wait`, so that it does not overtake a
-- turn.
--
-- wait_ms: the milliseconds until the one call that the caller may make. Null for a send that was not claimed, because
-- - no sender has a permit in time; the send now waits for its account's turn
-- - it is a test send, is not due, or may not be sent
-- - it has a call, in progress or with an expired lease
--
-- A lock keeps permits and turns exact for any number of concurrent callers.
create or replace function take_deliveries(p_ids uuid[], p_limit integer, p_lease interval)
returns table (send sends, wait_ms integer)
language plpgsql set plan_cache_mode = force_generic_plan as $$
declare
  -- The longest wait for the permit of a send at its account's turn, and of any other send.
  v_turn_wait constant interval := '500 milliseconds';
  v_wait constant interval := '250 milliseconds';
  v_now timestamptz;
  v_candidates uuid[];
  -- The candidates that may be sent now, in the same order, and the others.
  v_sendable uuid[];
  v_unsendable uuid[];
  v_turns uuid[];
  v_turns_at timestamptz;
begin
  perform pg_advisory_xact_lock(hashtextextended('permits', 0));
  -- Read after waiting for the lock, so that times never decrease. Columns store milliseconds.
  v_now := date_trunc('milliseconds', clock_timestamp());
  v_candidates := coalesce(p_ids, array(
    select s.id from sends s
    where s.due_at <= statement_timestamp() and coalesce(s.claimed_until <= v_now, true)
      -- New sends are left to their jobs at first.
      and (s.attempt_number > 0 or s.created_at <= v_now - interval '2 seconds')
    order by s.due_at limit p_limit for no key update skip locked
  ));

  select coalesce(array_agg(s.id order by u.ordinal) filter (where s.is_sendable), '{}'), array_agg(s.id) filter (where not s.is_sendable)
  into v_sendable, v_unsendable
  from unnest(v_candidates) with ordinality as u (id, ordinal) cross join lateral (
    select id, mode = 'live' and phase in ('ready', 'backing_off') and verification = 'pending' and due_at <= v_now
      and is_worth_sending(created_at, expires_at, v_now + v_wait) as is_sendable
    -- Waiting for a locked row would delay every other claim.
    from sends where id = u.id for no key update skip locked
  ) s;
  if cardinality(v_sendable) > 0 then
    return query select * from claim_sends(v_sendable, v_now, v_now + v_wait, p_lease);
  end if;
  if v_unsendable is not null then
    return query select s, null::integer from sends s where s.id = any (v_unsendable);
  end if;

  if p_ids is null and cardinality(v_sendable) < p_limit and exists (select from sends where is_waiting) then
    v_turns := array(select next_turns(p_limit - cardinality(v_sendable), v_now + v_turn_wait));
    return query select * from claim_sends(v_turns, v_now, v_now + v_turn_wait, p_lease);
    -- Read once: a plan may evaluate a call in the statement for each row, and in any order of the rows.
    v_turns_at := clock_timestamp();
    -- Records only the turns of sends that were claimed just now. The microseconds and the position make the times unique.
    insert into account_turns as t (account_id, served_at)
      select s.account_id, max(v_turns_at + u.ordinal * interval '1 microsecond')
      from unnest(v_turns) with ordinality as u (id, ordinal) join sends s on s.id = u.id and s.claimed_at = v_now group by 1
      on conflict (account_id) do update set served_at = excluded.served_at;
  end if;
end
$$;
