-- Charges the refunded unit of a failed send again, because its code was verified, which suggests that its message arrived. The unit comes
-- from the bucket that it was returned to or, if that is empty, from the other one. If both are empty, the free quota becomes negative: the
-- account owes the unit, and cannot create live sends until it has more.
--
-- Returns whether it charged the unit, which it does only if a message may have arrived.
create or replace function reclaim_unit(p_send_id uuid, p_account_id uuid, p_charged_from text) returns boolean
language plpgsql as $$
declare
  v_bucket text;
begin
  if not may_have_arrived(p_send_id) then
    return false;
  end if;
  select case
    when credits > 0 and (p_charged_from = 'credit' or free_quota <= 0) then 'credit'
    else 'free_quota'
  end into strict v_bucket from accounts where id = p_account_id for no key update;
  update accounts set
    free_quota = free_quota - (v_bucket = 'free_quota')::integer,
    credits = credits - (v_bucket = 'credit')::integer
  where id = p_account_id;
  -- Follows the update, so that the entry's id is assigned under the account's lock and ids follow the order of changes.
  insert into ledger_entries (account_id, send_id, kind, bucket, units) values (p_account_id, p_send_id, 'reclaimed', v_bucket, 1);
  return true;
end
$$;
