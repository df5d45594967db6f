-- Returns what is left of the points of wrong guesses some time after the last one: five are refunded each day.
create or replace function points_left_at(points integer, last_wrong_at timestamptz, at timestamptz) returns double precision
language sql immutable as $$
  -- Of two concurrent guesses, the one written last may be the earlier one.
  select greatest(0, points - 5 * greatest(0, extract(epoch from at - last_wrong_at))::double precision / 86400)
$$;
