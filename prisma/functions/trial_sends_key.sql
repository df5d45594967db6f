-- The key in `counted_tries` of the live sends that all trial accounts share on the day (UTC) of this time.
create or replace function trial_sends_key(at timestamptz) returns bytea
language sql stable as $$
  select sha256(('trial sends of ' || (at at time zone 'UTC')::date)::bytea)
$$;
