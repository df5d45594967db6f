-- Takes sends for delivery. It is the one door by which live sends leave. The outcomes, with the sends as they are then:
-- claimed: for one call, by a sender whose send slot begins after `wait_ms`
-- waits: there is no slot soon; the send waits for a sender now
-- over (only where p_ids is null): it is due and cannot go out
--
-- p_ids: the sends that jobs name. Null takes whatever is due, and then, as far as there are slots within the horizon, sends that wait
-- for a sender, in the turns of their accounts. What is due takes a slot only if one is near, so that it overtakes no turn.
--
-- The lock makes slots and turns exact for any number of callers. A send that somebody else is changing is left for later.
create or replace function take_deliveries(p_ids uuid[], p_limit integer, p_terms delivery_terms)
returns table (outcome text, send sends, wait_ms integer)
language plpgsql set plan_cache_mode = force_generic_plan as $$
declare
  v_now timestamptz;
  v_direct interval := make_interval(secs => direct_slot_wait_ms() / 1000.0);
  v_horizon interval := make_interval(secs => p_terms.slot_wait_ms / 1000.0);
  v_ids uuid[];
  v_open uuid[];
  v_lapsed uuid[];
  v_claimed integer;
  v_turns next_turn[];
begin
  perform pg_advisory_xact_lock(7165203);
  -- After the lock, in statements that see what its last holder has changed. Times have milliseconds.
  v_now := date_trunc('milliseconds', clock_timestamp());
  v_ids := coalesce(p_ids, array(
    select s.id from sends s
    where s.due_at <= statement_timestamp() and coalesce(s.claimed_until <= v_now, true)
      -- A new send's job comes first.
      and (s.attempt_number > 0 or s.created_at <= v_now - make_interval(secs => p_terms.job_wait_ms / 1000.0))
    order by s.due_at limit p_limit
  ));
  select coalesce(array_agg(o.id order by o.ordinal), '{}'), array_agg(o.id) filter (where o.claimed_until is not null)
    into v_open, v_lapsed
  from (
    select s.id, s.claimed_until, u.ordinal from unnest(v_ids) with ordinality as u (id, ordinal) cross join lateral (
      select id, claimed_until from sends
      -- "is true" keeps other indexes away, also from a plan that was made while there were few sends.
      where id = u.id and (
        mode = 'live' and (status in ('queued', 'sending') or lost_at is not null) and verification = 'pending' and due_at <= v_now
        and coalesce(claimed_until <= v_now, true) and attempts < p_terms.attempts_max
        and is_worth_sending(created_at, expires_at, v_now + v_direct)
      ) is true
      -- Whoever holds the lock above waits for nobody.
      for no key update skip locked
    ) s
  ) o;

  if v_lapsed is not null then
    -- Their workers died, or come too late.
    insert into attempts (send_id, number, sender_id, outcome, started_at, finished_at)
      select s.id, s.attempt_number, s.sender_id, 'unknown', s.claimed_at, v_now from sends s where s.id = any (v_lapsed)
      on conflict do nothing;
  end if;
  if cardinality(v_open) > 0 then
    return query select * from claim_sends(v_open, v_now, v_direct, p_terms, false);
    get diagnostics v_claimed = row_count;
  end if;
  if v_claimed < cardinality(v_open) then
    return query
      update sends s set awaiting_sender = true, due_at = s.expires_at, claimed_at = null, claimed_until = null, version = s.version + 1,
        receipt_until = case when s.claimed_until is null then s.receipt_until else v_now + make_interval(secs => p_terms.settle_ms / 1000.0) end
      where s.id = any (v_open) and coalesce(s.claimed_until <= v_now, true)
      returning 'waits', s, null::integer;
  end if;
  if p_ids is not null then
    return;
  end if;
  return query select 'over', s, null::integer from sends s where s.id = any (v_ids) and s.id <> all (v_open);

  if cardinality(v_ids) < p_limit and exists (select from sends where awaiting_sender) then
    v_turns := array(select t from next_turns(p_limit - cardinality(v_ids), v_now, v_horizon) t);
    return query select * from claim_sends(
      array(select t.id from unnest(v_turns) t where not t.is_own), v_now, v_horizon, p_terms, false
    );
    if exists (select from unnest(v_turns) t where t.is_own) then
      return query select * from claim_sends(
        array(select t.id from unnest(v_turns) t where t.is_own), v_now, v_horizon, p_terms, true
      );
    end if;
    insert into account_turns as t (account_id, starts_at, ends_at)
      select n.account_id, max(n.starts_at), max(n.ends_at) from unnest(v_turns) n join sends s on s.id = n.id and s.claimed_at = v_now
      where not n.is_own group by n.account_id
      on conflict (account_id) do update set starts_at = excluded.starts_at, ends_at = excluded.ends_at;
    update sends s set awaiting_sender = false, due_at = n.opens_at, version = s.version + 1
      from unnest(v_turns) n where s.id = n.id and n.opens_at is not null and s.awaiting_sender;
  end if;
end
$$;
