-- When a limit that lets nothing through now lets something through again; null for one that does now.
create or replace function closed_until(w rate_window) returns timestamptz
language sql immutable as $$ select case when (w).remaining <= 0 then (w).more_at end $$;
