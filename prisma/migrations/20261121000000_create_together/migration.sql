-- Creations that come in together are decided one after the other and written with one statement for each table: PostgreSQL
-- prepares every check of a table anew for each statement, which took longer than the row itself.

-- Creates sends, or says of each why not. The account's row lock puts creations of one account in a line, so that idempotency
-- keys, windows and units are exact under any concurrency; a refusal writes nothing. Accounts are locked in the order of their
-- ids, so that two calls never wait for each other. What an earlier wish of the same call has created counts for the later ones.
create function create_sends(
  p_ids uuid[],
  p_account_ids uuid[],
  p_application_ids uuid[],
  p_idempotency_keys bytea[],
  p_body_hashes bytea[],
  p_recipients text[],
  p_countries text[],
  p_locales text[],
  p_code_hashes bytea[],
  p_code_boxes bytea[]
) returns table (
  place bigint,
  outcome text,
  retry_after_seconds integer,
  now timestamptz,
  send sends
) language plpgsql as $$
declare
  w record;
  v_settings settings;
  v_account accounts;
  v_application applications;
  -- The numbers of the latest sends that were there before this call.
  v_account_before bigint;
  v_application_before bigint;
  v_open_at timestamptz;
  v_number bigint;
  v_known integer;
  v_unit text;
  -- What this call has created for the application: the keys and recipients stand beside their sends.
  v_sends sends[] := '{}';
  v_keys bytea[] := '{}';
  v_recipients text[] := '{}';
  -- What is to be written at the end.
  v_created sends[] := '{}';
  v_accounts accounts[] := '{}';
  v_applications applications[] := '{}';
begin
  select * into strict v_settings from settings;
  for w in
    select * from unnest(
      p_ids, p_account_ids, p_application_ids, p_idempotency_keys, p_body_hashes, p_recipients, p_countries, p_locales,
      p_code_hashes, p_code_boxes
    ) with ordinality as u (
      id, account_id, application_id, idempotency_key, body_hash, recipient, country, locale, code_hash, code_box, place
    ) order by u.account_id, u.application_id, u.place
  loop
    if w.account_id is distinct from v_account.id then
      v_accounts := v_accounts || v_account;
      select * into strict v_account from accounts where id = w.account_id for no key update;
      -- After the lock, so that numbers and times of one account grow together.
      now := clock_timestamp();
      v_account_before := v_account.sends_created;
    end if;
    if w.application_id is distinct from v_application.id then
      v_created := v_created || v_sends;
      v_applications := v_applications || v_application;
      select * into strict v_application from applications where id = w.application_id and account_id = w.account_id;
      v_application_before := v_application.sends_created;
      v_sends := '{}';
      v_keys := '{}';
      v_recipients := '{}';
    end if;
    place := w.place;
    retry_after_seconds := null;
    send := null;

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
      outcome := 'country_refused';
      return next;
      continue;
    end if;

    -- Each window opens again when the nth latest send leaves it; the numbers make that one index probe.
    v_open_at := null;
    v_number := v_account.sends_created + 1 - coalesce(v_account.rate_per_minute, v_settings.account_rate_per_minute);
    if v_number > v_account_before then
      v_open_at := now + interval '1 minute';
    elsif v_number > 0 then
      select s.created_at + interval '1 minute' into v_open_at from sends s
        where s.account_id = w.account_id and s.account_number = v_number;
    end if;
    if v_application.per_minute is not null then
      v_number := v_application.sends_created + 1 - v_application.per_minute;
      v_open_at := greatest(v_open_at, case
        when v_number > v_application_before then now + interval '1 minute'
        else (
          select s.created_at + interval '1 minute' from sends s
            where s.application_id = w.application_id and s.application_number = v_number
        )
      end);
    end if;
    if v_application.per_recipient_hour is not null then
      v_number := v_application.per_recipient_hour - cardinality(array_positions(v_recipients, w.recipient));
      v_open_at := greatest(v_open_at, case
        when v_number <= 0 then now + interval '1 hour'
        else (
          select s.created_at + interval '1 hour' from sends s
            where s.application_id = w.application_id and s.recipient = w.recipient
            order by s.created_at desc
            offset v_number - 1 limit 1
        )
      end);
    end if;
    -- No time resets a guess budget that is used up: an hour is when to ask again, not when it will be granted.
    if v_settings.guess_budget is not null and exists (
      select from guess_budgets b
        where b.account_id = w.account_id and b.mode = v_application.mode and b.recipient = w.recipient
          and b.wrong_in_a_row >= v_settings.guess_budget
    ) then
      v_open_at := greatest(v_open_at, now + interval '1 hour');
    end if;
    if v_account.breaker_unverified_percent is not null and v_application.mode = 'live' then
      v_open_at := greatest(v_open_at, (
        select t.open_until from breaker_trips t
          where t.account_id = w.account_id and t.country = coalesce(w.country, 'ZZ')
      ));
    end if;
    if v_open_at > now then
      outcome := 'rate_limited';
      retry_after_seconds := ceil(extract(epoch from v_open_at - now));
      return next;
      continue;
    end if;

    v_unit := null;
    if v_application.mode = 'live' then
      v_unit := case when v_account.free_quota > 0 then 'free_quota' when v_account.credits > 0 then 'credit' end;
      if v_unit is null then
        outcome := 'insufficient_credits';
        return next;
        continue;
      end if;
    end if;

    v_account.sends_created := v_account.sends_created + 1;
    v_account.free_quota := v_account.free_quota - (v_unit is not distinct from 'free_quota')::integer;
    v_account.credits := v_account.credits - (v_unit is not distinct from 'credit')::integer;
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
    send.country := w.country;
    send.locale := coalesce(w.locale, v_account.language);
    send.unit := v_unit;
    send.code_hash := w.code_hash;
    send.code_box := w.code_box;
    send.status := 'queued';
    send.verification := 'pending';
    send.wrong_guesses := 0;
    send.attempts := 0;
    send.awaiting_sender := false;
    send.due_at := now;
    send.ring_at := now + interval '2 seconds';
    send.created_at := now;
    send.expires_at := now + make_interval(secs => v_settings.code_validity_seconds);
    send.version := 0;
    v_sends := v_sends || send;
    v_keys := v_keys || w.idempotency_key;
    v_recipients := v_recipients || w.recipient;
    outcome := 'created';
    return next;
  end loop;

  v_created := v_created || v_sends;
  v_accounts := v_accounts || v_account;
  v_applications := v_applications || v_application;
  update accounts a set sends_created = v.sends_created, free_quota = v.free_quota, credits = v.credits
    from unnest(v_accounts) v where a.id = v.id and a.sends_created < v.sends_created;
  update applications a set sends_created = v.sends_created
    from unnest(v_applications) v where a.id = v.id and a.sends_created < v.sends_created;
  insert into sends (
    id, account_id, application_id, mode, account_number, application_number, idempotency_key, body_hash, recipient, country,
    locale, unit, code_hash, code_box, status, verification, wrong_guesses, attempts, awaiting_sender, due_at, ring_at,
    created_at, expires_at, version
  ) select
    id, account_id, application_id, mode, account_number, application_number, idempotency_key, body_hash, recipient, country,
    locale, unit, code_hash, code_box, status, verification, wrong_guesses, attempts, awaiting_sender, due_at, ring_at,
    created_at, expires_at, version
  from unnest(v_created);
  insert into ledger_entries (account_id, send_id, kind, bucket, units)
    select account_id, id, 'reserved', unit, 1 from unnest(v_created) where unit is not null;
end
$$;

-- The release before this one creates sends with it.
create or replace function create_send(
  p_id uuid,
  p_account_id uuid,
  p_application_id uuid,
  p_idempotency_key bytea,
  p_body_hash bytea,
  p_recipient text,
  p_country text,
  p_locale text,
  p_code_hash bytea,
  p_code_box bytea,
  out outcome text,
  out retry_after_seconds integer,
  out now timestamptz,
  out send sends
) language sql as $$
  select c.outcome, c.retry_after_seconds, c.now, c.send
  from create_sends(
    array[p_id], array[p_account_id], array[p_application_id], array[p_idempotency_key], array[p_body_hash],
    array[p_recipient], array[p_country], array[p_locale], array[p_code_hash], array[p_code_box]
  ) c
$$;

-- Room on each page for the next version of a row that every creation updates, so that it needs no new entries in indexes.
alter table accounts set (fillfactor = 50);
alter table applications set (fillfactor = 50);
