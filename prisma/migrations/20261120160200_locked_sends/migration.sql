-- Asked by `wrong_guesses`, which only a wrong code changes: an index that asked by `verification` would keep every right one from
-- updating its row in place. A creation pays nothing for it.
create index concurrently sends_locked on sends (application_id, application_number) where wrong_guesses = 5;
