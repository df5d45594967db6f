-- When trial accounts may send again: tomorrow (UTC) after so many new sends of today, by the settings; null for now.
create or replace function trial_opens_at(p_new integer, p_at timestamptz, p_settings settings) returns timestamptz
language sql stable as $$
  select t.ends_at from counted_tries t
  where t.key_hash = trial_sends_key(p_at) and t.tries + p_new >= p_settings.trial_sends_per_day
$$;
