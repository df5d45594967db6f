-- Returns the position of the last expired counter of a minute; see `minute_window`.
create or replace function minute_begin(times timestamptz[], at timestamptz) returns integer
language sql stable as $$
  select case
    when times[cardinality(times)] > at + interval '1 minute' then cardinality(times)
    else width_bucket(at - interval '1 minute', times)
  end
$$;
