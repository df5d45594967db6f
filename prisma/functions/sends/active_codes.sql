-- An account's live codes to a recipient that may still be guessed at: when each ends, the points of a guess, and of all that it has left. A
-- code counts for fifteen seconds after its end, for guesses that were judged before it and are being committed. No code is valid for
-- more than 90 minutes.
create or replace function active_codes(p_account_id uuid, p_recipient_keys text[])
returns table (expires_at timestamptz, guess_cost integer, points integer)
language sql stable as $$
  select o.* from unnest(p_recipient_keys) as k (recipient_key) cross join lateral (
    select s.expires_at, s.guess_cost::integer, (5 - s.wrong_guesses) * s.guess_cost from sends s
    where s.account_id = p_account_id and s.mode = 'live' and s.recipient_key = k.recipient_key
      and s.created_at > statement_timestamp() - interval '91 minutes' and s.expires_at > statement_timestamp() - interval '15 seconds'
      and s.verification = 'pending'
    -- The order makes PostgreSQL take the index by recipient, even if it planned this while there were no sends.
    order by s.created_at desc
  ) o
$$;
