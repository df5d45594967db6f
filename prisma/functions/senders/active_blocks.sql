-- The blocks that are not over: when each lets the next message through, and how far apart messages lie from then on. After a fault single
-- messages go out, one a second, and after a limit one each five seconds, until the provider accepts one. Then a fault is over, and a
-- limit's rate begins at half of that at which the provider refused, and grows by a twentieth of the full rate each second until it has
-- that. (Additive increase and multiplicative decrease, as TCP does it: RFC 5681.)
create or replace function active_blocks(p_now timestamptz)
returns setof active_block
language sql stable
begin atomic
  select t.cause, t.scope, t.subject, t.only_for, greatest(coalesce(t.until, 'infinity'), t.free_at),
    case
      when t.cause = 'fault' then interval '1 second'
      when t.failures > 0 then interval '5 seconds'
      else make_interval(secs => 1 / g.rate)
    end
  from sender_blocks t cross join lateral (
    select f.full_rate, t.rate + f.full_rate / 20 * extract(epoch from p_now - t.cleared_at) as rate
    from full_rate(t.scope, t.subject) as f (full_rate) where t.cause = 'limit'
    union all select null, null where t.cause <> 'limit'
  ) g
  -- No limit takes a minute to grow back.
  where t.failures > 0 or (t.cleared_at > p_now - interval '1 minute' and g.rate < g.full_rate);
end;
