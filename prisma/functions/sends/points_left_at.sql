-- What is left of the points of wrong guesses some time after the last one: five come back each day.
create or replace function points_left_at(points integer, last_wrong_at timestamptz, at timestamptz) returns double precision
language sql immutable as $$
  -- Of two guesses at once, the one that is written last may be the earlier one.
  select greatest(0, points - 5 * greatest(0, extract(epoch from at - last_wrong_at))::double precision / 86400)
$$;
