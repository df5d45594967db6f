-- Takes the place of `sends_recipient_window`, one release later: what was sent to a person, whichever form of the number was asked for.
create index concurrently sends_to_recipient on sends (account_id, mode, canonical_recipient, created_at);
