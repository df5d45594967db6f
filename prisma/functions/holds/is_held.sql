-- Whether one of these holds keeps a live send of this account to this country back. Numbers of no country are held as `ZZ`. PostgreSQL
-- writes the expression into the statement that calls it.
create or replace function is_held(holds active_holds, account_id uuid, country text) returns boolean
language sql immutable as $$
  select (holds).all_live or coalesce(country, 'ZZ') = any ((holds).countries) or account_id = any ((holds).accounts)
$$;
