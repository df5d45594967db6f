-- Returns whether no sender that may serve this application has a permit soon, so that its new sends wait for a turn. False without
-- senders. Takes no locks, so the answer may be slightly out of date.
--
-- p_senders: as in `accounts`. For `shared`, the result is the same for all accounts.
-- p_wait_ms: "soon" means within this many milliseconds
create or replace function permits_are_taken(p_senders text, p_account_id uuid, p_application_id uuid, p_wait_ms integer) returns boolean
language sql stable as $$
  select exists (
    select from senders r where r.removed_at is null and may_serve(r.account_id, r.application_ids, p_senders, p_account_id, p_application_id)
  ) and not exists (
    select from available_senders(statement_timestamp() + p_wait_ms * interval '1 millisecond') a
    where may_serve(a.account_id, a.application_ids, p_senders, p_account_id, p_application_id)
  )
$$;
