-- Returns true for a row of `accounts` with consistent columns. One check, like `send_is_valid`, because every creation writes such a row.
create or replace function account_is_valid(account accounts) returns boolean
language plpgsql immutable as $$
declare
  v_broken text := case
    when not (length(account.name) between 1 and 200) then 'accounts_name_check'
    when not (account.language in ('pt-BR', 'en')) then 'accounts_language_check'
    when not (account.credits >= 0) then 'accounts_credits_check'
    when not (account.rate_per_minute between 1 and 1000000) then 'accounts_rate_per_minute_check'
    when not (array_to_string(account.allowed_countries, ',', '?') ~ '^[A-Z]{2}(,[A-Z]{2})*$') then 'accounts_allowed_countries_check'
    when not (array_to_string(account.trial_countries, ',', '?') ~ '^[A-Z]{2}(,[A-Z]{2})*$') then 'accounts_trial_countries_check'
    when not (account.breaker_unverified_percent between 1 and 100) then 'accounts_breaker_unverified_percent_check'
    when not (account.breaker_min_sends between 1 and 1000) then 'accounts_breaker_min_sends_check'
    when not ((account.breaker_unverified_percent is null) = (account.breaker_min_sends is null)) then 'breaker_is_whole'
    when not (length(account.suspension_reason) between 1 and 200) then 'accounts_suspension_reason_check'
    when not ((account.suspended_at is null) = (account.suspension_reason is null)) then 'accounts_suspension_check'
    when not (account.senders in ('shared', 'own')) then 'accounts_senders_check'
    when not (account.units_per_day between 0 and 1000000000) then 'accounts_units_per_day_check'
    when not (account.units_per_month between 0 and 1000000000) then 'accounts_units_per_month_check'
    when not (account.units_of_day >= 0) then 'accounts_units_of_day_check'
    when not (account.units_of_month >= 0) then 'accounts_units_of_month_check'
  end;
begin
  if v_broken is not null then
    raise check_violation using
      message = format('new row for relation "accounts" violates check constraint "%s"', v_broken),
      table = 'accounts', constraint = v_broken;
  end if;
  return true;
end
$$;
