-- Returns whether a message of this send may have reached its recipient: the provider accepted one, or a call has an unknown outcome.
create or replace function may_have_arrived(p_send_id uuid) returns boolean
language sql stable as $$
  select exists (select from attempts where send_id = p_send_id and (message_id is not null or outcome in ('accepted', 'unknown')))
$$;
