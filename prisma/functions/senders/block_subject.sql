-- Returns the subject of a sender's block with this scope. If the sender's portfolio is unknown, its business account counts as the
-- portfolio. If the business account is unknown, the sender counts as a separate business account.
create or replace function block_subject(p_scope text, p_sender_id uuid, p_business_account_id text, p_portfolio_id text) returns text
language sql immutable return case p_scope
  when 'sender' then p_sender_id::text
  when 'business' then coalesce(p_business_account_id, p_sender_id::text)
  else coalesce(p_portfolio_id, p_business_account_id, p_sender_id::text)
end;
