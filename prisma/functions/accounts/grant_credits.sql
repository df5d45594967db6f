-- Grants credits once for each grant id. `outcome` is `granted`, `repeated` (the same grant again), `other_grant` (the id belongs to
-- another grant), `too_many` or `unknown` (no such account). With `p_expires_at`, the unused credits expire at that time. It runs as one
-- statement, so that a caller that becomes silent holds no lock.
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
  -- The maximum of the column, minus room for refunded units.
  c_credits_max constant integer := 2000000000;
  v_grant ledger_entries;
begin
  perform from accounts where id = p_account_id for no key update;
  if not found then
    outcome := 'unknown';
    return;
  end if;
  -- Units used until now are taken from the grants before this one.
  perform expire_credits(p_account_id);
  select * into before from accounts where id = p_account_id;
  after := before;

  -- The lock serializes grants to one account, so that each sees the previous one.
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
  -- A concurrent grant to another account has used the id.
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

  -- A paid account is no longer on trial.
  update accounts set credits = credits + p_amount, trial_countries = null where id = p_account_id returning * into after;
  outcome := 'granted';
end
$$;
