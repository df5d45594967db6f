-- What a guess at a code is worth, and one form for all numbers of one person. The release before this one writes neither: its sends
-- count one for each guess, and its recipients are found by the number that was asked for.

alter table sends
  -- The form of the recipient's number that all numbers of one person share.
  add column canonical_recipient text,
  -- Points of a wrong guess at this code: chances in a million. A shorter code is easier.
  add column guess_cost smallint not null default 1;

-- The recipient is the canonical one. As of the last wrong guess, like the count of them.
alter table guess_budgets
  -- Stands for the recipient where its number must not.
  add column id uuid not null default gen_random_uuid(),
  add column guess_points integer not null default 0 check (guess_points >= 0),
  -- Of the easiest code among the wrong guesses.
  add column guess_cost smallint not null default 1;

-- What is left of wrong guesses, or of their points, some time after the last one: five of either come back each day (decision 26).
create function guesses_left_at(guesses integer, last_wrong_at timestamptz, at timestamptz) returns double precision
language sql immutable as $$
  -- Of two guesses at once, the one that is written last may be the earlier one.
  select greatest(0, guesses - 5 * greatest(0, extract(epoch from at - last_wrong_at))::double precision / 86400)
$$;

-- How many points wrong and open guesses may have together: as many as guesses are allowed, and always what three of the easiest codes take.
create function guess_points_max(budget integer, guess_cost integer) returns integer language sql immutable as $$
  select case when guess_cost = 1 then budget else greatest(budget, 15 * guess_cost) end
$$;
