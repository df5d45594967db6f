-- Gives each of these recipients a sender and a time within the horizon, or none, and none to one that is held. Send slots of a sender
-- lie a tenth further apart than its throughput asks for, and a tenth of the throughput may go at once: no second ever holds more than
-- the throughput. A sender that was stopped by a fault, and whose cool-down is over, sends one message a second until one succeeds. What
-- is throttled shares the slots of its throttle. The lock on the send slots makes that exact for any number of callers; all take it in the order of the ids.
--
-- p_locales: the languages of the messages; a sender that is stopped for a language gets none in it.
-- p_promise: the slots are not taken but promised to sends that are about to be woken, and then take slots themselves.
create or replace function take_send_slots(
  p_account_ids uuid[],
  p_recipients text[],
  p_countries text[],
  p_locales text[],
  p_horizon_ms integer,
  p_promise boolean
) returns table (ordinal integer, sender_id uuid, wait_ms integer, slot_at timestamptz)
language plpgsql
-- Planned once for each connection: to plan anew takes longer than to choose a sender.
set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
  v_now timestamptz;
  v_end timestamptz;
  v_ids uuid[];
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
  v_hash bigint;
  v_holds active_holds;
begin
  if coalesce(cardinality(p_recipients), 0) = 0 then
    return;
  end if;
  insert into send_slots (sender_id)
    select r.id from senders r where not exists (select from send_slots s where s.sender_id = r.id)
    order by r.id on conflict do nothing;
  perform from send_slots s order by s.sender_id for update;

  -- After the lock: time, pauses of a sender and holds may have moved on while this call waited.
  v_now := clock_timestamp();
  v_end := v_now + make_interval(secs => p_horizon_ms / 1000.0);
  perform from throttles t order by t.scope, t.subject for update;
  if found then
    select array_agg(t.scope), array_agg(t.subject), array_agg(t.spacing),
      array_agg(greatest(t.free_at, case when p_promise then t.promised_to end, v_now))
      into v_scopes, v_subjects, v_throttle_spacing, v_throttle_start
    from active_throttles(v_now) t;
    v_throttle_free := v_throttle_start;
    v_app := array_position(v_scopes, 'app');
  end if;
  select array_agg(a.id), array_agg(a.spacing), array_agg(greatest(
      a.free_at, case when p_promise then a.promised_to end, v_now - a.spacing * greatest(0, a.burst - 1)
    )), array_agg(a.own), array_agg(a.business) into v_ids, v_spacing, v_start, v_own, v_business
  from (
    select r.id, s.free_at, s.promised_to, t.own, t.business,
      case when r.paused_at is null then ceil(10000000.0 / (9 * r.throughput)) * interval '1 microsecond' else interval '1 second' end as spacing,
      case when r.paused_at is null then r.throughput / 10.0 else 0 end as burst
    from send_slots s join senders r on r.id = s.sender_id cross join lateral (
      select max(u.position) filter (where u.scope = 'sender') as own, max(u.position) filter (where u.scope = 'business') as business
      from unnest(v_scopes, v_subjects) with ordinality as u (scope, subject, position)
      where u.subject = sender_throttle_subject(u.scope, r.id, r.business_account_id)
    ) t
    where r.paused_at is null or r.paused_until <= v_now
  ) a;
  v_free := v_start;
  v_holds := active_holds();

  for v_ordinal in 1 .. cardinality(p_recipients) loop
    ordinal := v_ordinal;
    if is_held(v_holds, p_account_ids[v_ordinal], p_countries[v_ordinal]) then
      sender_id := null;
      slot_at := null;
      wait_ms := null;
      return next;
      continue;
    end if;
    v_hash := hashtextextended(p_recipients[v_ordinal], 0);
    select c.position, c.at into v_pick, v_at
    from (
      select a.id, a.position, random() as chance, greatest(
        a.free_at, v_now, v_throttle_free[v_own[a.position]], v_throttle_free[v_business[a.position]], v_throttle_free[v_app]
      ) as at
      from unnest(v_ids, v_free) with ordinality as a (id, free_at, position)
      order by at, chance
    ) c
    where c.at <= v_end
      -- Look-ups by key, one sender after the other until one is able. No planner turns them into a join, not even one that
      -- planned while the tables were empty.
      and coalesce(v_now >= (
        select b.blocked_until from sender_country_blocks b where b.sender_id = c.id and b.country = p_countries[v_ordinal]
      ), true)
      and coalesce(v_now >= (
        select coalesce(l.stopped_until, 'infinity') from sender_language_stops l
        where l.sender_id = c.id and l.locale = p_locales[v_ordinal]
      ), true)
      and coalesce(c.at >= (
        select p.free_at from sender_recipient_windows p where p.sender_id = c.id and p.recipient_hash = v_hash
      ), true)
    order by c.at, c.chance limit 1;
    sender_id := v_ids[v_pick];
    slot_at := v_at;
    wait_ms := ceil(extract(epoch from v_at - v_now) * 1000);
    return next;

    if v_pick is not null then
      v_free[v_pick] := v_free[v_pick] + v_spacing[v_pick];
      foreach v_throttle in array array_remove(array[v_own[v_pick], v_business[v_pick], v_app], null) loop
        v_throttle_free[v_throttle] := v_at + v_throttle_spacing[v_throttle];
      end loop;
      if not p_promise then
        insert into sender_recipient_windows as p (sender_id, recipient_hash, free_at)
          values (v_ids[v_pick], v_hash, v_at - recipient_window_burst() + recipient_window_spacing())
          on conflict (sender_id, recipient_hash) do update
          set free_at = greatest(p.free_at, v_at - recipient_window_burst()) + recipient_window_spacing();
      end if;
    end if;
  end loop;

  update send_slots s set
    free_at = case when p_promise then s.free_at else a.free_at end,
    promised_to = case when p_promise then a.free_at else s.promised_to end
  from unnest(v_ids, v_start, v_free) as a (id, start, free_at)
  where s.sender_id = a.id and a.free_at > a.start;
  if v_throttle_free is not null then
    update throttles t set
      free_at = case when p_promise then t.free_at else a.free_at end,
      promised_to = case when p_promise then a.free_at else t.promised_to end
    from unnest(v_scopes, v_subjects, v_throttle_start, v_throttle_free) as a (scope, subject, start, free_at)
    where t.scope = a.scope and t.subject = a.subject and a.free_at > a.start;
  end if;
end
$$;
