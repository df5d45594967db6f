-- What was locked before release 1.2.0 is told when, a hundred sends at a time: a receipt on one of them does not wait for all.
do $$
declare
  v_id uuid;
  v_told integer := 0;
begin
  -- In the order of their ids, as everybody locks sends.
  for v_id in select id from sends where wrong_guesses = 5 and locked_at is null order by id loop
    update sends set locked_at = coalesce(wrong_guess_times[cardinality(wrong_guess_times)], created_at) where id = v_id;
    v_told := v_told + 1;
    if v_told % 100 = 0 then
      commit;
    end if;
  end loop;
end
$$;
