-- The first number of an application's sends whose number in the account is this one or a later one, by the same search.
create or replace function application_number_at(p_application_id uuid, p_account_number bigint) returns bigint
language plpgsql stable as $$
declare
  v_low bigint := 1;
  v_high bigint;
  v_middle bigint;
  v_number bigint;
  v_account_number bigint;
begin
  select coalesce(max(s.application_number), 0) + 1 into v_high from sends s where s.application_id = p_application_id;
  while v_low < v_high loop
    v_middle := (v_low + v_high) / 2;
    select s.application_number, s.account_number into v_number, v_account_number from sends s
      where s.application_id = p_application_id and s.application_number >= v_middle order by s.application_number limit 1;
    if v_account_number >= p_account_number then
      v_high := v_middle;
    else
      v_low := v_number + 1;
    end if;
  end loop;
  return v_low;
end
$$;
