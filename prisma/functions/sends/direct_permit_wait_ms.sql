-- Returns how far ahead the permit of a send may be that waits for no turn, because it is new or due again. Less than the horizon of waiting
-- sends, so that it overtakes none of them.
create or replace function direct_permit_wait_ms() returns integer
language sql immutable as $$ select 250 $$;
