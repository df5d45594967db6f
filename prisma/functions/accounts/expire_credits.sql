-- Removes an account's expired credits, and stores the remaining units of its other grants.
create or replace function expire_credits(p_account_id uuid) returns void
language plpgsql as $$
begin
  perform from accounts where id = p_account_id for no key update;
  update credit_grants l set units = n.units from remaining_credit_grants(p_account_id) n
  where l.account_id = p_account_id and l.expires_at is not distinct from n.expires_at and l.units <> n.units;
  with ended as (
    delete from credit_grants where account_id = p_account_id and expires_at <= clock_timestamp() returning expires_at, units
  ), expired as (
    insert into ledger_entries (account_id, kind, bucket, units, expires_at)
    select p_account_id, 'expired', 'credit', units, expires_at from ended where units > 0 order by expires_at returning units
  )
  update accounts set credits = credits - (select sum(units) from expired) where id = p_account_id and exists (select from expired);
end
$$;
