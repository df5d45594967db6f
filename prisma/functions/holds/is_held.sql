-- Returns whether one of these holds matches a live send of this account to this country. Numbers without a country are held as `ZZ`.
-- PostgreSQL inlines the expression into the calling statement.
create or replace function is_held(holds active_holds, account_id uuid, country text) returns boolean
language sql immutable as $$
  select (holds).all_live or coalesce(country, 'ZZ') = any ((holds).countries) or account_id = any ((holds).accounts)
$$;
