-- When so many of an account's active codes to a recipient have ended that no more than these points are open. Codes that are guessed at
-- meanwhile are open no more.
create or replace function codes_end_at(
  p_account_id uuid, p_recipient_keys text[], p_points double precision, p_at timestamptz, p_settings settings
) returns timestamptz
language sql stable as $$
  select interval '15 seconds' + case
    when p_points < 0 then p_at + make_interval(secs => p_settings.code_validity_seconds)
    else coalesce((
      select max(o.expires_at) from (
        select c.expires_at, sum(c.points) over (order by c.expires_at desc) as points from active_codes(p_account_id, p_recipient_keys) c
      ) o where o.points > p_points
    ), p_at)
  end
$$;
