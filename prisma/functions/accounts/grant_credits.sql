-- Grants credits once for each grant id. `outcome` is `granted`, `repeated` (the same grant again), `other_grant` (the id is another
-- grant's), `too_many` or `unknown` (no such account). With `p_expires_at`, what is left of them then expires. One statement, so that a caller who falls
-- silent holds no lock.
create or replace function grant_credits(
  p_account_id uuid,
  p_amount integer,
  p_reason text,
  p_grant_id uuid,
  p_reference text,
  p_expires_at timestamptz,
  out outcome text,
  out before accounts,
  out after accounts
) returns record
language plpgsql as $$
declare
  -- What the column can hold, less room for the units of sends that come back.
  c_credits_max constant integer := 2000000000;
  v_grant ledger_entries;
begin
  perform from accounts where id = p_account_id for no key update;
  if not found then
    outcome := 'unknown';
    return;
  end if;
  -- What was used until now comes from the grants before this one.
  perform expire_credits(p_account_id);
  select * into before from accounts where id = p_account_id;
  after := before;

  -- Grants to one account come here one after the other, each seeing what the one before it wrote.
  select * into v_grant from ledger_entries where grant_id = p_grant_id;
  if found then
    outcome := case
      when (v_grant.account_id, v_grant.units, v_grant.reason, v_grant.reference, v_grant.expires_at)
        is not distinct from (p_account_id, p_amount, p_reason, p_reference, p_expires_at) then 'repeated'
      else 'other_grant'
    end;
    return;
  end if;
  if before.credits > c_credits_max - p_amount then
    outcome := 'too_many';
    return;
  end if;
  insert into ledger_entries (account_id, kind, bucket, units, reason, grant_id, reference, expires_at)
  values (p_account_id, 'granted', 'credit', p_amount, p_reason, p_grant_id, p_reference, p_expires_at) on conflict do nothing;
  -- A grant to another account took the id meanwhile.
  if not found then
    outcome := 'other_grant';
    return;
  end if;

  if p_expires_at is not null then
    insert into credit_grants (account_id, units) values (p_account_id, before.credits) on conflict do nothing;
  end if;
  insert into credit_grants (account_id, expires_at, units)
  select p_account_id, p_expires_at, p_amount where exists (select from credit_grants where account_id = p_account_id)
  on conflict (account_id, expires_at) do update set units = credit_grants.units + excluded.units;

  -- Whoever has paid is on trial no longer.
  update accounts set credits = credits + p_amount, trial_countries = null where id = p_account_id returning * into after;
  outcome := 'granted';
end
$$;
