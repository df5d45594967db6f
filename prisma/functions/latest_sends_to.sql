-- The times of an application's latest sends to a recipient within an hour, newest first, as many as its limit lets through at the most.
create or replace function latest_sends_to(p applications, p_recipient_keys text[], p_at timestamptz) returns timestamptz[]
language sql stable as $$
  select array(
    select l.created_at from unnest(p_recipient_keys) as k (recipient_key) cross join lateral (
      select s.created_at from sends s
      where s.account_id = p.account_id and s.mode = p.mode and s.recipient_key = k.recipient_key
        and (s.application_id = p.id) is true
        -- "is true" keeps the index by application away. Those from further ahead are from before the clock stepped back.
        and s.created_at > p_at - interval '1 hour' and s.created_at < p_at + interval '1 hour'
      order by s.created_at desc limit p.per_recipient_hour
    ) l
    order by l.created_at desc limit p.per_recipient_hour
  )
$$;
