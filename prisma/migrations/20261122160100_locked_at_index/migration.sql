-- Takes the place of `sends_locked`, one release later.
create index concurrently sends_locked_at on sends (application_id, application_number) where locked_at is not null;
