-- Claims the sends for which a sender has a permit within the horizon. The caller has locked them. See `take_deliveries`.
create or replace function claim_sends(p_ids uuid[], p_now timestamptz, p_horizon interval, p_terms delivery_terms)
returns table (outcome text, send sends, wait_ms integer)
language plpgsql set plan_cache_mode = force_generic_plan as $$
begin
  return query
    with taken as materialized (select * from take_permits(p_ids, p_now, p_horizon))
    update sends s set
      status = case s.status when 'queued' then 'sending' else s.status end, phase = 'calling', channel = 'whatsapp', from_number = t.number,
      sender_id = t.sender_id, attempts = s.attempts + 1, attempt_number = s.attempt_number + 1, claimed_at = p_now,
      claimed_until = t.permit_at + make_interval(secs => p_terms.lease_ms / 1000.0),
      -- An earlier call with an ended lease may still have sent the message.
      receipt_until = case when s.claimed_until is null then s.receipt_until else p_now + make_interval(secs => p_terms.receipt_wait_ms / 1000.0) end,
      due_at = case s.phase when 'waiting' then p_now else s.due_at end, version = s.version + 1
    from taken t
    where s.id = any (array(select taken.id from taken)) and s.id = t.id
    returning 'claimed', s, ceil(extract(epoch from t.permit_at - p_now) * 1000)::integer;
end
$$;
