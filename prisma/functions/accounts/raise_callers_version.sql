-- Gives `callers_version` another token, in the transaction that takes a caller away from a key.
create or replace function raise_callers_version() returns trigger
language plpgsql as $$
begin
  update callers_version set token = gen_random_uuid();
  return null;
end
$$;
