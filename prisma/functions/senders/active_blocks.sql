-- Returns the active blocks: when each lets the next message through, and the spacing of the messages after that. After a fault, single
-- messages are sent, one per second, and after a rate limit one every five seconds, until one succeeds; if a receipt started the block,
-- only a receipt counts as a success. That ends a block that a fault started. After a limit, the rate is reduced until `until`.
create or replace function active_blocks(p_now timestamptz)
returns setof active_block
language sql stable
begin atomic
  select t.cause, t.scope, t.subject, t.only_for,
    case when t.failures > 0 then greatest(coalesce(t.until, 'infinity'), t.free_at) else t.free_at end,
    case
      when t.failures = 0 then make_interval(secs => 1 / t.rate)
      when t.cause = 'fault' then interval '1 second'
      else interval '5 seconds'
    end
  from sender_blocks t
  where t.failures > 0 or (t.rate is not null and t.until > p_now);
end;
