-- Returns what is left of an account's credit grants. Units used since the last grant or expiry are taken from the grants that expire
-- first. If more units were refunded than used, the surplus does not expire.
create or replace function remaining_credit_grants(p_account_id uuid) returns table (expires_at timestamptz, units integer)
language sql stable as $$
  with grants as (
    select l.expires_at, l.units, sum(l.units) over (order by l.expires_at) - l.units as earlier, sum(l.units) over () - a.credits as used
    from credit_grants l join accounts a on a.id = l.account_id where l.account_id = p_account_id
  )
  select expires_at, (units - least(units, greatest(used - earlier, 0)) + case when expires_at is null then greatest(-used, 0) else 0 end)::integer
  from grants
$$;
