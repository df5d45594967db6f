-- Tries of more than passwords: of sign-ups by network, and people who signed up by network and by mail domain, each for a time of its own.
-- `email_hash` is from now on the hash of whatever is counted.
-- The release before this one forgets tries after a quarter of an hour, whatever is counted: while it runs beside this one, longer windows
-- begin anew that often.
alter table sign_in_tries
  add column window_seconds integer not null default 900 check (window_seconds >= 900);

-- When people made the one account that they may make by themselves. Whoever leaves it does not get another one with its free sends.
alter table users
  add column account_made_at timestamptz(3);

update users
set account_made_at = made.at
from (
  select actor_id, min(at) as at from audit_entries where action = 'account.create' and actor_kind = 'user' group by actor_id
) made
where users.id = made.actor_id;
