-- Returns a minute's counters after more sends, without the expired counters except the last; see `minute_window`.
create or replace function counted_minute(
  inout times timestamptz[], inout totals bigint[], total bigint, at timestamptz
)
language plpgsql stable as $$
declare
  v_first integer := minute_begin(times, at) + 1;
  v_last integer := cardinality(times);
  v_base bigint := totals[v_first - 1];
  -- The clock may have been set back a little.
  v_at timestamptz := case when v_last < v_first then at else greatest(at, times[v_last]) end;
begin
  if v_last >= v_first and date_trunc('second', times[v_last]) = date_trunc('second', v_at) then
    v_last := v_last - 1;
  end if;
  times := 'epoch'::timestamptz || times[v_first:v_last] || v_at;
  totals := v_base || totals[v_first:v_last] || total;
end
$$;
