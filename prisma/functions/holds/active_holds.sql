-- Returns the active holds in one read: whether all live sends are held, and which countries and accounts.
create or replace function active_holds() returns active_holds
language sql stable as $$
  select (
    coalesce(bool_or(kind = 'live'), false),
    coalesce(array_agg(target) filter (where kind = 'country'), '{}'),
    coalesce(array_agg(target::uuid) filter (where kind = 'account'), '{}')
  )::active_holds
  from holds
$$;
