-- What is left of an account's lots of credits. What was used since the last grant or lapse comes from those that lapse first; what more
-- came back than was used does not lapse.
create or replace function left_of_lots(p_account_id uuid) returns table (expires_at timestamptz, units integer)
language sql stable as $$
  with lots as (
    select l.expires_at, l.units, sum(l.units) over (order by l.expires_at) - l.units as earlier, sum(l.units) over () - a.credits as used
    from credit_lots l join accounts a on a.id = l.account_id where l.account_id = p_account_id
  )
  select expires_at, (units - least(units, greatest(used - earlier, 0)) + case when expires_at is null then greatest(-used, 0) else 0 end)::integer
  from lots
$$;
