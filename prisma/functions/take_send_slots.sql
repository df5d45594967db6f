-- Gives each of these sends, in their order, a sender and a time within the horizon, or none, and none to one that is held. Send slots of a
-- sender lie a tenth further apart than its throughput asks for, and a tenth of the throughput may go at once: no second ever holds more
-- than the throughput. A sender that was stopped by a fault, and whose cool-down is over, sends one message a second until one succeeds.
-- What is throttled shares the slots of its throttle. Only `take_deliveries` calls it, under its lock.
create or replace function take_send_slots(p_ids uuid[], p_now timestamptz, p_horizon interval)
returns table (id uuid, sender_id uuid, number text, slot_at timestamptz)
language plpgsql
-- Planned once for each connection: to plan anew takes longer than to choose a sender.
set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
  v_end timestamptz := p_now + p_horizon;
  v_ids uuid[];
  v_numbers text[];
  v_start timestamptz[];
  v_free timestamptz[];
  v_spacing interval[];
  -- The throttles, and by sender their positions: of its own, of its business account's and of the app's.
  v_scopes text[];
  v_subjects text[];
  v_throttle_start timestamptz[];
  v_throttle_free timestamptz[];
  v_throttle_spacing interval[];
  v_own integer[];
  v_business integer[];
  v_app integer;
  v_throttle integer;
  v_pick integer;
  v_at timestamptz;
  v_holds active_holds := active_holds();
  w record;
begin
  perform from throttles t order by t.scope, t.subject for update;
  if found then
    select array_agg(t.scope), array_agg(t.subject), array_agg(t.spacing), array_agg(greatest(t.free_at, p_now))
      into v_scopes, v_subjects, v_throttle_spacing, v_throttle_start
    from active_throttles(p_now) t;
    v_throttle_free := v_throttle_start;
    v_app := array_position(v_scopes, 'app');
  end if;
  select array_agg(a.id), array_agg(a.number), array_agg(a.spacing),
    array_agg(greatest(a.free_at, p_now - a.spacing * greatest(0, a.burst - 1))), array_agg(a.own), array_agg(a.business)
    into v_ids, v_numbers, v_spacing, v_start, v_own, v_business
  from (
    select r.id, r.number, s.free_at, t.own, t.business,
      case when r.paused_at is null then ceil(10000000.0 / (9 * r.throughput)) * interval '1 microsecond' else interval '1 second' end as spacing,
      case when r.paused_at is null then r.throughput / 10.0 else 0 end as burst
    from senders r left join send_slots s on s.sender_id = r.id cross join lateral (
      select max(u.position) filter (where u.scope = 'sender') as own, max(u.position) filter (where u.scope = 'business') as business
      from unnest(v_scopes, v_subjects) with ordinality as u (scope, subject, position)
      where u.subject = sender_throttle_subject(u.scope, r.id, r.business_account_id)
    ) t
    where r.paused_at is null or r.paused_until <= p_now
  ) a;
  v_free := v_start;

  for w in
    select s.id, s.country, s.locale, hashtextextended(s.canonical_recipient, 0) as recipient_hash,
      is_held(v_holds, s.account_id, s.country) as is_held
    from unnest(p_ids) with ordinality as p (id, ordinal) join sends s on s.id = p.id order by p.ordinal
  loop
    continue when w.is_held;
    select c.position, c.at into v_pick, v_at
    from (
      select a.id, a.position, random() as chance, greatest(
        a.free_at, p_now, v_throttle_free[v_own[a.position]], v_throttle_free[v_business[a.position]], v_throttle_free[v_app]
      ) as at
      from unnest(v_ids, v_free) with ordinality as a (id, free_at, position)
      order by at, chance
    ) c
    where c.at <= v_end
      -- Look-ups by key, one sender after the other until one is able. No planner turns them into a join, not even one that
      -- planned while the tables were empty.
      and coalesce(p_now >= (
        select b.blocked_until from sender_country_blocks b where b.sender_id = c.id and b.country = coalesce(w.country, 'ZZ')
      ), true)
      and coalesce(p_now >= (
        select coalesce(l.stopped_until, 'infinity') from sender_language_stops l where l.sender_id = c.id and l.locale = w.locale
      ), true)
      and coalesce(c.at >= (
        select p.free_at from sender_recipient_windows p where p.sender_id = c.id and p.recipient_hash = w.recipient_hash
      ), true)
    order by c.at, c.chance limit 1;
    continue when v_pick is null;
    id := w.id;
    sender_id := v_ids[v_pick];
    number := v_numbers[v_pick];
    slot_at := v_at;
    return next;

    v_free[v_pick] := v_free[v_pick] + v_spacing[v_pick];
    foreach v_throttle in array array_remove(array[v_own[v_pick], v_business[v_pick], v_app], null) loop
      v_throttle_free[v_throttle] := v_at + v_throttle_spacing[v_throttle];
    end loop;
    insert into sender_recipient_windows as p (sender_id, recipient_hash, free_at)
      values (sender_id, w.recipient_hash, v_at - recipient_window_burst() + recipient_window_spacing())
      on conflict (sender_id, recipient_hash) do update
      set free_at = greatest(p.free_at, v_at - recipient_window_burst()) + recipient_window_spacing();
  end loop;

  insert into send_slots as s (sender_id, free_at)
    select a.id, a.free_at from unnest(v_ids, v_start, v_free) as a (id, start, free_at) where a.free_at > a.start
    on conflict (sender_id) do update set free_at = excluded.free_at;
  if v_throttle_free is not null then
    update throttles t set free_at = a.free_at
    from unnest(v_scopes, v_subjects, v_throttle_start, v_throttle_free) as a (scope, subject, start, free_at)
    where t.scope = a.scope and t.subject = a.subject and a.free_at > a.start;
  end if;
end
$$;
