-- How far ahead the slot of a send may lie that waits for nobody: new, or due again. Less than what is promised ahead to sends that
-- waited, so that none of these is overtaken; long enough for the next round of waking to come before the slots run out.
create or replace function direct_slot_wait_ms() returns integer
language sql immutable as $$ select 250 $$;
