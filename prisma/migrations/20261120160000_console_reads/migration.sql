-- What the console reads. The release before this one runs on it: it writes none of the new columns.

alter table api_keys
  -- What its owner calls it.
  add column name text check (length(name) between 1 and 100),
  -- To the minute, more or less.
  add column last_used_at timestamptz(3);

-- When wrong codes were given. Null at creation; guesses from before this column have no times.
alter table sends add column wrong_guess_times timestamptz(3)[];
-- Not asked of the rows of now, which have none: to look at each would keep everybody waiting.
alter table sends add constraint sends_wrong_guess_times_check check (cardinality(wrong_guess_times) <= 5) not valid;

-- The first number of an account's sends that were created at this time or later; one more than the last number when there is
-- none. Numbers and times of one account grow together, so a search by halves finds it in some twenty probes of an index.
create function account_number_at(p_account_id uuid, p_at timestamptz) returns bigint language plpgsql stable as $$
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

-- The first number of an application's sends that have this number or a later one in their account; one more than the last
-- number when there is none.
create function application_number_at(p_application_id uuid, p_account_number bigint) returns bigint language plpgsql stable as $$
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
