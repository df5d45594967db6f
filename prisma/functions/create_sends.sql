-- Creates sends, or says of each why not. The account's row lock puts creations of one account in a line, so that idempotency keys,
-- windows and units are exact under any concurrency; a refusal writes nothing but where a window begins. Accounts are locked in the order
-- of their ids, so that two calls never wait for each other. What an earlier request of the same call has created counts for the later
-- ones.
--
-- The order of checks: key, idempotency key, country, limits, unit, insert.
--
-- While sends wait for the senders, a live send waits from the beginning, and its account's turn decides when it leaves. It needs no job.
--
-- The windows are what the limits leave after this request, where they were looked at: quota, what is left of it, seconds until there is
-- more. They are null where there is no such limit.
--
-- p_wait_ms: null takes only the accounts that nobody else has locked, and answers `busy` for the others; else how long one waits for
-- the locks.
create or replace function create_sends(
  p_ids uuid[],
  p_key_ids uuid[],
  p_account_ids uuid[],
  p_application_ids uuid[],
  p_idempotency_keys bytea[],
  p_body_hashes bytea[],
  p_recipients text[],
  p_canonical_recipients text[],
  p_countries text[],
  p_costly boolean[],
  p_locales text[],
  p_code_hashes bytea[],
  p_sealed_codes bytea[],
  p_guess_costs integer[],
  p_request_ids uuid[],
  p_traceparents text[],
  p_wait_ms integer
) returns table (
  ordinal bigint,
  outcome text,
  cause text,
  retry_after_seconds integer,
  now timestamptz,
  send sends,
  account_window integer[],
  application_window integer[],
  recipient_window integer[]
)
language plpgsql as $$
declare
  w record;
  v_settings settings;
  v_locked record;
  v_is_locked boolean;
  v_has_waited boolean := false;
  v_account_id uuid;
  v_application_id uuid;
  v_account accounts;
  v_application applications;
  -- The numbers of the latest sends that were there before this call.
  v_account_before bigint;
  v_application_before bigint;
  v_open_at timestamptz;
  v_other_at timestamptz;
  v_number bigint;
  -- When the oldest send left the window, or is going to; null until it has been looked for.
  v_account_open_at timestamptz;
  v_application_open_at timestamptz;
  v_recipient_open_at timestamptz;
  v_account_limit integer;
  v_account_left integer;
  v_application_left integer;
  v_recipient_left integer;
  -- What this request takes of each quota.
  v_taken integer;
  v_known integer;
  v_charged_from text;
  -- Whether live sends have to wait for a sender; null until one is created.
  v_awaits boolean;
  -- How many more guesses, and points of guesses, may be open for the recipient beside this code's own; those that are; and those of
  -- codes that this call has made.
  v_guesses integer;
  v_room double precision;
  v_points_room double precision;
  v_open integer;
  v_open_points integer;
  v_new integer;
  v_new_points integer;
  v_day date;
  -- Of all trial accounts today; null until one is met.
  v_trial_sends integer;
  -- What this call has created for the application: the keys and recipients stand beside their sends.
  v_sends sends[] := '{}';
  v_keys bytea[] := '{}';
  v_recipients text[] := '{}';
  -- What this call has created for the account, live: whom for, and what a guess at it costs.
  v_open_recipients text[];
  v_open_costs integer[];
  -- What is to be written at the end.
  v_created sends[] := '{}';
  v_accounts accounts[] := '{}';
  v_applications applications[] := '{}';
begin
  select * into strict v_settings from settings;
  if p_wait_ms is not null then
    begin
      perform set_config('lock_timeout', p_wait_ms::text, true);
      perform from accounts a where a.id = any (p_account_ids) order by a.id for no key update;
      perform from applications p where p.id = any (p_application_ids) order by p.id for no key update;
      perform from trial_sends t
        where t.day = (clock_timestamp() at time zone 'UTC')::date
          and exists (select from accounts a where a.id = any (p_account_ids) and a.trial_countries is not null)
        for no key update;
      v_has_waited := true;
    exception when lock_not_available then
      -- Who still holds a lock is met below.
    end;
  end if;
  for w in
    -- What is looked up here for all at once is from before the locks: where an account has created something meanwhile, what is open
    -- to guesses is looked up again.
    select u.*, k.revoked_at is null and k.id is not null as key_is_valid, a.sends_created as account_created,
      b.wrong_in_a_row, b.guess_points, b.guess_cost as budget_cost, b.last_wrong_at,
      o.guesses as open_guesses, o.points as open_points, o.guess_cost as open_cost
    from unnest(
      p_ids, p_key_ids, p_account_ids, p_application_ids, p_idempotency_keys, p_body_hashes, p_recipients, p_canonical_recipients,
      p_countries, p_costly, p_locales, p_code_hashes, p_sealed_codes, p_guess_costs, p_request_ids, p_traceparents
    ) with ordinality as u (
      id, key_id, account_id, application_id, idempotency_key, body_hash, recipient, canonical_recipient, country, is_costly, locale,
      code_hash, sealed_code, guess_cost, request_id, traceparent, ordinal
    )
    left join api_keys k on k.id = u.key_id
    left join applications p on p.id = u.application_id
    left join accounts a on a.id = u.account_id
    left join guess_budgets b on b.account_id = u.account_id and b.mode = p.mode and b.recipient = u.canonical_recipient
    left join lateral (
      select sum(c.guesses) as guesses, sum(c.guesses * c.guess_cost) as points, max(c.guess_cost) as guess_cost
      from open_codes(u.account_id, u.canonical_recipient) c
    ) o on p.mode = 'live'
    order by u.account_id, u.application_id, u.ordinal
  loop
    if w.application_id is distinct from v_application_id or w.account_id is distinct from v_account_id then
      v_created := v_created || v_sends;
      v_applications := v_applications || v_application;
      v_sends := '{}';
      v_keys := '{}';
      v_recipients := '{}';
      v_account_id := w.account_id;
      v_application_id := w.application_id;
      select a as account, p as application into v_locked
        from accounts a join applications p on p.account_id = a.id
        where a.id = w.account_id and p.id = w.application_id
        for no key update of a, p skip locked;
      v_is_locked := found;
      if v_is_locked then
        if w.account_id is distinct from v_account.id then
          v_accounts := v_accounts || v_account;
          v_account := v_locked.account;
          v_account_before := v_account.sends_created;
          v_open_recipients := '{}';
          v_open_costs := '{}';
          -- After the lock, so that numbers and times of one account grow together.
          now := clock_timestamp();
          v_account_limit := coalesce(v_account.rate_per_minute, v_settings.account_rate_per_minute);
          v_account_open_at := null;
        end if;
        v_application := v_locked.application;
        v_application_before := v_application.sends_created;
        v_application_open_at := null;
      end if;
    end if;
    ordinal := w.ordinal;
    cause := null;
    retry_after_seconds := null;
    send := null;
    account_window := null;
    application_window := null;
    recipient_window := null;

    if not v_is_locked then
      if v_has_waited then
        raise no_data_found using message = 'no such application in this account';
      end if;
      outcome := 'busy';
      return next;
      continue;
    end if;

    -- The key was good when the request came, which may have waited since.
    if not w.key_is_valid or v_account.suspended_at is not null then
      outcome := 'key_refused';
      cause := case when w.key_is_valid then 'suspended' else 'revoked' end;
      return next;
      continue;
    end if;

    if w.idempotency_key is not null then
      v_known := array_position(v_keys, w.idempotency_key);
      if v_known is not null then
        send := v_sends[v_known];
      else
        select * into send from sends s
          where s.application_id = w.application_id and s.idempotency_key = w.idempotency_key;
      end if;
      if send.id is not null then
        outcome := case when send.body_hash = w.body_hash then 'existing' else 'reused' end;
        return next;
        continue;
      end if;
    end if;

    -- A number of no country is on no list.
    if not coalesce(w.country = any (v_account.allowed_countries), v_account.allowed_countries is null) then
      outcome := 'recipient_refused';
      cause := 'country';
      return next;
      continue;
    end if;
    if v_account.trial_countries is not null and v_application.mode = 'live' then
      cause := case
        when w.is_costly then 'trial_range'
        when not coalesce(w.country = any (v_account.trial_countries), false) then 'trial_country'
      end;
      if cause is not null then
        outcome := 'recipient_refused';
        return next;
        continue;
      end if;
      if v_trial_sends is null then
        v_day := (now at time zone 'UTC')::date;
        if not exists (select from trial_sends t where t.day = v_day) then
          insert into trial_sends (day, sends) values (v_day, 0) on conflict do nothing;
        end if;
        select t.sends into v_trial_sends from trial_sends t where t.day = v_day for no key update skip locked;
        if not found then
          outcome := 'busy';
          return next;
          continue;
        end if;
      end if;
    end if;

    -- A window begins with its oldest send. That of the latest creation is kept: those before it have left the window since, so that each
    -- send is met once. Sends from more than a window ahead are from before the clock stepped back, and would hold the window for as long.
    -- (Times are compared in a form that tempts PostgreSQL to no index of times.) The last window to open is told.
    v_open_at := now;
    if v_account_open_at is null then
      select s.account_number, s.created_at + interval '1 minute' into v_number, v_account_open_at from sends s
        where s.account_id = w.account_id
          and s.account_number >= greatest(v_account.rate_window_number, v_account_before + 1 - v_account_limit)
          and s.created_at + interval '1 minute' > now and s.created_at - interval '1 minute' < now
        order by s.account_number limit 1;
      v_account.rate_window_number := coalesce(v_number, v_account_before + 1);
      v_account_open_at := coalesce(v_account_open_at, now + interval '1 minute');
    end if;
    v_account_left := v_account_limit + v_account.rate_window_number - v_account.sends_created - 1;
    if v_account_left <= 0 then
      v_open_at := v_account_open_at;
      cause := 'account_rate';
    end if;
    if v_application.per_minute is not null then
      if v_application_open_at is null then
        select s.application_number, s.created_at + interval '1 minute' into v_number, v_application_open_at from sends s
          where s.application_id = w.application_id
            and s.application_number >= greatest(v_application.rate_window_number, v_application_before + 1 - v_application.per_minute)
            and s.created_at + interval '1 minute' > now and s.created_at - interval '1 minute' < now
          order by s.application_number limit 1;
        v_application.rate_window_number := coalesce(v_number, v_application_before + 1);
        v_application_open_at := coalesce(v_application_open_at, now + interval '1 minute');
      end if;
      v_application_left := v_application.per_minute + v_application.rate_window_number - v_application.sends_created - 1;
      if v_application_left <= 0 and v_application_open_at > v_open_at then
        v_open_at := v_application_open_at;
        cause := 'application_rate';
      end if;
    end if;
    if v_application.per_recipient_hour is not null then
      v_recipient_left := v_application.per_recipient_hour - cardinality(array_positions(v_recipients, w.canonical_recipient));
      select v_recipient_left - count(*), coalesce(min(s.created_at), now) + interval '1 hour'
        into v_recipient_left, v_recipient_open_at
        from (
          select s.created_at from sends s
          where s.account_id = w.account_id and s.mode = v_application.mode and s.canonical_recipient = w.canonical_recipient
            and s.created_at > now - interval '1 hour' and s.created_at < now + interval '1 hour'
            and s.application_id = w.application_id
          order by s.created_at desc
          limit greatest(v_recipient_left, 0)
        ) s;
      if v_recipient_left <= 0 and v_recipient_open_at > v_open_at then
        v_open_at := v_recipient_open_at;
        cause := 'recipient_rate';
      end if;
    end if;
    if v_settings.guess_budget is not null then
      -- Codes that are open count in live mode only: what may be guessed there is to have room beforehand.
      v_guesses := case v_application.mode when 'live' then 5 else 1 end;
      if w.account_created <> v_account_before and v_application.mode = 'live' then
        -- One statement and so one snapshot, as above: a guess goes from what is open to what was wrong with one commit.
        select b.wrong_in_a_row, b.guess_points, b.guess_cost, b.last_wrong_at, o.guesses, o.points, o.guess_cost
          into w.wrong_in_a_row, w.guess_points, w.budget_cost, w.last_wrong_at, w.open_guesses, w.open_points, w.open_cost
          from (
            select sum(c.guesses) as guesses, sum(c.guesses * c.guess_cost) as points, max(c.guess_cost) as guess_cost
            from open_codes(w.account_id, w.canonical_recipient) c
          ) o left join guess_budgets b
            on b.account_id = w.account_id and b.mode = 'live' and b.recipient = w.canonical_recipient;
      end if;
      v_open := coalesce(w.open_guesses, 0);
      v_open_points := coalesce(w.open_points, 0);
      v_room := v_settings.guess_budget - v_guesses - coalesce(guesses_left_at(w.wrong_in_a_row, w.last_wrong_at, now), 0);
      v_points_room :=
        guess_points_max(v_settings.guess_budget, greatest(w.guess_cost, w.budget_cost, w.open_cost)) - v_guesses * w.guess_cost
        - coalesce(guesses_left_at(w.guess_points, w.last_wrong_at, now), 0);
      v_new := 0;
      v_new_points := 0;
      if w.canonical_recipient = any (v_open_recipients) and v_application.mode = 'live' then
        select 5 * count(*), 5 * sum(n.guess_cost) into v_new, v_new_points
          from unnest(v_open_recipients, v_open_costs) as n (recipient, guess_cost) where n.recipient = w.canonical_recipient;
      end if;
      if least(v_room, v_points_room) < 0 then
        v_other_at := now + make_interval(secs => -least(v_room, v_points_room) / 5 * 86400);
        if v_other_at > v_open_at then
          v_open_at := v_other_at;
          cause := 'wrong_guesses';
        end if;
      elsif v_open + v_new > v_room or v_open_points + v_new_points > v_points_room then
        -- When so many have ended that there is room for this one. Those that were guessed at since they were counted are open no more.
        v_other_at := interval '15 seconds' + case
          when v_new > v_room or v_new_points > v_points_room
            then now + make_interval(secs => v_settings.code_validity_seconds)
          else (
            select coalesce(max(o.expires_at), now) from (
              select c.expires_at, sum(c.guesses) over later as guesses, sum(c.guesses * c.guess_cost) over later as points
              from open_codes(w.account_id, w.canonical_recipient) c
              window later as (order by c.expires_at desc)
            ) o where o.guesses + v_new > v_room or o.points + v_new_points > v_points_room
          )
        end;
        if v_other_at > v_open_at then
          v_open_at := v_other_at;
          cause := 'open_codes';
        end if;
      end if;
    end if;
    if v_account.breaker_unverified_percent is not null and v_application.mode = 'live' then
      select t.open_until into v_other_at from breaker_trips t
        where t.account_id = w.account_id and t.country = coalesce(w.country, 'ZZ');
      if v_other_at > v_open_at then
        v_open_at := v_other_at;
        cause := 'breaker';
      end if;
    end if;
    if v_account.trial_countries is not null and v_application.mode = 'live' and v_trial_sends >= v_settings.trial_sends_per_day then
      v_other_at := (v_day + 1)::timestamp at time zone 'UTC';
      if v_other_at > v_open_at then
        v_open_at := v_other_at;
        cause := 'trial_ceiling';
      end if;
    end if;
    v_charged_from := null;
    outcome := 'created';
    if v_open_at > now then
      outcome := 'rate_limited';
      retry_after_seconds := ceil(extract(epoch from v_open_at - now));
    elsif v_application.mode = 'live' then
      v_charged_from := case when v_account.free_quota > 0 then 'free_quota' when v_account.credits > 0 then 'credit' end;
      if v_charged_from is null then
        outcome := 'insufficient_credits';
      end if;
    end if;
    v_taken := (outcome = 'created')::integer;
    account_window := array[
      v_account_limit, greatest(v_account_left - v_taken, 0), ceil(extract(epoch from v_account_open_at - now))::integer
    ];
    if v_application.per_minute is not null then
      application_window := array[
        v_application.per_minute, greatest(v_application_left - v_taken, 0),
        ceil(extract(epoch from v_application_open_at - now))::integer
      ];
    end if;
    if v_application.per_recipient_hour is not null then
      recipient_window := array[
        v_application.per_recipient_hour, greatest(v_recipient_left - v_taken, 0),
        ceil(extract(epoch from v_recipient_open_at - now))::integer
      ];
    end if;
    if outcome <> 'created' then
      return next;
      continue;
    end if;

    if v_application.mode = 'live' then
      v_open_recipients := v_open_recipients || w.canonical_recipient;
      v_open_costs := v_open_costs || w.guess_cost;
      if v_account.trial_countries is not null then
        v_trial_sends := v_trial_sends + 1;
      end if;
      v_awaits := coalesce(v_awaits, slots_are_taken());
    end if;

    v_account.sends_created := v_account.sends_created + 1;
    v_account.free_quota := v_account.free_quota - (v_charged_from is not distinct from 'free_quota')::integer;
    v_account.credits := v_account.credits - (v_charged_from is not distinct from 'credit')::integer;
    v_application.sends_created := v_application.sends_created + 1;
    send.id := w.id;
    send.account_id := w.account_id;
    send.application_id := w.application_id;
    send.mode := v_application.mode;
    send.account_number := v_account.sends_created;
    send.application_number := v_application.sends_created;
    send.idempotency_key := w.idempotency_key;
    send.body_hash := w.body_hash;
    send.recipient := w.recipient;
    send.canonical_recipient := w.canonical_recipient;
    send.country := w.country;
    send.locale := coalesce(w.locale, v_account.language);
    send.charged_from := v_charged_from;
    send.code_hash := w.code_hash;
    send.sealed_code := w.sealed_code;
    send.guess_cost := w.guess_cost;
    send.request_id := w.request_id;
    send.traceparent := w.traceparent;
    send.status := 'queued';
    send.verification := 'pending';
    send.wrong_guesses := 0;
    send.attempts := 0;
    send.created_at := now;
    send.expires_at := now + make_interval(secs => v_settings.code_validity_seconds);
    send.awaiting_sender := v_application.mode = 'live' and v_awaits;
    send.due_at := case when send.awaiting_sender then send.expires_at else now end;
    send.next_enqueue_at := send.due_at + interval '2 seconds';
    send.version := 0;
    v_sends := v_sends || send;
    v_keys := v_keys || w.idempotency_key;
    v_recipients := v_recipients || w.canonical_recipient;
    return next;
  end loop;

  v_created := v_created || v_sends;
  v_accounts := v_accounts || v_account;
  v_applications := v_applications || v_application;
  -- A refusal too moves the beginning of a window that has a hundred fewer to look through then, unless the look began within it.
  update accounts a set
      sends_created = v.sends_created, rate_window_number = v.rate_window_number, free_quota = v.free_quota, credits = v.credits
    from unnest(v_accounts) v where a.id = v.id and (
      a.sends_created < v.sends_created
      or v.rate_window_number >= a.rate_window_number + 100
        and v.rate_window_number > v.sends_created + 1 - coalesce(v.rate_per_minute, v_settings.account_rate_per_minute)
    );
  update applications a set sends_created = v.sends_created, rate_window_number = v.rate_window_number
    from unnest(v_applications) v where a.id = v.id and (
      a.sends_created < v.sends_created
      or v.rate_window_number >= a.rate_window_number + 100 and v.rate_window_number > v.sends_created + 1 - v.per_minute
    );
  if v_day is not null then
    update trial_sends t set sends = v_trial_sends where t.day = v_day and t.sends < v_trial_sends;
  end if;
  insert into sends (
    id, account_id, application_id, mode, account_number, application_number, idempotency_key, body_hash, recipient,
    canonical_recipient, country, locale, charged_from, code_hash, sealed_code, guess_cost, status, verification, wrong_guesses, attempts,
    awaiting_sender, due_at, next_enqueue_at, created_at, expires_at, version, request_id, traceparent
  ) select
    id, account_id, application_id, mode, account_number, application_number, idempotency_key, body_hash, recipient,
    canonical_recipient, country, locale, charged_from, code_hash, sealed_code, guess_cost, status, verification, wrong_guesses, attempts,
    awaiting_sender, due_at, next_enqueue_at, created_at, expires_at, version, request_id, traceparent
  from unnest(v_created);
  insert into ledger_entries (account_id, send_id, kind, bucket, units)
    select account_id, id, 'reserved', charged_from, 1 from unnest(v_created) where charged_from is not null;
end
$$;
