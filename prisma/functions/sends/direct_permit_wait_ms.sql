-- Returns how far ahead the permit of a new or due send may be, which does not wait for a turn. Less than the horizon of waiting sends, so
-- that it does not overtake them.
create or replace function direct_permit_wait_ms() returns integer
language sql immutable as $$ select 250 $$;
