-- Assigns permits to these sends, in their order, from senders that may serve them, each at the earliest time within the horizon. A send
-- that is held, or for which no sender has a permit in time, gets none. The caller holds the lock of `take_deliveries`.
--
-- After its portfolio has reached Meta's limit of recipients in 24 hours, a sender is chosen only if no other sender has a permit in time.
--
-- A sender gets nine tenths of its throughput as a steady rate, and a tenth as a burst, so that no second exceeds the throughput. A block
-- that lets single messages through has its own permits (`active_blocks`).
create or replace function take_permits(p_ids uuid[], p_now timestamptz, p_horizon interval)
returns table (id uuid, sender_id uuid, number text, permit_at timestamptz)
-- One plan per connection: planning takes longer than choosing a sender.
language plpgsql set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
  v_senders permit_source[];
  v_blocks active_block[];
  v_holds text[] := array(select kind || ' ' || target from holds);
  v_position integer;
  w record;
begin
  -- Locks the blocks that are changed below, but not permanent blocks: the provider sync locks them in a different order, which could
  -- deadlock.
  perform from sender_blocks t where t.until is not null and (t.failures > 0 or t.cleared_at > p_now - interval '1 minute')
  order by t.cause, t.scope, t.subject, t.only_for for update;
  v_blocks := array(select b from active_blocks(p_now) b);
  v_senders := array(
    select (r.id, r.number, r.business_account_id, r.portfolio_id, r.has_recipient_room, r.account_id, r.application_ids, p.spacing,
      greatest(s.free_at, p_now - p.spacing * greatest(0, r.throughput / 10.0 - 1)), 0)::permit_source
    from senders r left join sender_permits s on s.sender_id = r.id
    cross join lateral (select ceil(10000000.0 / (9 * r.throughput)) * interval '1 microsecond' as spacing) p
    where r.removed_at is null and (r.account_id is null or r.account_id in (select w.account_id from sends w where w.id = any (p_ids)))
  );

  for w in
    select s.id, s.account_id, s.application_id, coalesce(s.country, 'ZZ') as country, s.locale, c.senders
    from unnest(p_ids) with ordinality as p (id, ordinal) join sends s on s.id = p.id join accounts c on c.id = s.account_id
    where not is_held(v_holds, s.account_id, s.country) order by p.ordinal
  loop
    select a.position, w.id, a.sender_id, a.number, t.at into v_position, id, sender_id, number, permit_at
    from unnest(v_senders) with ordinality
      as a (sender_id, number, business_account_id, portfolio_id, has_recipient_room, account_id, application_ids, spacing, free_at, taken, position)
    cross join lateral (
      select greatest(p_now, a.free_at + a.taken * a.spacing, case when cardinality(v_blocks) > 0 then (
        select max(b.opens_at) from unnest(v_blocks) b
        where b.subject = block_subject(b.scope, a.sender_id, a.business_account_id, a.portfolio_id) and b.only_for in ('', w.country, w.locale)
      ) end) as at
    ) t
    where t.at <= p_now + p_horizon and may_serve(a.account_id, a.application_ids, w.senders, w.account_id, w.application_id)
    order by a.has_recipient_room desc, t.at, random() limit 1;
    continue when not found;
    return next;

    v_senders[v_position].taken := v_senders[v_position].taken + 1;
    if cardinality(v_blocks) > 0 then
      update sender_blocks t set free_at = permit_at + b.spacing from unnest(v_blocks) b
      where (t.cause, t.scope, t.subject, t.only_for) = (b.cause, b.scope, b.subject, b.only_for)
        and b.subject = block_subject(b.scope, sender_id, v_senders[v_position].business_account_id, v_senders[v_position].portfolio_id)
        and b.only_for in ('', w.country, w.locale);
      v_blocks := array(select b from active_blocks(p_now) b);
    end if;
  end loop;

  insert into sender_permits as s (sender_id, free_at)
    select a.sender_id, a.free_at + a.taken * a.spacing from unnest(v_senders) a where a.taken > 0
    on conflict (sender_id) do update set free_at = excluded.free_at;
end
$$;
