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
  -- With what this call has created: of the account, of the application, and in all.
  v_account_id uuid;
  v_account_total bigint;
  v_units integer;
  v_open_recipients text[];
  v_open_points integer[];
  v_application_id uuid;
  v_application_total bigint;
  v_keys bytea[];
  v_ordinals bigint[];
  v_recipients text[];
  v_trial_new integer := 0;
  v_created created_send[] := '{}';
  -- Whether the shared senders are taken, and those that this application may use where it is no account of the shared ones.
  v_shared_taken boolean;
  v_own_taken boolean;
  -- The request before of this call with the same idempotency key.
  v_twin bigint;
  v_room double precision;
  v_wrong_at timestamptz;
  v_codes_at timestamptz;
  v_breaker_at timestamptz;
  v_trial_at timestamptz;
  v_trial_share_at timestamptz;
  v_trial_failures_at timestamptz;
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
      a.suspended_at, a.language, a.senders, a.free_quota, a.credits, a.allowed_countries, a.allows_premium_rate,
      case when p.mode = 'live' then a.trial_countries end as trial_countries, a.breaker_unverified_percent,
      a.units_per_day, a.units_per_month, a.units_on, a.units_of_day, a.units_of_month,
      coalesce(a.rate_per_minute, v_settings.account_rate_per_minute) as account_quota, a.sends_created as account_total,
      a.minute_times as account_times, a.minute_totals as account_totals, p.mode, p.mode = 'live' as is_live,
      p.per_minute as application_quota, p.sends_created as application_total,
      p.minute_times as application_times, p.minute_totals as application_totals, p.per_recipient_hour as recipient_quota,
      b.guess_cost as wrong_cost, coalesce(b.points, 0) as wrong_points, o.guess_cost as open_cost, coalesce(o.points, 0) as open_points
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
    left join lateral (
      select max(c.guess_cost) as guess_cost, sum(c.points)::integer as points from active_codes(u.account_id, u.recipient_keys) c
    ) o on p.mode = 'live'
    where u.application_id = any (v_locked)
    order by u.account_id, u.application_id, u.ordinal
  loop
    if w.account_id is distinct from v_account_id then
      v_account_id := w.account_id;
      v_account_total := w.account_total;
      v_units := 0;
      v_open_recipients := '{}';
      v_open_points := '{}';
    end if;
    if w.application_id is distinct from v_application_id then
      v_application_id := w.application_id;
      v_application_total := w.application_total;
      v_keys := '{}';
      v_ordinals := '{}';
      v_recipients := '{}';
      v_own_taken := null;
    end if;
    ordinal := w.ordinal;
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

    v_twin := case when w.idempotency_key is not null then v_ordinals[array_position(v_keys, w.idempotency_key)] end;
    existing_id := coalesce(w.existing_id, p_sends[v_twin].id);
    if existing_id is not null then
      outcome := case when coalesce(w.existing_hash, p_sends[v_twin].body_hashes[1]) = any (w.body_hashes) then 'existing' else 'reused' end;
      return next;
      continue;
    end if;

    cause := recipient_refusal(w.country, w.is_premium_rate, w.allowed_countries, w.allows_premium_rate, w.trial_countries);
    if cause is not null then
      outcome := 'recipient_refused';
      return next;
      continue;
    end if;

    account_window := minute_window(w.account_quota, v_account_total, w.account_times, w.account_totals, v_now);
    application_window := minute_window(w.application_quota, v_application_total, w.application_times, w.application_totals, v_now);
    recipient_window := case when w.recipient_quota is not null then hour_window(
      w.recipient_quota, cardinality(array_positions(v_recipients, w.recipient_keys[1])), w.account_id, w.application_id, w.mode,
      w.recipient_keys, v_now
    ) end;
    -- What may be guessed is to have room beforehand; in test mode, a guess that has been made. Null without a budget.
    v_room := guess_points_max(v_settings.guess_budget, greatest(w.guess_cost, w.wrong_cost, w.open_cost)) - w.wrong_points
      - w.guess_cost * case when w.is_live then 5 else 1 end;
    v_wrong_at := case when v_room < 0 then v_now + make_interval(secs => -v_room / 5 * 86400) end;
    v_room := v_room - case
      when w.is_live and w.recipient_keys[1] = any (v_open_recipients) then points_of(w.recipient_keys[1], v_open_recipients, v_open_points)
      else 0
    end;
    v_codes_at := case
      when v_wrong_at is null and w.open_points > v_room then codes_end_at(w.account_id, w.recipient_keys, v_room, v_now, v_settings)
    end;
    v_breaker_at := case
      when w.is_live and w.breaker_unverified_percent is not null
      then breaker_opens_at(w.account_id, w.country, w.recipient_keys, v_now)
    end;
    v_day_at := case when w.is_live then ceiling_opens_at('day', w.units_per_day, w.units_on, w.units_of_day, v_units, v_now) end;
    v_month_at := case when w.is_live then ceiling_opens_at('month', w.units_per_month, w.units_on, w.units_of_month, v_units, v_now) end;
    v_trial_at := null;
    v_trial_share_at := null;
    v_trial_failures_at := null;
    if w.trial_countries is not null then
      v_trial_at := ceiling_opens_at(
        'day', v_settings.trial_sends_per_day, v_settings.trial_sends_on, v_settings.trial_sends_of_day, v_trial_new, v_now
      );
      v_trial_share_at := ceiling_opens_at('day', v_settings.trial_account_sends_per_day, w.units_on, w.units_of_day, v_units, v_now);
      v_trial_failures_at := trial_failures_open_at(w.account_id, v_units, v_now);
    end if;
    -- Report the limit that reopens last.
    v_open_at := greatest(
      closed_until(account_window), closed_until(application_window), closed_until(recipient_window),
      v_wrong_at, v_codes_at, v_breaker_at, v_month_at, v_day_at, v_trial_share_at, v_trial_at, v_trial_failures_at
    );
    -- A free quota below zero is owed for codes that arrived after their refund: see `reclaim_unit`.
    v_bucket := case
      when not w.is_live then null
      when w.free_quota > v_units then 'free_quota'
      when w.credits > v_units - w.free_quota then 'credit'
    end;
    outcome := case
      when v_open_at is not null then 'rate_limited'
      when w.is_live and v_bucket is null then 'insufficient_credits'
      else 'created'
    end;
    if outcome = 'rate_limited' then
      cause := case v_open_at
        when closed_until(account_window) then 'account_rate'
        when closed_until(application_window) then 'application_rate'
        when closed_until(recipient_window) then 'recipient_rate'
        when v_wrong_at then 'wrong_guesses'
        when v_codes_at then 'active_codes'
        when v_breaker_at then 'breaker'
        when v_month_at then 'month_ceiling'
        when v_day_at then 'day_ceiling'
        when v_trial_share_at then 'trial_share'
        when v_trial_at then 'trial_ceiling'
        else 'trial_failures'
      end;
      retry_after_seconds := ceil(extract(epoch from v_open_at - v_now));
    elsif outcome = 'created' then
      account_window.remaining := account_window.remaining - 1;
      application_window.remaining := application_window.remaining - 1;
      recipient_window.remaining := recipient_window.remaining - 1;
      v_account_total := v_account_total + 1;
      v_application_total := v_application_total + 1;
      v_keys := v_keys || w.idempotency_key;
      v_ordinals := v_ordinals || w.ordinal;
      v_recipients := v_recipients || w.recipient_keys[1];
      if w.is_live then
        v_units := v_units + 1;
        v_open_recipients := v_open_recipients || w.recipient_keys[1];
        v_open_points := v_open_points || 5 * w.guess_cost;
        v_trial_new := v_trial_new + (w.trial_countries is not null)::integer;
        if w.senders = 'shared' then
          v_shared_taken := coalesce(v_shared_taken, permits_are_taken('shared', null, null));
        else
          v_own_taken := coalesce(v_own_taken, permits_are_taken(w.senders, w.account_id, w.application_id));
        end if;
      end if;
      created := (
        w.ordinal, w.mode, coalesce(w.locale, w.language), v_bucket, v_now + make_interval(secs => v_settings.code_validity_seconds),
        w.is_live and case w.senders when 'shared' then v_shared_taken else v_own_taken end, v_application_total
      );
      v_created := v_created || created;
    end if;
    return next;
  end loop;
  if cardinality(v_created) > 0 then
    perform insert_sends(p_sends, v_created, v_now);
  end if;
  if v_trial_new > 0 then
    update settings set trial_sends_on = v_today,
      trial_sends_of_day = v_trial_new + case when trial_sends_on = v_today then trial_sends_of_day else 0 end;
  end if;
end
$$;
