-- Returns the active blocks: when each lets the next message through, and the spacing of the messages after that. After a fault, single
-- messages are sent, one per second, and after a rate limit one every five seconds, until one succeeds; if a receipt started the block,
-- only a receipt counts as a success. That ends a block that a fault started. A limit's rate starts at half of the rate that the provider
-- rejected, and grows by a twentieth of the full rate each second until it reaches the full rate. (Additive increase and multiplicative
-- decrease, as in TCP: RFC 5681.)
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
  from sender_blocks t left join lateral (
    select f.full_rate, t.rate + f.full_rate / 20 * extract(epoch from p_now - t.cleared_at) as rate
    from full_rate(t.scope, t.subject) as f (full_rate) where t.cause = 'limit'
  ) g on true
  -- Every limit grows back within a minute.
  where t.failures > 0 or (t.cleared_at > p_now - interval '1 minute' and g.rate < g.full_rate);
end;
