-- What is left of wrong guesses, or of their points, some time after the last one: five of either come back each day.
create or replace function guesses_left_at(guesses integer, last_wrong_at timestamptz, at timestamptz) returns double precision
language sql immutable as $$
  -- Of two guesses at once, the one that is written last may be the earlier one.
  select greatest(0, guesses - 5 * greatest(0, extract(epoch from at - last_wrong_at))::double precision / 86400)
$$;
