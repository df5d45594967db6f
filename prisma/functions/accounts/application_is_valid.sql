-- Returns true for a row of `applications` with consistent columns. One check, like `send_is_valid`, because every creation writes such a
-- row.
create or replace function application_is_valid(application applications) returns boolean
language plpgsql immutable as $$
declare
  v_broken text := case
    when not (length(application.name) between 1 and 200) then 'applications_name_check'
    when not (application.mode in ('test', 'live')) then 'applications_mode_check'
    when not (application.per_minute between 1 and 1000000) then 'applications_per_minute_check'
    when not (application.per_recipient_hour between 1 and 1000000) then 'applications_per_recipient_hour_check'
    when not (application.identity_check in ('off', 'observe', 'enforce')) then 'applications_identity_check_check'
  end;
begin
  if v_broken is not null then
    raise check_violation using
      message = format('new row for relation "applications" violates check constraint "%s"', v_broken),
      table = 'applications', constraint = v_broken;
  end if;
  return true;
end
$$;
