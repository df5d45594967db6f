-- Returns the active blocks: when each lets the next message through, and the spacing of the messages after that. Until `until`, a block
-- lets no message through. After that, one message a second is sent (after a fault) or one every five seconds (after a rate limit), until
-- one succeeds. This success ends the block of a fault. After a limit, it starts a period at the reduced rate, which ends at a new `until`.
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
