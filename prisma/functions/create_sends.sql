-- Creates sends, or says of each why not: key, idempotency key, country, limits, unit, in this order. The locks on the accounts' rows put
-- creations of one account in a line, so that idempotency keys, limits and units are exact under any concurrency. What an earlier request
-- of the same call has created counts for the later ones. A refusal writes nothing.
--
-- While sends wait for the senders, a live send waits from the beginning, and its account's turn decides when it leaves. It needs no job.
--
-- p_wait_ms: as in `lock_applications`; requests whose account somebody else has locked get no answer.
create or replace function create_sends(p_sends new_send[], p_wait_ms integer) returns table (
  ordinal bigint,
  outcome text,
  cause text,
  retry_after_seconds integer,
  -- Of the send that the key belongs to.
  existing_id uuid,
  created created_send,
  -- What the limits leave after this request, where they were looked at; null where there is no such limit.
  account_window rate_window,
  application_window rate_window,
  recipient_window rate_window,
  now timestamptz
)
language plpgsql as $$
#variable_conflict use_column
declare
  w record;
  v_locked uuid[] := lock_applications(p_sends, p_wait_ms);
  -- After the locks, so that times of one account never go back.
  v_now timestamptz := date_trunc('milliseconds', clock_timestamp());
  v_today date := v_now at time zone 'UTC';
  v_settings settings;
  -- What this call has created: of the account, of the application, and in all.
  v_account_id uuid;
  v_account_new integer;
  v_free_taken integer;
  v_credits_taken integer;
  v_open_recipients text[];
  v_open_points integer[];
  v_application_id uuid;
  v_application_new integer;
  v_keys bytea[];
  v_hashes bytea[];
  v_ids uuid[];
  v_recipients text[];
  v_trial_new integer := 0;
  v_created created_send[] := '{}';
  v_is_live boolean;
  -- Whether the shared senders are taken, and those that this application may use where it is no account of the shared ones.
  v_shared_taken boolean;
  v_own_taken boolean;
  v_awaits boolean;
  v_known integer;
  v_room double precision;
  v_new_points integer;
  v_wrong_at timestamptz;
  v_codes_at timestamptz;
  v_trial_at timestamptz;
  v_day_at timestamptz;
  v_month_at timestamptz;
  v_open_at timestamptz;
  v_bucket text;
begin
  select * into strict v_settings from settings;
  now := v_now;
  for w in
    -- A statement of its own: it sees what others committed before the locks were ours.
    select u.*, k.id is not null and k.revoked_at is null as key_is_valid, s.id as existing_id, s.body_hash as existing_hash,
      a.suspended_at, a.language, a.senders, a.free_quota, a.credits, a.allowed_countries, a.allows_costly, a.trial_countries,
      a.units_per_day, a.units_per_month, a.sends_created as account_total,
      case when a.units_on = v_today then a.units_of_day else 0 end as units_of_day,
      case when date_trunc('month', a.units_on::timestamp) = date_trunc('month', v_today::timestamp) then a.units_of_month else 0 end as units_of_month,
      a.minute_times as account_times, a.minute_totals as account_totals,
      coalesce(a.rate_per_minute, v_settings.account_rate_per_minute) as account_quota, p.mode, p.sends_created as application_total,
      p.minute_times as application_times, p.minute_totals as application_totals, p.per_minute as application_quota,
      p.per_recipient_hour as recipient_quota, case when p.per_recipient_hour is not null then array(
        -- The times of the latest sends within an hour, newest first. A function of its own would be planned anew at each call.
        select l.created_at from unnest(u.recipient_keys) as r (recipient_key) cross join lateral (
          select s.created_at from sends s
          where s.account_id = p.account_id and s.mode = p.mode and s.recipient_key = r.recipient_key
            and (s.application_id = p.id) is true
            -- "is true" keeps the index by application away. Those from further ahead are from before the clock stepped back.
            and s.created_at > v_now - interval '1 hour' and s.created_at < v_now + interval '1 hour'
          order by s.created_at desc limit p.per_recipient_hour
        ) l
        order by l.created_at desc limit p.per_recipient_hour
      ) end as recipient_times, b.guess_cost as wrong_cost, b.points as wrong_points,
      o.guess_cost as open_cost, coalesce(o.points, 0) as open_points, case
        -- The order, as in `open_codes`. A number that verified before is no pumping.
        when t.open_until is not null and (
          select true from unnest(u.recipient_keys) as r (recipient_key) cross join lateral (
            select from sends v where v.account_id = u.account_id and v.mode = 'live' and v.recipient_key = r.recipient_key
              and v.verification = 'verified' order by v.created_at desc limit 1
          ) v limit 1
        ) is null then t.open_until
      end as breaker_at
    from unnest(p_sends) u
    join accounts a on a.id = u.account_id
    join applications p on p.id = u.application_id
    left join api_keys k on k.id = u.key_id
    left join sends s on s.application_id = u.application_id and s.idempotency_key = u.idempotency_key
    left join lateral (
      select max(g.guess_cost) as guess_cost, sum(points_left_at(g.points, g.last_wrong_at, v_now)) as points
      from unnest(u.recipient_keys) as r (recipient_key) cross join lateral (
        select * from guess_budgets where account_id = u.account_id and mode = p.mode and recipient_key = r.recipient_key limit 1
      ) g
    ) b on true
    left join breaker_trips t on a.breaker_unverified_percent is not null and p.mode = 'live' and t.account_id = u.account_id
      and t.country = coalesce(u.country, 'ZZ') and t.open_until > v_now
    left join lateral (
      select max(c.guess_cost) as guess_cost, sum(c.points)::integer as points from open_codes(u.account_id, u.recipient_keys) c
    ) o on p.mode = 'live'
    where u.application_id = any (v_locked)
    order by u.account_id, u.application_id, u.ordinal
  loop
    if w.account_id is distinct from v_account_id then
      v_account_id := w.account_id;
      v_account_new := 0;
      v_free_taken := 0;
      v_credits_taken := 0;
      v_open_recipients := '{}';
      v_open_points := '{}';
    end if;
    if w.application_id is distinct from v_application_id then
      v_application_id := w.application_id;
      v_application_new := 0;
      v_keys := '{}';
      v_hashes := '{}';
      v_ids := '{}';
      v_recipients := '{}';
      v_own_taken := null;
    end if;
    ordinal := w.ordinal;
    v_is_live := w.mode = 'live';
    retry_after_seconds := null;
    created := null;
    account_window := null;
    application_window := null;
    recipient_window := null;

    -- The key was good when the request came, which may have waited since.
    cause := case when not w.key_is_valid then 'revoked' when w.suspended_at is not null then 'suspended' end;
    if cause is not null then
      outcome := 'key_refused';
      return next;
      continue;
    end if;

    v_known := case when w.idempotency_key is not null then array_position(v_keys, w.idempotency_key) end;
    existing_id := coalesce(w.existing_id, v_ids[v_known]);
    if existing_id is not null then
      outcome := case when coalesce(w.existing_hash, v_hashes[v_known]) = any (w.body_hashes) then 'existing' else 'reused' end;
      return next;
      continue;
    end if;

    cause := case
      when v_is_live and w.trial_countries is not null and w.is_costly then 'trial_range'
      -- A number of no country is on no list.
      when v_is_live and w.trial_countries is not null and not coalesce(w.country = any (w.trial_countries), false) then 'trial_country'
      when w.is_costly and not w.allows_costly then 'range'
      when not coalesce(w.country = any (w.allowed_countries), w.allowed_countries is null) then 'country'
    end;
    if cause is not null then
      outcome := 'recipient_refused';
      return next;
      continue;
    end if;

    account_window :=
      minute_window(w.account_quota, w.account_total + v_account_new, w.account_times, w.account_totals, v_now);
    application_window :=
      minute_window(w.application_quota, w.application_total + v_application_new, w.application_times, w.application_totals, v_now);
    recipient_window := hour_window(
      w.recipient_quota, cardinality(array_positions(v_recipients, w.recipient_keys[1])), w.recipient_times, v_now
    );
    v_wrong_at := null;
    v_codes_at := null;
    if v_settings.guess_budget is not null then
      -- What may be guessed is to have room beforehand; in test mode, a guess that has been made.
      v_room := guess_points_max(v_settings.guess_budget, greatest(w.guess_cost, w.wrong_cost, w.open_cost))
        - coalesce(w.wrong_points, 0) - w.guess_cost * case when v_is_live then 5 else 1 end;
      v_new_points := 0;
      if w.recipient_keys[1] = any (v_open_recipients) and v_is_live then
        v_new_points := (
          select sum(n.points) from unnest(v_open_recipients, v_open_points) as n (recipient, points)
          where n.recipient = w.recipient_keys[1]
        );
      end if;
      if v_room < 0 then
        v_wrong_at := v_now + make_interval(secs => -v_room / 5 * 86400);
      elsif w.open_points + v_new_points > v_room then
        v_codes_at := codes_end_at(w.account_id, w.recipient_keys, v_room - v_new_points, v_now, v_settings);
      end if;
    end if;
    v_trial_at := case when v_is_live and w.trial_countries is not null then trial_opens_at(v_trial_new, v_now, v_settings) end;
    v_day_at := case
      when v_is_live and w.units_of_day + v_free_taken + v_credits_taken >= w.units_per_day
        then (v_today + interval '1 day') at time zone 'UTC'
    end;
    v_month_at := case
      when v_is_live and w.units_of_month + v_free_taken + v_credits_taken >= w.units_per_month
        then (date_trunc('month', v_today::timestamp) + interval '1 month') at time zone 'UTC'
    end;

    -- The last one to open is told.
    v_open_at := greatest(
      closed_until(account_window), closed_until(application_window), closed_until(recipient_window),
      v_wrong_at, v_codes_at, w.breaker_at, v_month_at, v_day_at, v_trial_at
    );
    outcome := 'created';
    if v_open_at is not null then
      outcome := 'rate_limited';
      cause := case v_open_at
        when closed_until(account_window) then 'account_rate'
        when closed_until(application_window) then 'application_rate'
        when closed_until(recipient_window) then 'recipient_rate'
        when v_wrong_at then 'wrong_guesses'
        when v_codes_at then 'open_codes'
        when w.breaker_at then 'breaker'
        when v_month_at then 'month_ceiling'
        when v_day_at then 'day_ceiling'
        else 'trial_ceiling'
      end;
      retry_after_seconds := ceil(extract(epoch from v_open_at - v_now));
    elsif v_is_live then
      v_bucket := case
        when w.free_quota > v_free_taken then 'free_quota'
        when w.credits > v_credits_taken then 'credit'
      end;
      if v_bucket is null then
        outcome := 'insufficient_credits';
      end if;
    end if;
    if outcome = 'created' then
      account_window.remaining := account_window.remaining - 1;
      application_window.remaining := application_window.remaining - 1;
      recipient_window.remaining := recipient_window.remaining - 1;
      v_account_new := v_account_new + 1;
      v_application_new := v_application_new + 1;
      v_keys := v_keys || w.idempotency_key;
      v_hashes := v_hashes || w.body_hashes[1];
      v_ids := v_ids || w.id;
      v_recipients := v_recipients || w.recipient_keys[1];
      if v_is_live then
        v_free_taken := v_free_taken + (v_bucket = 'free_quota')::integer;
        v_credits_taken := v_credits_taken + (v_bucket = 'credit')::integer;
        v_open_recipients := v_open_recipients || w.recipient_keys[1];
        v_open_points := v_open_points || 5 * w.guess_cost;
        v_trial_new := v_trial_new + (w.trial_countries is not null)::integer;
        if w.senders = 'shared' then
          v_shared_taken := coalesce(v_shared_taken, slots_are_taken('shared', null, null));
          v_awaits := v_shared_taken;
        else
          v_own_taken := coalesce(v_own_taken, slots_are_taken(w.senders, w.account_id, w.application_id));
          v_awaits := v_own_taken;
        end if;
      end if;
      created := (
        w.ordinal, w.mode, coalesce(w.locale, w.language), case when v_is_live then v_bucket end,
        v_now + make_interval(secs => v_settings.code_validity_seconds), v_is_live and v_awaits,
        w.application_total + v_application_new
      );
      v_created := v_created || created;
    end if;
    return next;
  end loop;
  if cardinality(v_created) > 0 then
    perform insert_sends(p_sends, v_created, v_now);
  end if;
  if v_trial_new > 0 then
    update counted_tries set tries = tries + v_trial_new where key_hash = trial_sends_key(v_now);
  end if;
end
$$;
