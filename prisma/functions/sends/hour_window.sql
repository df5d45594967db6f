-- What an application's limit of so many sends an hour to one recipient leaves, and when there is more.
--
-- p_new: sends of now
create or replace function hour_window(
  p_quota integer, p_new integer, p_account_id uuid, p_application_id uuid, p_mode text, p_recipient_keys text[], p_at timestamptz
) returns rate_window
language plpgsql stable as $$
declare
  -- Of the latest sends within an hour, newest first. Those from further ahead are from before the clock stepped back.
  v_times timestamptz[] := array(
    select l.created_at from unnest(p_recipient_keys) as r (recipient_key) cross join lateral (
      select s.created_at from sends s
      where s.account_id = p_account_id and s.mode = p_mode and s.recipient_key = r.recipient_key
        -- "is true" keeps the index by application away.
        and (s.application_id = p_application_id) is true
        and s.created_at > p_at - interval '1 hour' and s.created_at < p_at + interval '1 hour'
      order by s.created_at desc limit p_quota
    ) l
    order by l.created_at desc limit p_quota
  );
  v_sent integer := cardinality(v_times);
begin
  return (p_quota, p_quota - p_new - v_sent, interval '1 hour' + coalesce(v_times[least(v_sent, p_quota - p_new)], p_at));
end
$$;
