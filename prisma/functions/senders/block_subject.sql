-- Whom a block of this scope is about, for one sender. A sender whose business account nobody knows counts as one of its own.
create or replace function block_subject(p_scope text, p_sender_id uuid, p_business_account_id text) returns text
language sql immutable return case p_scope
  when 'sender' then p_sender_id::text
  when 'business' then coalesce(p_business_account_id, p_sender_id::text)
  else ''
end;
