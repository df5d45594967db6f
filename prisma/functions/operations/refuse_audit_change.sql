-- The audit log is only added to.
create or replace function refuse_audit_change() returns trigger
language plpgsql as $$
begin
  raise exception 'the audit log is only added to';
end
$$;
