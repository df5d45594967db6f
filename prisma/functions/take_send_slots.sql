-- Gives each of these sends, in their order, a sender and a time within the horizon, or none, and none to one that is held. Send slots of a
-- sender lie a tenth further apart than its throughput asks for, and a tenth of the throughput may go at once: no second ever holds more
-- than the throughput. A stop lets single messages through, if any; see `active_stops`. Only `take_deliveries` calls it, under its lock.
-- It locks no stop that has no end: whoever reads what the provider says changes those in another order.
--
-- No send leaves by a sender of another account. Those of an account that is `own` leave by its own senders only, and those of one that is
-- `own-first` by the shared ones where none of its own can take them within the horizon.
--
-- p_own_only: no send takes a slot of a shared sender.
create or replace function take_send_slots(p_ids uuid[], p_now timestamptz, p_horizon interval, p_own_only boolean)
returns table (id uuid, sender_id uuid, number text, slot_at timestamptz)
language plpgsql
-- Planned once for each connection: to plan anew takes longer than to choose a sender.
set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
  v_end timestamptz := p_now + p_horizon;
  v_ids uuid[];
  v_numbers text[];
  -- The shared ones are first, and so many.
  v_shared integer;
  v_businesses text[];
  v_start timestamptz[];
  v_free timestamptz[];
  v_spacing interval[];
  v_stops active_stop[];
  v_opens timestamptz[];
  v_pick integer;
  v_at timestamptz;
  v_holds active_holds := active_holds();
  w record;
begin
  -- Those that let single messages through are written below.
  perform from stops t where t.until is not null and (t.failures > 0 or t.proven_at > p_now - interval '1 minute')
  order by t.cause, t.scope, t.subject, t.only_for for update;
  select array_agg(t), array_agg(t.opens_at) into v_stops, v_opens from active_stops(p_now) t;
  select array_agg(a.id), array_agg(a.number), array_agg(a.business), array_agg(a.spacing),
    array_agg(greatest(a.free_at, p_now - a.spacing * greatest(0, a.throughput / 10.0 - 1))), count(*) filter (where a.account_id is null)
    into v_ids, v_numbers, v_businesses, v_spacing, v_start, v_shared
  from (
    select r.id, r.account_id, r.number, r.business_account_id as business, r.throughput, s.free_at,
      ceil(10000000.0 / (9 * r.throughput)) * interval '1 microsecond' as spacing
    from senders r left join send_slots s on s.sender_id = r.id
    -- Where all are shared, the accounts are not looked up.
    where r.removed_at is null and (r.account_id is null or r.account_id in (select w.account_id from sends w where w.id = any (p_ids)))
    order by r.account_id nulls first
  ) a;
  v_free := v_start;

  for w in
    select s.id, coalesce(s.country, 'ZZ') as country, s.locale, hashtextextended(s.recipient_key, 0) as recipient_hash,
      is_held(v_holds, s.account_id, s.country) as is_held, c.senders <> 'own' and not p_own_only as takes_shared,
      case when c.senders <> 'shared' then array(
        select o.position from unnest(v_ids) with ordinality as o (id, position) join senders r on r.id = o.id
        where o.position > v_shared and is_own_sender(r.account_id, r.application_ids, s.account_id, s.application_id)
      ) end as own
    from unnest(p_ids) with ordinality as p (id, ordinal) join sends s on s.id = p.id join accounts c on c.id = s.account_id
    order by p.ordinal
  loop
    continue when w.is_held;
    select c.position, c.at into v_pick, v_at
    from (
      select a.id, a.position, a.position > v_shared as is_own, random() as chance, greatest(a.free_at, p_now, case when v_stops is not null then (
        select max(k.free_at) from unnest(v_stops, v_opens) as k (cause, scope, subject, only_for, opens_at, spacing, free_at)
        where k.subject = stop_subject(k.scope, a.id, a.business) and k.only_for in ('', w.country, w.locale)
      ) end) as at
      from unnest(v_ids, v_businesses, v_free) with ordinality as a (id, business, free_at, position)
      where case when a.position > v_shared then a.position = any (w.own) else w.takes_shared end
      order by is_own desc, at, chance
    ) c
    where c.at <= v_end
      -- A look-up by key, for one sender after the other until one is able.
      and coalesce(c.at >= (
        select p.free_at from sender_recipient_windows p where p.sender_id = c.id and p.recipient_hash = w.recipient_hash
      ), true)
    order by c.is_own desc, c.at, c.chance limit 1;
    continue when v_pick is null;
    id := w.id;
    sender_id := v_ids[v_pick];
    number := v_numbers[v_pick];
    slot_at := v_at;
    return next;

    v_free[v_pick] := v_free[v_pick] + v_spacing[v_pick];
    if v_stops is not null then
      v_opens := array(
        select case
          when k.subject = stop_subject(k.scope, v_ids[v_pick], v_businesses[v_pick]) and k.only_for in ('', w.country, w.locale)
          then v_at + k.spacing else k.free_at
        end
        from unnest(v_stops, v_opens) with ordinality as k (cause, scope, subject, only_for, opens_at, spacing, free_at, position)
        order by k.position
      );
    end if;
    insert into sender_recipient_windows as p (sender_id, recipient_hash, free_at)
      values (sender_id, w.recipient_hash, v_at - recipient_window_burst() + recipient_window_spacing())
      on conflict (sender_id, recipient_hash) do update
      set free_at = greatest(p.free_at, v_at - recipient_window_burst()) + recipient_window_spacing();
  end loop;

  insert into send_slots as s (sender_id, free_at)
    select a.id, a.free_at from unnest(v_ids, v_start, v_free) as a (id, start, free_at) where a.free_at > a.start
    on conflict (sender_id) do update set free_at = excluded.free_at;
  if v_stops is not null then
    update stops t set free_at = k.free_at
    from unnest(v_stops, v_opens) as k (cause, scope, subject, only_for, opens_at, spacing, free_at)
    where (t.cause, t.scope, t.subject, t.only_for) = (k.cause, k.scope, k.subject, k.only_for) and k.free_at > k.opens_at;
  end if;
end
$$;
