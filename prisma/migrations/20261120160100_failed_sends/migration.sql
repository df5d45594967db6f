-- Asked by `failed_at`, which only a failure changes: an index that asked by `status` would keep every receipt from updating its
-- row in place. A creation pays nothing for it.
create index concurrently sends_failed on sends (application_id, application_number) where failed_at is not null;
