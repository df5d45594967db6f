-- Returns true for a row of `ledger_entries` with consistent columns. One check, like `send_is_valid`, because every creation writes such
-- rows.
create or replace function ledger_entry_is_valid(entry ledger_entries) returns boolean
language plpgsql immutable as $$
declare
  v_broken text := case
    when not (entry.kind in ('granted', 'reserved', 'returned', 'reclaimed', 'expired')) then 'ledger_entries_kind_check'
    when not (entry.bucket in ('free_quota', 'credit')) then 'ledger_entries_bucket_check'
    when not (entry.units > 0) then 'ledger_entries_units_check'
    when not (entry.reference <> '') then 'ledger_entries_reference_check'
    when not ((entry.kind in ('reserved', 'returned', 'reclaimed')) = (entry.send_id is not null)) then 'of_a_send'
    when not (entry.kind = 'granted' or (entry.grant_id is null and entry.reference is null)) then 'only_a_grant_has'
    when not (case entry.kind when 'expired' then entry.expires_at is not null and entry.bucket = 'credit'
      when 'granted' then entry.expires_at is null or entry.bucket = 'credit' else entry.expires_at is null end)
      then 'only_credits_expire'
    when not (entry.send_id is null or entry.units = 1) then 'one_unit_a_send'
  end;
begin
  if v_broken is not null then
    raise check_violation using
      message = format('new row for relation "ledger_entries" violates check constraint "%s"', v_broken),
      table = 'ledger_entries', constraint = v_broken;
  end if;
  return true;
end
$$;
