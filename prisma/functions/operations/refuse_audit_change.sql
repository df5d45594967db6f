-- Rejects changes of the audit log, which is append-only.
create or replace function refuse_audit_change() returns trigger
language plpgsql as $$
begin
  raise exception 'the audit log is append-only';
end
$$;
