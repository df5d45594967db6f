-- How many points wrong and open guesses may have together: the budget, and always what three of the easiest codes take. Null without a budget.
create or replace function guess_points_max(budget integer, guess_cost integer) returns integer
language sql immutable as $$
  select case when guess_cost = 1 then budget when budget is not null then greatest(budget, 15 * guess_cost) end
$$;
