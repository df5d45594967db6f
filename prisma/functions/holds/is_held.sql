-- Returns whether one of these holds, each as `<kind> <target>`, matches a live send of this account to this country. Numbers without a
-- country are held as `ZZ`. PostgreSQL inlines the expression into the calling statement.
create or replace function is_held(holds text[], account_id uuid, country text) returns boolean
language sql immutable as $$
  select array['live ', 'country ' || coalesce(country, 'ZZ'), 'account ' || account_id::text] && holds
$$;
