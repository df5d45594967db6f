-- Assigns permits to these sends, in their order. Each send gets the earliest permit of the senders that may serve it; if several permits
-- start at the same time, a random one. After its portfolio has reached Meta's limit of recipients in 24 hours, a sender is chosen only if
-- no other sender has a permit in time. A send that is held, or for which no sender has a permit by `p_until`, gets none.
--
-- The caller holds the lock of `take_deliveries`.
--
-- A sender gets nine tenths of its throughput as a steady rate, and a tenth as a burst (at least one message). If its throughput is ten or
-- more, no second therefore exceeds it. After the `until` of a block, its messages get one permit a second, until one of them succeeds.
create or replace function take_permits(p_ids uuid[], p_now timestamptz, p_until timestamptz)
returns table (id uuid, sender_id uuid, number text, permit_at timestamptz)
-- One plan per connection: planning takes longer than choosing a sender.
language plpgsql set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
  v_holds text[] := array(select kind || ' ' || target from holds);
  -- The senders that may serve some of the sends: when the next permit of each begins, and how many this call has taken since.
  v_senders permit_source[];
  v_blocks sender_blocks[];
  v_chosen integer;
  w record;
begin
  -- Locks the blocks that are changed below, in the order in which `endBlocks` locks them. Permanent blocks let no message through.
  perform from sender_blocks t where t.until is not null and t.failures > 0
  order by t.cause, t.scope, t.subject, t.only_for for update;
  v_blocks := array(select t from sender_blocks t where t.failures > 0);
  v_senders := array(
    select (r.id, r.number, r.business_account_id, r.portfolio_id, r.has_recipient_room, r.account_id, r.application_ids, t.spacing,
      greatest(p.free_at, p_now - t.spacing * greatest(0, r.throughput / 10.0 - 1)), 0)::permit_source
    from senders r left join sender_permits p on p.sender_id = r.id
    cross join lateral (select ceil(10000000.0 / (9 * r.throughput)) * interval '1 microsecond' as spacing) t
    where r.removed_at is null and (r.account_id is null or r.account_id in (select s.account_id from sends s where s.id = any (p_ids)))
  );

  for w in
    select s.id, s.account_id, s.application_id, s.country, s.locale, c.senders
    from unnest(p_ids) with ordinality as u (id, ordinal) join sends s on s.id = u.id join accounts c on c.id = s.account_id
    where not is_held(v_holds, s.account_id, s.country) order by u.ordinal
  loop
    select r.ordinality, w.id, r.sender_id, r.number, t.at into v_chosen, id, sender_id, number, permit_at
    from unnest(v_senders) with ordinality r cross join lateral (
      select greatest(p_now, r.free_at + r.taken * r.spacing, case when cardinality(v_blocks) > 0 then (
        select max(greatest(coalesce(b.until, 'infinity'), b.free_at)) from unnest(v_blocks) b
        where b.subject = block_subject(b.scope, r.sender_id, r.business_account_id, r.portfolio_id) and b.only_for in ('', w.country, w.locale)
      ) end) as at
    ) t
    where t.at <= p_until and may_serve(r.account_id, r.application_ids, w.senders, w.account_id, w.application_id)
    order by r.has_recipient_room desc, t.at, random() limit 1;
    continue when not found;
    return next;

    v_senders[v_chosen].taken := v_senders[v_chosen].taken + 1;
    if cardinality(v_blocks) > 0 then
      update sender_blocks t set free_at = permit_at + interval '1 second' from unnest(v_blocks) b
      where (t.cause, t.scope, t.subject, t.only_for) = (b.cause, b.scope, b.subject, b.only_for)
        and b.subject = block_subject(b.scope, sender_id, v_senders[v_chosen].business_account_id, v_senders[v_chosen].portfolio_id)
        and b.only_for in ('', w.country, w.locale);
      v_blocks := array(select t from sender_blocks t where t.failures > 0);
    end if;
  end loop;

  insert into sender_permits as p (sender_id, free_at)
    select r.sender_id, r.free_at + r.taken * r.spacing from unnest(v_senders) r where r.taken > 0
    -- A change of the sender may have postponed its next permit in the meantime.
    on conflict (sender_id) do update set free_at = greatest(p.free_at, excluded.free_at);
end
$$;
