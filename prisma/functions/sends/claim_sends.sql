-- Claims each of these sends for which a sender has a permit by `p_until`. The others wait for their account's turn. Returns the sends that
-- it changed, with `wait_ms` as in `take_deliveries`. The caller has locked all of these sends.
create or replace function claim_sends(p_ids uuid[], p_now timestamptz, p_until timestamptz, p_lease interval)
returns table (send sends, wait_ms integer)
language plpgsql set plan_cache_mode = force_generic_plan as $$
declare
  v_claimed integer;
begin
  return query
    with permits as materialized (select * from take_permits(p_ids, p_now, p_until))
    update sends s set
      status = case s.status when 'queued' then 'sending' else s.status end, phase = 'calling', channel = 'whatsapp', from_number = p.number,
      sender_id = p.sender_id, attempts = s.attempts + 1, attempt_number = s.attempt_number + 1, claimed_at = p_now,
      claimed_until = p.permit_at + p_lease, version = s.version + 1,
      due_at = case s.phase when 'waiting' then p_now else s.due_at end
    from permits p
    where s.id = any (array(select permits.id from permits)) and s.id = p.id
    returning s, ceil(extract(epoch from p.permit_at - p_now) * 1000)::integer;
  get diagnostics v_claimed = row_count;
  if v_claimed < cardinality(p_ids) then
    return query
      update sends s set phase = 'waiting', due_at = s.expires_at, version = s.version + 1
      where s.id = any (p_ids) and s.phase in ('ready', 'backing_off')
      returning s, null::integer;
  end if;
end
$$;
