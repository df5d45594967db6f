-- Takes the lock under which permits are assigned, until the transaction ends.
create or replace function lock_permits() returns void
language sql as $$ select pg_advisory_xact_lock(7165203) $$;
