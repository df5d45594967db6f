-- When an account's sends to a country, which pumping has blocked, go on again; null for now. A number that verified before is no pumping.
create or replace function breaker_opens_at(p_account_id uuid, p_country text, p_recipient_keys text[], p_at timestamptz) returns timestamptz
language plpgsql stable as $$
begin
  return (
    select t.open_until from breaker_trips t
    where t.account_id = p_account_id and t.country = coalesce(p_country, 'ZZ') and t.open_until > p_at and not exists (
      select from unnest(p_recipient_keys) as r (recipient_key) cross join lateral (
        -- The order, as in `active_codes`.
        select from sends s where s.account_id = p_account_id and s.mode = 'live' and s.recipient_key = r.recipient_key
          and s.verification = 'verified' order by s.created_at desc limit 1
      ) s
    )
  );
end
$$;
