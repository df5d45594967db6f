-- Returns the senders with a permit that starts by `p_until`, and the countries and languages for which each is blocked until then.
create or replace function available_senders(p_until timestamptz)
returns table (account_id uuid, application_ids uuid[], blocked_for text[])
language sql stable
begin atomic
  with blocks as materialized (
    select b.scope, b.subject, b.only_for from sender_blocks b
    where b.failures > 0 and greatest(coalesce(b.until, 'infinity'), b.free_at) > p_until
  )
  select r.account_id, r.application_ids, t.blocked_for
  from senders r left join sender_permits p on p.sender_id = r.id cross join lateral (
    select array(
      select b.only_for from blocks b where b.subject = block_subject(b.scope, r.id, r.business_account_id, r.portfolio_id)
    ) as blocked_for
  ) t
  -- An empty text blocks all messages.
  where r.removed_at is null and coalesce(p.free_at <= p_until, true) and '' <> all (t.blocked_for);
end;
