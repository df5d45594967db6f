-- Takes from an account the credits whose time is over, and writes down what is left of its other lots.
create or replace function lapse_credits(p_account_id uuid) returns void
language plpgsql as $$
begin
  perform from accounts where id = p_account_id for no key update;
  update credit_lots l set units = n.units from left_of_lots(p_account_id) n
  where l.account_id = p_account_id and l.expires_at is not distinct from n.expires_at and l.units <> n.units;
  with ended as (
    delete from credit_lots where account_id = p_account_id and expires_at <= clock_timestamp() returning expires_at, units
  ), lapsed as (
    insert into ledger_entries (account_id, kind, bucket, units, expires_at)
    select p_account_id, 'lapsed', 'credit', units, expires_at from ended where units > 0 order by expires_at returning units
  )
  update accounts set credits = credits - (select sum(units) from lapsed) where id = p_account_id and exists (select from lapsed);
  -- Without credits that lapse, an account needs no lots.
  delete from credit_lots where account_id = p_account_id
    and not exists (select from credit_lots where account_id = p_account_id and expires_at is not null);
end
$$;
