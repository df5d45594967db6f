-- Returns whether one of these holds, each as `<kind> <target>`, matches a live send of this account to this country. PostgreSQL
-- inlines the expression into the calling statement.
create or replace function is_held(holds text[], account_id uuid, country text) returns boolean
language sql immutable as $$
  select array['live ', 'country ' || country, 'account ' || account_id::text] && holds
$$;
