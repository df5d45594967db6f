-- What a limit of so many sends a minute leaves, and when there is more: because the oldest sends that count leave the minute. A row's
-- counters are the time of the last send of each second with the number of all sends up to it; a counter ends a minute after its time. The
-- first one has ended. Those from more than a minute ahead are from before the clock stepped back, and have ended too.
create or replace function minute_window(quota integer, total bigint, times timestamptz[], totals bigint[], at timestamptz)
returns rate_window
language plpgsql stable as $$
declare
  v_sent integer := total - totals[minute_begin(times, at)];
begin
  if quota is null then
    return null;
  end if;
  return (quota, quota - v_sent, interval '1 minute' + least(at, times[width_bucket(total - least(v_sent, quota), totals) + 1]));
end
$$;
