-- The first number of an account's sends that were created at this time or later; one more than the last number when there is none.
-- Numbers and times of one account grow together, so a binary search finds it in some twenty probes of an index.
create or replace function account_number_at(p_account_id uuid, p_at timestamptz) returns bigint
language plpgsql stable as $$
declare
  v_low bigint := 1;
  v_high bigint;
  v_middle bigint;
  v_number bigint;
  v_created_at timestamptz;
begin
  select coalesce(max(s.account_number), 0) + 1 into v_high from sends s where s.account_id = p_account_id;
  while v_low < v_high loop
    v_middle := (v_low + v_high) / 2;
    select s.account_number, s.created_at into v_number, v_created_at from sends s
      where s.account_id = p_account_id and s.account_number >= v_middle order by s.account_number limit 1;
    if v_created_at >= p_at then
      v_high := v_middle;
    else
      v_low := v_number + 1;
    end if;
  end loop;
  return v_low;
end
$$;
