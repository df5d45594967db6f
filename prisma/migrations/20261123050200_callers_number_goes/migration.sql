-- contract: release 1.3.0 asks for the token, and for no number.
create or replace function raise_callers_version() returns trigger language plpgsql as $$
begin
  update callers_version set token = gen_random_uuid();
  return null;
end
$$;
alter table callers_version drop column version;
