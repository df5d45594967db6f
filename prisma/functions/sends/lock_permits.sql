-- Waits for the lock under which permits of senders are given out, and holds it until the transaction ends.
create or replace function lock_permits() returns void
language sql as $$ select pg_advisory_xact_lock(7165203) $$;
