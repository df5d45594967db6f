-- How far ahead the slot of a send may lie that waits for no turn: new, or due again. Less than the horizon of those that waited, so that
-- none of these is overtaken.
create or replace function direct_slot_wait_ms() returns integer
language sql immutable as $$ select 250 $$;
