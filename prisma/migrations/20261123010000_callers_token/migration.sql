-- A number can come again: a fail-over to a standby that lacks the last commit takes the number back, and the next change raises it to
-- what some process knows already. A random token cannot. The number goes on rising for release 1.2.0, which asks for it.
alter table callers_version add column token uuid not null default gen_random_uuid();

create or replace function raise_callers_version() returns trigger language plpgsql as $$
begin
  update callers_version set version = version + 1, token = gen_random_uuid();
  return null;
end
$$;
