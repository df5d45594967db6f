-- Goes up with every change that may take a caller away from a key or give it another one, in the same transaction, so that a process
-- which remembers callers need only ask for it. Not a sequence: those go up before the commit. Whoever changes keys and accounts
-- holds this row until its end, so it is to be the last row that such a transaction waits for.
-- refuses nothing new: the triggers let every change pass.
create table callers_version (
  id boolean primary key default true check (id),
  version bigint not null default 0
);
insert into callers_version default values;

create function raise_callers_version() returns trigger language plpgsql as $$
begin
  update callers_version set version = version + 1;
  return null;
end
$$;

-- A key that is new needs none: what is not known is not remembered.
create trigger keys_raise_callers_version after update of hash, application_id, revoked_at or delete on api_keys
  for each statement execute function raise_callers_version();
create trigger applications_raise_callers_version after update of account_id, mode on applications
  for each statement execute function raise_callers_version();
create trigger accounts_raise_callers_version after update of suspended_at on accounts
  for each statement execute function raise_callers_version();
