-- When trial accounts may send again: tomorrow (UTC) after so many new sends of today, by the settings; null for now.
create or replace function trial_opens_at(p_new integer, p_at timestamptz, p_settings settings) returns timestamptz
language sql stable as $$
  select (t.day + 1)::timestamp at time zone 'UTC' from trial_sends t
  where t.day = (p_at at time zone 'UTC')::date and t.sends + p_new >= p_settings.trial_sends_per_day
$$;
