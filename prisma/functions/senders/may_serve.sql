-- Returns whether a sender may serve an application, according to the `senders` of its account: a shared sender (without an account) or one
-- of the account's own. Null `application_ids` means all applications. PostgreSQL inlines the expression into the calling statement.
create or replace function may_serve(
  sender_account_id uuid, application_ids uuid[], senders text, account_id uuid, application_id uuid
) returns boolean
language sql immutable as $$
  select case when senders = 'shared' then sender_account_id is null
    else sender_account_id = account_id and (application_ids is null or application_id = any (application_ids)) end
$$;
