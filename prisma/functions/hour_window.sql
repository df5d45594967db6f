-- What a limit of so many sends an hour leaves, and when there is more.
--
-- new: sends of now
-- times: of the latest sends before, newest first, as many as the limit lets through at the most
create or replace function hour_window(quota integer, new integer, times timestamptz[], at timestamptz) returns rate_window
language sql stable as $$
  select case when quota is not null then (
    quota, quota - new - cardinality(times), interval '1 hour' + coalesce(times[least(cardinality(times), quota - new)], at)
  )::rate_window end
$$;
