-- Whether a sender is this account's, and serves this application of it; `application_ids` is null for a sender that serves all of them.
-- PostgreSQL writes the expression into the statement that calls it.
create or replace function is_own_sender(sender_account_id uuid, application_ids uuid[], account_id uuid, application_id uuid)
returns boolean
language sql immutable as $$
  select sender_account_id = account_id and (application_ids is null or application_id = any (application_ids))
$$;
