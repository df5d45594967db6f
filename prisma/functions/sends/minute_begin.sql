-- The position of the last of a minute's counters that has ended; see `minute_window`.
create or replace function minute_begin(times timestamptz[], at timestamptz) returns integer
language sql stable as $$
  select case
    when times[cardinality(times)] > at + interval '1 minute' then cardinality(times)
    else width_bucket(at - interval '1 minute', times)
  end
$$;
