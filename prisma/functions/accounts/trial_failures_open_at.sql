-- Returns when a trial account whose latest live sends were mostly rejected may create the next one: a minute after the one before. Null for
-- now. Each failure returns its unit, so without this a few free units would pay for any number of messages to invented numbers. Only
-- rejections by the provider count: an outage is not the account's fault.
--
-- p_new: live sends that the same call has created for the account
create or replace function trial_failures_open_at(p_account_id uuid, p_new integer, p_at timestamptz) returns timestamptz
language sql stable as $$
  select case when p_new > 0 then p_at else max(l.created_at) end + interval '1 minute'
  from (
    select s.created_at, s.failure_reason from applications p cross join lateral (
      select created_at, failure_reason from sends where application_id = p.id and id >= first_id_at(p_at - interval '1 day')
      order by id desc limit 10
    ) s where p.account_id = p_account_id and p.mode = 'live' order by s.created_at desc limit 10
  ) l
  having count(*) filter (where l.failure_reason = 'rejected_by_provider') > greatest(4, count(*) / 2)
    and (p_new > 0 or max(l.created_at) > p_at - interval '1 minute')
$$;
