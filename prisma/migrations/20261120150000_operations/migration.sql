-- What people changed by hand: from the console or the command line. No reference to `accounts`: a log outlives what it tells of,
-- and the check would lock the row that every creation locks.
create table audit_entries (
  id bigint generated always as identity primary key,
  at timestamptz(3) not null default clock_timestamp(),
  actor_kind text not null check (actor_kind in ('user', 'command_line')),
  actor_id uuid,
  actor_name text not null,
  -- Compared byte by byte, so that the index below finds prefixes.
  action text collate "C" not null check (action ~ '^[a-z_]+\.[a-z_]+$'),
  account_id uuid,
  subject text,
  details jsonb not null default '{}'
);
create index audit_entries_account_id on audit_entries (account_id, id);
create index audit_entries_action on audit_entries (action, id);

create function refuse_audit_change() returns trigger language plpgsql as $$
begin
  raise exception 'the audit log is only added to';
end
$$;
create trigger audit_entries_append_only before update or delete or truncate on audit_entries
  for each statement execute function refuse_audit_change();

-- What operators stopped: sends wait in their rows until it is released. `live` is every live send; a country is one of ISO 3166,
-- or `ZZ` for numbers of no country.
create table holds (
  kind text not null check (kind in ('live', 'country', 'account')),
  target text not null,
  reason text not null check (length(reason) between 1 and 200),
  since timestamptz(3) not null default clock_timestamp(),
  set_by text not null,
  primary key (kind, target),
  constraint holds_target_check check (case kind
    when 'live' then target = ''
    when 'country' then target ~ '^[A-Z]{2}$'
    else target ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
  end)
);

-- Gives each of these recipients a sender and a time within the horizon, or none, and none to one that is held. Slots of a sender lie a tenth further apart
-- than its throughput asks for, and a tenth of the throughput may go at once: no second ever holds more than the throughput.
-- The lock on the senders' slots makes that exact for any number of callers; they all take it in the order of the ids.
--
-- p_account_ids: null from workers of the release before this one, which do not say whose messages they are. No hold of an
-- account stops those.
-- p_promise: the slots are not taken but promised to sends that are about to be woken, and then take slots themselves.
create function take_slots_unless_held(
  p_account_ids uuid[],
  p_recipients text[],
  p_countries text[],
  p_horizon_ms integer,
  p_promise boolean default false
) returns table (want integer, sender_id uuid, wait_ms integer, slot_at timestamptz) language plpgsql
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
  v_pick integer;
  v_at timestamptz;
  v_hash bigint;
  v_all_held boolean;
  v_countries_held text[];
  v_accounts_held text[];
begin
  if coalesce(cardinality(p_recipients), 0) = 0 then
    return;
  end if;
  insert into sender_slots (sender_id)
    select r.id from senders r where not exists (select from sender_slots s where s.sender_id = r.id)
    order by r.id on conflict do nothing;
  perform from sender_slots s order by s.sender_id for update;

  -- After the lock: time, pauses of a sender and holds may have moved on while this call waited.
  v_now := clock_timestamp();
  v_end := v_now + make_interval(secs => p_horizon_ms / 1000.0);
  select array_agg(a.id), array_agg(a.spacing), array_agg(greatest(
      a.free_at, case when p_promise then a.promised_to end, v_now - a.spacing * greatest(0, a.throughput / 10.0 - 1)
    )) into v_ids, v_spacing, v_start
  from (
    select r.id, r.throughput, s.free_at, s.promised_to,
      ceil(10000000.0 / (9 * r.throughput)) * interval '1 microsecond' as spacing
    from sender_slots s join senders r on r.id = s.sender_id
    where r.paused_at is null or r.paused_until <= v_now
  ) a;
  v_free := v_start;
  -- Without a hold, the two lists are null, and nothing is in them.
  select coalesce(bool_or(h.kind = 'live'), false), array_agg(h.target) filter (where h.kind = 'country'),
      array_agg(h.target) filter (where h.kind = 'account')
    into v_all_held, v_countries_held, v_accounts_held from holds h;

  for v_want in 1 .. cardinality(p_recipients) loop
    want := v_want;
    if v_all_held or coalesce(p_countries[v_want], 'ZZ') = any (v_countries_held)
        or p_account_ids[v_want]::text = any (v_accounts_held) then
      sender_id := null;
      slot_at := null;
      wait_ms := null;
      return next;
      continue;
    end if;
    v_hash := hashtextextended(p_recipients[v_want], 0);
    select c.place, c.at into v_pick, v_at
    from (
      select a.id, a.place, greatest(a.free_at, v_now) as at, random() as chance
      from unnest(v_ids, v_free) with ordinality as a (id, free_at, place)
      order by at, chance
    ) c
    where c.at <= v_end
      -- Look-ups by key, one sender after the other until one is able. No planner turns them into a join, not even one that
      -- planned while the tables were empty.
      and coalesce(v_now >= (
        select b.blocked_until from sender_country_blocks b where b.sender_id = c.id and b.country = p_countries[v_want]
      ), true)
      and coalesce(c.at >= (
        select p.free_at from sender_pairs p where p.sender_id = c.id and p.recipient_hash = v_hash
      ), true)
    order by c.at, c.chance limit 1;
    sender_id := v_ids[v_pick];
    slot_at := v_at;
    wait_ms := ceil(extract(epoch from v_at - v_now) * 1000);
    return next;

    if v_pick is not null then
      v_free[v_pick] := v_free[v_pick] + v_spacing[v_pick];
      if not p_promise then
        insert into sender_pairs as p (sender_id, recipient_hash, free_at)
          values (v_ids[v_pick], v_hash, v_at - pair_burst() + pair_spacing())
          on conflict (sender_id, recipient_hash) do update
          set free_at = greatest(p.free_at, v_at - pair_burst()) + pair_spacing();
      end if;
    end if;
  end loop;

  update sender_slots s set
    free_at = case when p_promise then s.free_at else a.free_at end,
    promised_to = case when p_promise then a.free_at else s.promised_to end
  from unnest(v_ids, v_start, v_free) as a (id, start, free_at)
  where s.sender_id = a.id and a.free_at > a.start;
end
$$;

-- For workers of the release before this one, which have no account ids.
create or replace function take_slots(
  p_recipients text[],
  p_countries text[],
  p_horizon_ms integer,
  p_promise boolean default false
) returns table (want integer, sender_id uuid, wait_ms integer, slot_at timestamptz) language sql as $$
  select * from take_slots_unless_held(null, p_recipients, p_countries, p_horizon_ms, p_promise)
$$;

-- While it stands, the account's keys are not valid.
alter table accounts
  add column suspended_at timestamptz(3),
  add column suspension_reason text check (length(suspension_reason) between 1 and 200),
  add constraint accounts_suspension_check check ((suspended_at is null) = (suspension_reason is null));

-- The words of a name, lower case, for a search by their beginnings. Cut at ASCII characters that are neither letters nor digits,
-- so that no locale makes a difference.
create function name_words(p_name text) returns text[] language sql immutable parallel safe as $$
  select array_remove(regexp_split_to_array(lower(p_name), '[\x01-\x2f\x3a-\x40\x5b-\x60\x7b-\x7f]+'), '')
$$;
